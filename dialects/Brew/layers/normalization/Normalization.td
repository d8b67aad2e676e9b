//===- Normalization.td - Layers that normalise ------------*- tablegen -*-===//
#ifndef BREW_LAYERS_NORMALIZATION_TD
#define BREW_LAYERS_NORMALIZATION_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

class Brew_NormBackward<string mnemonic> : Brew_Op<mnemonic, [Pure, LoopNests, Roundable]> {
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_BatchNormOp : Brew_LayerOp<"batch_norm",
    [Pure, Gradient, LoopNests, ItemCounts, Roundable]> {
  let summary = "(x - mean) / sqrt(variance + eps), with the batch's statistics";
  let description = [{
    Mean and variance are computed for each channel (dimension 1; a vector is one channel)
    over all other dimensions. `inverse_deviation` is saved for the backward pass.

    `running` are statistics of past batches: a mean, a variance and, in Caffe's own
    BatchNorm, a factor by which both are divided; `next` are their new values, which a
    training program stores.

    - By default, mean and (unbiased) variance are sums weighted by powers of `fraction`, and
      the factor is the sum of the weights.
    - With `blend`, mean and variance are moving averages in which past batches have the weight
      `fraction`; a factor stays unchanged.
    - With `unbiased` as well, the running variance is the unbiased estimate.
    - With `from_first` as well (NVIDIA Caffe), the running variance is the unbiased
      estimate, and the averages start with the first batch's statistics (while the variance
      is 0).

    With `has_item_count`, the last operand is the number of valid items of x (see
    ItemCounts.h); the statistics are those of the valid items. If no item is valid, the
    running statistics stay unchanged.

    With `synchronized`, the batch comprises the batches of all ranks of a data-parallel run.
  }];
  let arguments = !con((ins AnyTensor:$x, Variadic<AnyTensor>:$running),
    layerAttributes, (ins F32Attr:$eps, F32Attr:$fraction, UnitAttr:$blend, UnitAttr:$unbiased,
      UnitAttr:$from_first, UnitAttr:$has_item_count, UnitAttr:$synchronized));
  let extraClassDeclaration = [{
    /// Returns the number of valid items, or null if all are always valid.
    ::mlir::Value getCount() {
      return getHasItemCount() ? getOperation()->getOperands().back() : ::mlir::Value();
    }
    /// Returns the running statistics.
    ::mlir::OperandRange getStatistics() { return getRunning().drop_back(getHasItemCount()); }
  }];
  let results = (outs AnyTensor:$y, AnyTensor:$inverse_deviation,
    Variadic<AnyTensor>:$next);
}

def Brew_BatchNormBackwardOp : Brew_NormBackward<"batch_norm_backward"> {
  let summary = "dx = (dy - mean(dy) - y * mean(dy * y)) * inverse_deviation";
  let description = [{
    With `count`, the means are over the first `count` items, and dx of the other items is
    0. With `synchronized`, the means are over the items of all ranks.
  }];
  let arguments = (ins AnyTensor:$y, AnyTensor:$inverse_deviation, AnyTensor:$dy,
    Optional<AnyTensor>:$count, StrAttr:$layer, UnitAttr:$synchronized);
  let results = (outs AnyTensor:$dx);
}

def Brew_BatchNormGlobalOp : Brew_LayerOp<"batch_norm_global",
    [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "(x - mean) / sqrt(variance + eps), with running statistics";
  let description = [{
    Mean and variance are the running ones, divided by `running_factor` if there is such an
    operand. While the factor is 0, both are 0.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$running_mean,
    AnyTensor:$running_variance, Optional<AnyTensor>:$running_factor), layerAttributes,
    (ins F32Attr:$eps));
  let results = (outs AnyTensor:$y);
}

def Brew_LRNOp : Brew_LayerOp<"lrn", [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "Local response normalisation: x * scale ^ -beta";
  let description = [{
    scale = k + alpha * mean of the squares around the element. The mean is over `size`
    channels or, with `within_channel`, over size x size positions of the element's own
    channel (then k is 1). Positions outside of the bottom count as 0.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins I64Attr:$size,
    F32Attr:$alpha, F32Attr:$beta, F32Attr:$k, UnitAttr:$within_channel));
  let results = (outs AnyTensor:$y);
}

def Brew_LRNBackwardOp : Brew_NormBackward<"lrn_backward"> {
  let summary = "Gradient of local response normalisation";
  let description = [{
    dx = dy * scale ^ -beta - 2 * alpha * beta * x * mean of dy * y / scale around the element.
    The scale is recomputed, a few operations per element, instead of saving two tensors.
  }];
  let arguments = (ins AnyTensor:$x, AnyTensor:$dy, StrAttr:$layer, I64Attr:$size,
    F32Attr:$alpha, F32Attr:$beta, F32Attr:$k, UnitAttr:$within_channel);
  let results = (outs AnyTensor:$dx);
}

def Brew_MVNOp : Brew_LayerOp<"mvn", [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "Mean-variance normalisation: (x - mean) / (deviation + eps)";
  let description = [{
    Mean and deviation are computed for each channel of each sample or, with
    `across_channels`, for each sample. Without `normalize_variance`, y = x - mean, and
    `inverse_deviation` is not computed.

    With `eps_in_root`, y = (x - mean) / sqrt(variance + eps). With `across_vectors`, a bottom
    of two dimensions is normalised across its channels.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins UnitAttr:$normalize_variance, UnitAttr:$across_channels, F32Attr:$eps,
      UnitAttr:$eps_in_root, UnitAttr:$across_vectors));
  let results = (outs AnyTensor:$y, AnyTensor:$inverse_deviation);
}

def Brew_MVNBackwardOp : Brew_NormBackward<"mvn_backward"> {
  let summary = "dx = (dy - mean(dy) - y * mean(dy * y)) * inverse_deviation";
  let description = [{
    This is Caffe's formula, which treats eps as if it were under the root. Without
    `inverse_deviation`, dx = dy - mean(dy).
  }];
  let arguments = (ins AnyTensor:$y, AnyTensor:$dy,
    Optional<AnyTensor>:$inverse_deviation, StrAttr:$layer,
    UnitAttr:$across_channels);
  let results = (outs AnyTensor:$dx);
}

def Brew_NormalizeOp : Brew_LayerOp<"normalize", [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "L2 normalisation: x / sqrt(eps + sum of squares) * scale";
  let description = [{
    The sum is over each sample (`across_spatial`) or over the channels at each position.
    `scale` has one element per channel, or no dimensions (`channel_shared`). `inverse_norm`
    is saved for the backward pass.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$scale), layerAttributes,
    (ins UnitAttr:$across_spatial, UnitAttr:$channel_shared, F32Attr:$eps));
  let results = (outs AnyTensor:$y, AnyTensor:$inverse_norm);
}

def Brew_NormalizeBackwardOp : Brew_NormBackward<"normalize_backward"> {
  let summary = "Gradients of a normalize with respect to its bottom and its scale";
  let arguments = (ins AnyTensor:$x, AnyTensor:$scale, AnyTensor:$inverse_norm,
    AnyTensor:$dy, StrAttr:$layer, UnitAttr:$across_spatial,
    UnitAttr:$channel_shared);
  let results = (outs AnyTensor:$dx, AnyTensor:$dscale);
}

#endif // BREW_LAYERS_NORMALIZATION_TD
