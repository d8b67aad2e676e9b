//===- LabelLoss.td - Losses of scores against class labels ---------------===//
#ifndef BREW_LAYERS_LABELLOSS_TD
#define BREW_LAYERS_LABELLOSS_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

def Brew_HingeLossOp : Brew_LayerOp<"hinge_loss",
    [Pure, Gradient, LoopNests, Labels, ItemCounts, RoundableTops]> {
  let summary = "One-against-all hinge loss";
  let description = [{
    The sum over all scores of max(0, 1 - x) for the label's own score and
    max(0, 1 + x) for the others (their squares with `squared`), divided by N. All
    dimensions but the first number the classes. Items whose label is `ignore_label`
    add nothing; no setting of a layer gives one (see brew-track-item-counts).
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$label), layerAttributes,
    (ins OptionalAttr<I64Attr>:$ignore_label, UnitAttr:$squared));
  let results = (outs AnyTensor:$loss, AnyTensor:$status);
}

def Brew_MultinomialLogisticLossOp : Brew_LayerOp<"multinomial_logistic_loss",
    [Pure, Gradient, LoopNests, Labels, ItemCounts, RoundableTops]> {
  let summary = "-log of the label's probability, averaged over N";
  let description = "Items whose label is `ignore_label` add nothing; no setting of a "
    "layer gives one (see brew-track-item-counts).";
  let arguments = !con((ins AnyTensor:$p, AnyTensor:$label), layerAttributes,
    (ins OptionalAttr<I64Attr>:$ignore_label));
  let results = (outs AnyTensor:$loss, AnyTensor:$status);
}

def Brew_InfogainLossOp : Brew_LayerOp<"infogain_loss",
    [Pure, Gradient, LoopNests, Labels, ItemCounts, RoundablePartly]> {
  let summary = "-sum over classes l of H[label, l] log(softmax(x)[l])";
  let description = "Further results are saved as in brew.softmax_loss.";
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$label, AnyTensor:$h),
    layerAttributes, (ins I64Attr:$axis, OptionalAttr<I64Attr>:$ignore_label,
      Brew_NormalizationAttr:$normalization));
  let results = (outs AnyTensor:$loss, AnyTensor:$prob, AnyTensor:$normalizer,
    AnyTensor:$status);
}

#endif // BREW_LAYERS_LABELLOSS_TD
