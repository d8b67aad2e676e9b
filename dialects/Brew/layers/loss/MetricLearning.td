//===- MetricLearning.td - Layers of face recognition nets -*- tablegen -*-===//
#ifndef BREW_LAYERS_METRICLEARNING_TD
#define BREW_LAYERS_METRICLEARNING_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

def Brew_LabelSpecificAddOp : Brew_LayerOp<"label_specific_add",
    [Pure, Gradient, LoopNests, Labels, ItemWise, RoundablePartly]> {
  let summary = "x, plus `bias` at the score of the label if it exceeds -bias";
  let description = [{
    All dimensions but the first index the scores. The gradient of x is that of y. `status` is the
    result of the label check (see `brew.check_labels`).
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$label), layerAttributes,
    (ins F32Attr:$bias));
  let results = (outs AnyTensor:$y, AnyTensor:$status);
}

def Brew_CenterLossOp : Brew_LayerOp<"center_loss",
    [Pure, Gradient, LoopNests, Labels, RoundableTops]> {
  let summary = "sum((x - centers[label])^2) / (2 N), where N is dimension 0";
  let description = [{
    Shapes: x [N, ...], label [N], centers [`classes`, K], where K is the number of elements of an
    item. The gradient of a center is the sum of center - x over the items of its class, divided
    by 1 plus their number: it is not that of the loss, and does not depend on the loss weight.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$label, AnyTensor:$centers),
    layerAttributes, (ins I64Attr:$classes));
  let results = (outs AnyTensor:$loss, AnyTensor:$status);
}

#endif // BREW_LAYERS_METRICLEARNING_TD
