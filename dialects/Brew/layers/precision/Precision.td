//===- Precision.td - 16-bit types and loss scaling --------*- tablegen -*-===//
#ifndef BREW_LAYERS_PRECISION_TD
#define BREW_LAYERS_PRECISION_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/PrecisionInterface.td"

class Brew_PrecisionOp<string mnemonic, list<Trait> traits = []>
    : Brew_Op<mnemonic, !listconcat([Pure], traits)> {
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_CastOp : Brew_PrecisionOp<"cast", [LoopNests, Roundable]> {
  let summary = "Conversion to another floating-point type";
  let description = [{
    Conversion to a narrower type rounds to nearest, ties to even. The layouts of x and y may
    differ. A cast of a 16-bit value to f32 and back folds away.
  }];
  let arguments = (ins AnyTensor:$x, StrAttr:$layer);
  let results = (outs AnyTensor:$y);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Brew_LossScaleOp : Brew_PrecisionOp<"loss_scale", [LoopNests]> {
  let summary = "The factor of the losses that keeps 16-bit gradients in range";
  let description = [{
    `scale` is `state`, or `initial`, a power of two, while `state` is 0 (in a run that has not
    changed the scale yet).
  }];
  let arguments = (ins AnyTensor:$state, StrAttr:$layer, F64Attr:$initial);
  let results = (outs AnyTensor:$scale);
}

def Brew_LossGradientOp : Brew_PrecisionOp<"loss_gradient", [LoopNests, Roundable]> {
  let summary = "Gradient of a scaled loss: `weight` * scale everywhere";
  let description = [{
    The backward pass starts with this gradient.
  }];
  let arguments = (ins AnyTensor:$scale, StrAttr:$layer, F64Attr:$weight);
  let results = (outs AnyTensor:$gradient);
}

def Brew_ScaleGradientOp : Brew_PrecisionOp<"scale_gradient", [LoopNests, Roundable]> {
  let summary = "x * scale: scales a gradient that the caller wrote";
  let arguments = (ins AnyTensor:$x, AnyTensor:$scale, StrAttr:$layer);
  let results = (outs AnyTensor:$y);
}

def Brew_UnscaleOp : Brew_PrecisionOp<"unscale", [LoopNests, Roundable]> {
  let summary = "x / scale: unscales a gradient for the user and the solver";
  let arguments = (ins AnyTensor:$x, AnyTensor:$scale, StrAttr:$layer);
  let results = (outs AnyTensor:$y);
}

def Brew_CountNonFiniteOp : Brew_PrecisionOp<"count_non_finite", [LoopNests]> {
  let summary = "Adds the number of infinite or NaN elements of xs to `before`";
  let description = [{
    Counts at most 1 per index of the first dimension of each x: only whether the count is 0
    matters.
  }];
  let arguments = (ins AnyTensor:$before, Variadic<AnyTensor>:$xs, StrAttr:$layer);
  let results = (outs AnyTensor:$count);
}

def Brew_SelectIfZeroOp : Brew_PrecisionOp<"select_if_zero", [LoopNests]> {
  let summary = "`x` if the scalar `count` is 0, otherwise `otherwise`";
  let arguments = (ins AnyTensor:$count, AnyTensor:$x, AnyTensor:$otherwise,
    StrAttr:$layer);
  let results = (outs AnyTensor:$y);
}

def Brew_UpdateLossScaleOp : Brew_PrecisionOp<"update_loss_scale", [LoopNests]> {
  let summary = "Computes the loss scale of the next iterations";
  let description = [{
    `count` is the number of non-finite gradients of the last iteration, `good_iterations` the
    number of iterations since the scale changed.

    - If `count` is not 0, the scale is halved, to at least 1, and `good_iterations` becomes 0.
    - Otherwise `good_iterations` grows by 1. When it reaches `window`, the scale is doubled, to
      at most 2^24, and `good_iterations` becomes 0. A `window` of 0 keeps the scale constant.

    `zero_count` is 0, the start of the next count.
  }];
  let arguments = (ins AnyTensor:$scale, AnyTensor:$good_iterations, AnyTensor:$count,
    StrAttr:$layer, I64Attr:$window);
  let results = (outs AnyTensor:$new_scale, AnyTensor:$new_good_iterations, AnyTensor:$zero_count);
}

#endif // BREW_LAYERS_PRECISION_TD
