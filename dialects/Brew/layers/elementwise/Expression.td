//===- Expression.td - Formulas over bottoms and parameters *- tablegen -*-===//
#ifndef BREW_LAYERS_EXPRESSION_TD
#define BREW_LAYERS_EXPRESSION_TD

include "dialects/Brew/BrewLayer.td"

def Brew_ExpressionOp : Brew_Elementwise<"expression", [ScalarBroadcast]> {
  let summary = "A formula over the elements of bottoms and parameters";
  let description = [{
    `expr` is the text of the formula (docs/expressions.md). The first operands are
    the bottoms, which `names` names; the others are param(0), param(1), ..., each
    with one entry in `axes`: the dimension of the result that it is a vector
    along, or -1 for a scalar.

    The result has the shape of the bottom with most dimensions. A bottom with
    fewer matches its leading dimensions and is broadcast along the others.
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$xs), layerAttributes,
    (ins StrAttr:$expr, StrArrayAttr:$names, DenseI64ArrayAttr:$axes));
  let hasVerifier = 1;
}

#endif // BREW_LAYERS_EXPRESSION_TD
