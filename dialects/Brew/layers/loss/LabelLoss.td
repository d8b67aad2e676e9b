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
    The sum over all scores of max(0, 1 - x) for the label's class and max(0, 1 + x) for the
    others, squared with `squared`, divided by N. All dimensions but the first index the classes.

    Items whose label is `ignore_label` contribute nothing. No setting of the layer sets
    `ignore_label`; brew-track-item-counts does, for items beyond the item count.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$label), layerAttributes,
    (ins OptionalAttr<I64Attr>:$ignore_label, UnitAttr:$squared));
  let results = (outs AnyTensor:$loss, AnyTensor:$status);
}

def Brew_MultinomialLogisticLossOp : Brew_LayerOp<"multinomial_logistic_loss",
    [Pure, Gradient, LoopNests, Labels, ItemCounts, RoundableTops]> {
  let summary = "Mean of -log of the label's probability";
  let description = [{
    Items whose label is `ignore_label` contribute nothing. No setting of the layer sets
    `ignore_label`; brew-track-item-counts does, for items beyond the item count.
  }];
  let arguments = !con((ins AnyTensor:$p, AnyTensor:$label), layerAttributes,
    (ins OptionalAttr<I64Attr>:$ignore_label));
  let results = (outs AnyTensor:$loss, AnyTensor:$status);
}

def Brew_InfogainLossOp : Brew_LayerOp<"infogain_loss",
    [Pure, Gradient, LoopNests, Labels, ItemCounts, RoundablePartly]> {
  let summary = "-sum over classes l of H[label, l] log(softmax(x)[l])";
  let description = [{
    The results after the loss are those of `brew.softmax_loss`.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$label, AnyTensor:$h),
    layerAttributes, (ins I64Attr:$axis, OptionalAttr<I64Attr>:$ignore_label,
      Brew_NormalizationAttr:$normalization));
  let results = (outs AnyTensor:$loss, AnyTensor:$prob, AnyTensor:$normalizer,
    AnyTensor:$status);
}

#endif // BREW_LAYERS_LABELLOSS_TD
