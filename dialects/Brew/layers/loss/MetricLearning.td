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
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$label, AnyTensor:$bias), layerAttributes);
  let results = (outs AnyTensor:$y, AnyTensor:$status);
}

def Brew_CenterLossOp : Brew_LayerOp<"center_loss",
    [Pure, Gradient, LoopNests, Labels, RoundableTops]> {
  let summary = "sum((x - centers[label])^2) / (2 N), where N is dimension 0";
  let description = [{
    With `absolute`, the loss is sum(|x - centers[label]|) / N, and the gradients have the sign of
    a difference instead of the difference.

    Shapes: x [N, ...], label [N], centers [`classes`, K], where K is the number of elements of an
    item. The gradient of a center is the sum of center - x over the items of its class, divided
    by 1 plus their number: it is not that of the loss, and does not depend on the loss weight.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$label, AnyTensor:$centers),
    layerAttributes, (ins I64Attr:$classes, UnitAttr:$absolute));
  let results = (outs AnyTensor:$loss, AnyTensor:$status);
}

def Brew_UnitRowsOp : Brew_LayerOp<"unit_rows", [Pure, Gradient, LoopNests]> {
  let summary = "The rows of w divided by their norms";
  let description = [{
    w is a parameter [`rows`, K], where K is the number of elements of an item of x; only the
    shape of x is read. The gradient of w is that of y, since the layer also stores y as the new
    value of w.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$w), layerAttributes, (ins I64Attr:$rows));
  let results = (outs AnyTensor:$y);
}

def Brew_LabelMarginOp : Brew_LayerOp<"label_margin",
    [Pure, Gradient, LoopNests, Labels, RoundableTops]> {
  let summary = "Scores in which the angle of the label's class is multiplied by `margin`";
  let description = [{
    The scores [M, N] are products of vectors: the product of their norms, `norms` [M, N] or
    [M, 1], and the cosine of their angle. The score of the label becomes

        (norm * f(cosine) + weight * score) / (1 + weight),

    where f(cos(angle)) continues cos(margin * angle), which is 1 at angle 0, so that it decreases
    with the angle. `weight` has one element.

    With `plain_scores`, which are equal to `scores`, the gradients are those of SphereFace: the
    gradient of `plain_scores` is that of y, and the term of f in the gradients of `scores` and
    `norms` is divided by sqrt(f'^2 + ((f - cosine f') / norm)^2).
  }];
  let arguments = !con((ins AnyTensor:$scores, AnyTensor:$norms, AnyTensor:$label,
    AnyTensor:$weight, Optional<AnyTensor>:$plain_scores), layerAttributes,
    (ins I64Attr:$margin));
  let results = (outs AnyTensor:$y, AnyTensor:$status);
}

def Brew_ClassTargetsOp : Brew_LayerOp<"class_targets",
    [Pure, Gradient, LoopNests, Labels, RoundableTops]> {
  let summary = "Targets of the shape of x: those in t, or 1 at the score of each label in t";
  let description = [{
    t has as many elements as x, or one label per item, the index of one of the item's scores.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$t), layerAttributes);
  let results = (outs AnyTensor:$y, AnyTensor:$status);
}

#endif // BREW_LAYERS_METRICLEARNING_TD
