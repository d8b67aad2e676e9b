//===- Normalization.td - Layers that normalise ------------*- tablegen -*-===//
#ifndef BREW_LAYERS_NORMALIZATION_TD
#define BREW_LAYERS_NORMALIZATION_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

class Brew_NormBackward<string mnemonic> : Brew_Op<mnemonic, [Pure, LoopNests, Roundable]> {
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_BatchNormOp : Brew_LayerOp<"batch_norm", [Pure, Gradient, LoopNests, ItemCounts, Roundable]> {
  let summary = "(x - mean) / sqrt(variance + eps), by the batch's own statistics";
  let description = [{
    Mean and variance are those of each channel (dimension 1; a vector is one
    channel) over all else. `running` statistics, where there are any, are a mean
    and a variance of past batches and what both are to be divided by: sums
    weighted by powers of `fraction`, and the sum of the weights. With `blend`
    there is no divisor, and the mean and variance are averages, in which the
    past has the share `fraction`. A third one stays what it is. With `from_first`
    too (NVIDIA Caffe) the average is of the variance's estimate without bias, and
    begins as the batch's where the variance is 0. The results `next` are what a training pass
    stores in their place. `inverse_deviation` is saved for the backward pass.

    With `counted` one more operand says how many of x's items are there (see
    ItemCounts.h); the statistics are theirs. Without any the running ones stay.

    With `synchronized` the batch is that of all ranks of a data-parallel run.
  }];
  let arguments = !con((ins AnyTensor:$x, Variadic<AnyTensor>:$running),
    layerAttributes, (ins F32Attr:$eps, F32Attr:$fraction, UnitAttr:$blend, UnitAttr:$from_first,
      UnitAttr:$has_item_count, UnitAttr:$synchronized));
  let extraClassDeclaration = [{
    /// How many items there are, or null if all are always there.
    ::mlir::Value getCount() {
      return getHasItemCount() ? getOperation()->getOperands().back() : ::mlir::Value();
    }
    /// The running statistics.
    ::mlir::OperandRange getStatistics() { return getRunning().drop_back(getHasItemCount()); }
  }];
  let results = (outs AnyTensor:$y, AnyTensor:$inverse_deviation,
    Variadic<AnyTensor>:$next);
}

def Brew_BatchNormBackwardOp : Brew_NormBackward<"batch_norm_backward"> {
  let summary = "dx = (dy - mean(dy) - y * mean(dy * y)) * inverse_deviation";
  let description = "The means are over the first `count` items, if that is given; dx of "
    "the rest is 0. With `synchronized` they are over the items of all ranks.";
  let arguments = (ins AnyTensor:$y, AnyTensor:$inverse_deviation, AnyTensor:$dy,
    Optional<AnyTensor>:$count, StrAttr:$layer, UnitAttr:$synchronized);
  let results = (outs AnyTensor:$dx);
}

def Brew_BatchNormGlobalOp : Brew_LayerOp<"batch_norm_global",
    [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "(x - mean) / sqrt(variance + eps), by running statistics";
  let description = [{
    Mean and variance are the running ones, divided by `running_factor` if there
    is one, or 0 as long as that is 0.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$running_mean,
    AnyTensor:$running_variance, Optional<AnyTensor>:$running_factor), layerAttributes,
    (ins F32Attr:$eps));
  let results = (outs AnyTensor:$y);
}

def Brew_LRNOp : Brew_LayerOp<"lrn", [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "x * scale ^ -beta, scale = k + alpha * mean of squares nearby";
  let description = [{
    Local response normalisation. The mean is over `size` channels around the
    element's, or with `within_channel` over size x size positions of its channel
    (then k is 1); what lies outside the bottom counts as 0.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins I64Attr:$size,
    F32Attr:$alpha, F32Attr:$beta, F32Attr:$k, UnitAttr:$within_channel));
  let results = (outs AnyTensor:$y);
}

def Brew_LRNBackwardOp : Brew_NormBackward<"lrn_backward"> {
  let summary = "dx = dy * scale ^ -beta - 2 * alpha * beta * x * mean of dy * y / scale nearby";
  let description = "The scale is computed again: a few operations for each element instead "
    "of two tensors saved.";
  let arguments = (ins AnyTensor:$x, AnyTensor:$dy, StrAttr:$layer, I64Attr:$size,
    F32Attr:$alpha, F32Attr:$beta, F32Attr:$k, UnitAttr:$within_channel);
  let results = (outs AnyTensor:$dx);
}

def Brew_MVNOp : Brew_LayerOp<"mvn", [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "(x - mean) / (deviation + eps) of each channel of each sample";
  let description = "With `across_channels` of each sample. Without "
    "`normalize_variance` nothing is divided, and `inverse_deviation` is not "
    "computed.";
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins UnitAttr:$normalize_variance, UnitAttr:$across_channels, F32Attr:$eps));
  let results = (outs AnyTensor:$y, AnyTensor:$inverse_deviation);
}

def Brew_MVNBackwardOp : Brew_NormBackward<"mvn_backward"> {
  let summary = "dx = (dy - mean(dy) - y * mean(dy * y)) * inverse_deviation";
  let description = "As Caffe has it: eps counts as if it were under the root. "
    "Without `inverse_deviation` dx = dy - mean(dy).";
  let arguments = (ins AnyTensor:$y, AnyTensor:$dy,
    Optional<AnyTensor>:$inverse_deviation, StrAttr:$layer,
    UnitAttr:$across_channels);
  let results = (outs AnyTensor:$dx);
}

def Brew_NormalizeOp : Brew_LayerOp<"normalize", [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "x / sqrt(eps + sum of squares) * scale";
  let description = [{
    The sum is over a sample (`across_spatial`) or over the channels at each
    place. `scale` has an element for each channel or no dimensions
    (`channel_shared`). `inverse_norm` is saved for the backward pass.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$scale), layerAttributes,
    (ins UnitAttr:$across_spatial, UnitAttr:$channel_shared, F32Attr:$eps));
  let results = (outs AnyTensor:$y, AnyTensor:$inverse_norm);
}

def Brew_NormalizeBackwardOp : Brew_NormBackward<"normalize_backward"> {
  let summary = "Gradients of a normalize by its bottom and its scale";
  let arguments = (ins AnyTensor:$x, AnyTensor:$scale, AnyTensor:$inverse_norm,
    AnyTensor:$dy, StrAttr:$layer, UnitAttr:$across_spatial,
    UnitAttr:$channel_shared);
  let results = (outs AnyTensor:$dx, AnyTensor:$dscale);
}

#endif // BREW_LAYERS_NORMALIZATION_TD
