//===- Arrays.td - Operations of arrays with NumPy's shapes *- tablegen -*-===//
#ifndef BREW_LAYERS_ARRAYS_TD
#define BREW_LAYERS_ARRAYS_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/PrecisionInterface.td"

def Brew_BroadcastOp : Brew_LayerOp<"broadcast", [Pure, Gradient, LoopNests, RoundableMove]> {
  let summary = "x repeated to the common shape of x and `reference`";
  let description = [{
    The shapes are aligned at their last dimensions. The extents of a dimension must be equal, or
    one of them 1 or missing: then the other is the extent of the result, as in NumPy.

    Example:

    ```mlir
    %y = brew.broadcast "sum"(%x, %z) {tops = []}
        : (tensor<3x1xf32>, tensor<2x1x4xf32>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$reference), layerAttributes);
  let results = (outs AnyTensor:$y);
  let hasCanonicalizeMethod = 1;
}

def Brew_AxisSumOp : Brew_LayerOp<"axis_sum", [Pure, Gradient, LoopNests, RoundableOperands]> {
  let summary = "Sums along `axis`, whose extent becomes 1";
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins I64Attr:$axis));
  let results = (outs AnyTensor:$y);
}

def Brew_MatMulOp : Brew_LayerOp<"matmul", [Pure, Gradient, LoopNests, Roundable]> {
  let summary = "Products of the matrices in the last two dimensions";
  let description = [{
    Shapes: a [B..., M, K], or [B..., K, M] with `transpose_a`; b [B..., K, N], or [B..., N, K]
    with `transpose_b`; y [B..., M, N]. A matrix without the dimensions B is multiplied by all
    matrices of the other operand.
  }];
  let arguments = !con((ins AnyTensor:$a, AnyTensor:$b), layerAttributes,
    (ins UnitAttr:$transpose_a, UnitAttr:$transpose_b));
  let results = (outs AnyTensor:$y);
}

#endif // BREW_LAYERS_ARRAYS_TD
