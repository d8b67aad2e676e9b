//===- ElementLoss.td - Losses that compare blobs element by element ------===//
#ifndef BREW_LAYERS_ELEMENTLOSS_TD
#define BREW_LAYERS_ELEMENTLOSS_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

def Brew_EuclideanLossOp : Brew_LayerOp<"euclidean_loss",
    [Pure, Gradient, LoopNests, ItemCounts, Roundable]> {
  let summary = "sum((x - t)^2) / (2 N), N the first dimension";
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$t), layerAttributes);
  let results = (outs AnyTensor:$loss);
}

def Brew_SmoothL1LossOp : Brew_LayerOp<"smooth_l1_loss",
    [Pure, Gradient, LoopNests, ItemCounts, Roundable]> {
  let summary = "Huber loss of (x - t) * inside, weighted by outside";
  let description = [{
    With d = inside * (x - t): 0.5 (sigma d)^2 where |d| < 1 / sigma^2, else
    |d| - 0.5 / sigma^2; times outside, summed, divided by the first dimension.
    `weights` are none, inside, or inside and outside. As in the forks that have the
    layer, with `inside` alone the gradient is not multiplied by it again; it is
    meant to be 0 or 1, where that makes no difference.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$t, Variadic<AnyTensor>:$weights),
    layerAttributes, (ins F32Attr:$sigma));
  let results = (outs AnyTensor:$loss);
}

def Brew_SigmoidCrossEntropyLossOp : Brew_LayerOp<"sigmoid_cross_entropy_loss",
    [Pure, Gradient, LoopNests, ItemCounts, RoundableTops]> {
  let summary = "Cross entropy of sigmoid(x) and targets in [0, 1]";
  let description = [{
    `normalizer` is what the summed loss was divided by. Targets whose integer part
    is `ignore_label` do not count.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$t), layerAttributes,
    (ins OptionalAttr<I64Attr>:$ignore_label, Brew_NormalizationAttr:$normalization));
  let results = (outs AnyTensor:$loss, AnyTensor:$normalizer);
}

def Brew_ContrastiveLossOp : Brew_LayerOp<"contrastive_loss",
    [Pure, Gradient, LoopNests, ItemCounts, RoundableTops]> {
  let summary = "Distance of similar rows, margin of dissimilar ones";
  let description = [{
    With D the squared distance of rows of `a` and `b`: D where `similar` is not 0, else
    max(margin - sqrt(D), 0)^2 (`legacy`: max(margin - D, 0)); summed and divided by
    2 N. `distance` is D of each row.
  }];
  let arguments = !con((ins AnyTensor:$a, AnyTensor:$b, AnyTensor:$similar),
    layerAttributes, (ins F32Attr:$margin, UnitAttr:$legacy));
  let results = (outs AnyTensor:$loss, AnyTensor:$distance);
}

def Brew_MemoryLossOp : Brew_LayerOp<"memory_loss",
    [Pure, Gradient, LoopNests, ItemCounts, RoundableTops]> {
  let summary = "A loss that the program's caller computes";
  let description = [{
    `loss` is `value`, which the caller gives, over the normalizer: the number of rows
    of `xs` (VALID, FULL), their first dimension (BATCH_SIZE), or 1 (NONE, and where rows
    of `xs` have different lengths). The gradient of each of `xs` is the
    `brew.output_gradient` of the blob that `blobs` names, scaled alike.
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$xs, AnyTensor:$value),
    layerAttributes, (ins StrArrayAttr:$blobs, Brew_NormalizationAttr:$normalization));
  let results = (outs AnyTensor:$loss);
}

#endif // BREW_LAYERS_ELEMENTLOSS_TD
