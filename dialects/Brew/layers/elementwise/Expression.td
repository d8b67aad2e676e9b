//===- Expression.td - Formulas over bottoms and parameters *- tablegen -*-===//
#ifndef BREW_LAYERS_EXPRESSION_TD
#define BREW_LAYERS_EXPRESSION_TD

include "dialects/Brew/BrewLayer.td"

def Brew_ExpressionOp : Brew_Elementwise<"expression", [ScalarBroadcast]> {
  let summary = "A formula over the elements of bottoms and parameters";
  let description = [{
    `expr` is the text of the formula (docs/expressions.md). The first operands are the
    bottoms, which `names` names. The others are param(0), param(1), ..., with one entry each
    in `axes`: the dimension of the result along which the parameter is a vector, or -1 for a
    scalar.

    The result has the shape of the bottom with the most dimensions. A bottom with fewer
    dimensions matches the leading ones and is broadcast along the others.

    Example:

    ```mlir
    %y = brew.expression "swish2"(%x) {expr = "x * sigmoid(1.702 * x)", names = ["x"],
        axes = array<i64>, tops = ["swish2"]} : (tensor<64x500xf32>) -> tensor<64x500xf32>
    ```
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$xs), layerAttributes,
    (ins StrAttr:$expr, StrArrayAttr:$names, DenseI64ArrayAttr:$axes));
  let hasVerifier = 1;
}

#endif // BREW_LAYERS_EXPRESSION_TD
