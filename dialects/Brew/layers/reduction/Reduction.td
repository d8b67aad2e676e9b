//===- Reduction.td - Reductions and softmax ---------------*- tablegen -*-===//
#ifndef BREW_LAYERS_REDUCTION_TD
#define BREW_LAYERS_REDUCTION_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

def Brew_ReductionOp : Brew_LayerOp<"reduction",
    [Pure, Gradient, LoopNests, ItemCounts, RoundableOperands]> {
  let summary = "Reduces all dimensions starting at `axis`";
  let description = [{
    The result has the dimensions before `axis`, and is multiplied by `coeff`.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins Brew_ReductionKindAttr:$kind, I64Attr:$axis, F32Attr:$coeff));
  let results = (outs AnyTensor:$y);
}

def Brew_SoftmaxOp : Brew_LayerOp<"softmax",
    [Pure, Gradient, LoopNests, ItemWise, RoundableOperands]> {
  let summary = "exp(x) divided by its sum along `axis`, or the `logarithm` of that";
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins I64Attr:$axis, UnitAttr:$logarithm));
  let results = (outs AnyTensor:$y);
}

def Brew_SoftmaxBackwardOp : Brew_Op<"softmax_backward", [Pure, LoopNests, Roundable]> {
  let summary = "dx = y * (dy - sum(y * dy)), with `logarithm` dy - exp(y) * sum(dy)";
  let arguments = (ins AnyTensor:$y, AnyTensor:$dy, StrAttr:$layer, I64Attr:$axis,
    UnitAttr:$logarithm);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

#endif // BREW_LAYERS_REDUCTION_TD
