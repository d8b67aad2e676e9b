//===- ElementLoss.td - Losses that compare blobs element by element ------===//
#ifndef BREW_LAYERS_ELEMENTLOSS_TD
#define BREW_LAYERS_ELEMENTLOSS_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

def Brew_EuclideanLossOp : Brew_LayerOp<"euclidean_loss",
    [Pure, Gradient, LoopNests, ItemCounts, Roundable]> {
  let summary = "sum((x - t)^2) / (2 N), where N is dimension 0";
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$t), layerAttributes);
  let results = (outs AnyTensor:$loss);
}

def Brew_SmoothL1LossOp : Brew_LayerOp<"smooth_l1_loss",
    [Pure, Gradient, LoopNests, ItemCounts, Roundable]> {
  let summary = "Huber loss of weighted differences";
  let description = [{
    With d = inside * (x - t), the loss of an element is 0.5 (sigma d)^2 where
    |d| < 1 / sigma^2, and |d| - 0.5 / sigma^2 elsewhere, multiplied by `outside`. The loss is
    the sum over the elements divided by dimension 0 (BATCH_SIZE), the number of elements without
    dimension 1 (VALID, FULL) or 1 (NONE). `weights` are empty, `inside`, or `inside` and
    `outside`.

    As in the forks of Caffe with this layer, the gradient is not multiplied by `inside` again
    if it is the only weight. It is meant to be 0 or 1, for which this makes no difference.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$t, Variadic<AnyTensor>:$weights),
    layerAttributes, (ins F32Attr:$sigma,
      DefaultValuedAttr<Brew_NormalizationAttr, "Normalization::BatchSize">:$normalization));
  let results = (outs AnyTensor:$loss);
}

def Brew_SmoothL1ItemsOp : Brew_LayerOp<"smooth_l1_items", [Pure, LoopNests]> {
  let summary = "Huber loss of the differences of each item and position";
  let description = [{
    y [N, 1, H, W] is the sum over dimension 1 of the losses of `brew.smooth_l1_loss` with sigma 1.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$t, Variadic<AnyTensor>:$weights),
    layerAttributes);
  let results = (outs AnyTensor:$y);
}

def Brew_SigmoidCrossEntropyLossOp : Brew_LayerOp<"sigmoid_cross_entropy_loss",
    [Pure, Gradient, LoopNests, ItemCounts, RoundableTops]> {
  let summary = "Cross entropy of sigmoid(x) and targets in [0, 1]";
  let description = [{
    `normalizer` is the divisor of the summed loss. Targets whose integer part is
    `ignore_label` do not count. With `softmax_axis`, the gradient is that of the cross entropy of
    the softmax along this axis instead (MyCaffe).
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$t), layerAttributes,
    (ins OptionalAttr<I64Attr>:$ignore_label, Brew_NormalizationAttr:$normalization,
      OptionalAttr<I64Attr>:$softmax_axis));
  let results = (outs AnyTensor:$loss, AnyTensor:$normalizer);
}

def Brew_ContrastiveLossOp : Brew_LayerOp<"contrastive_loss",
    [Pure, Gradient, LoopNests, ItemCounts, RoundableTops]> {
  let summary = "Contrastive loss of pairs of rows";
  let description = [{
    With D the squared distance of a row of `a` and of `b`, the loss of a pair is D if `similar`
    is not 0, and max(margin - sqrt(D), 0)^2 otherwise (`legacy`: max(margin - D, 0)). The loss is
    the sum over the pairs divided by 2 N. `distance` contains D of each pair.
  }];
  let arguments = !con((ins AnyTensor:$a, AnyTensor:$b, AnyTensor:$similar),
    layerAttributes, (ins F32Attr:$margin, UnitAttr:$legacy));
  let results = (outs AnyTensor:$loss, AnyTensor:$distance);
}

def Brew_MemoryLossOp : Brew_LayerOp<"memory_loss",
    [Pure, Gradient, LoopNests, ItemCounts, RoundableTops]> {
  let summary = "A loss that the caller computes";
  let description = [{
    `loss` is `value`, which the caller writes, divided by the normalizer: the number of rows of
    `xs` (VALID, FULL), their dimension 0 (BATCH_SIZE), or 1 (NONE, or if the blobs of `xs` have
    different numbers of rows). The gradient of each x is the `brew.output_gradient` of the blob
    that `blobs` names, divided by the normalizer too.
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$xs, AnyTensor:$value),
    layerAttributes, (ins StrArrayAttr:$blobs, Brew_NormalizationAttr:$normalization));
  let results = (outs AnyTensor:$loss);
}

#endif // BREW_LAYERS_ELEMENTLOSS_TD
