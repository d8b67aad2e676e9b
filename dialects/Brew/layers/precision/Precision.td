//===- Precision.td - Narrow types and the scale of losses -*- tablegen -*-===//
#ifndef BREW_LAYERS_PRECISION_TD
#define BREW_LAYERS_PRECISION_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/PrecisionInterface.td"

class Brew_PrecisionOp<string mnemonic, list<Trait> traits = []>
    : Brew_Op<mnemonic, !listconcat([Pure], traits)> {
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_CastOp : Brew_PrecisionOp<"cast", [LoopNests, Roundable]> {
  let summary = "The same numbers in another floating-point type";
  let description = [{
    To a narrower type they are rounded to nearest, ties to even. The layouts of x
    and y may differ. To f32 and back is no cast at all.
  }];
  let arguments = (ins AnyTensor:$x, StrAttr:$layer);
  let results = (outs AnyTensor:$y);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Brew_LossScaleOp : Brew_PrecisionOp<"loss_scale", [LoopNests]> {
  let summary = "What losses are multiplied by so that narrow gradients stay normal";
  let description = [{
    `state` is the scale, or 0 in a run that has not changed it yet: then the
    scale is `initial`, a power of two.
  }];
  let arguments = (ins AnyTensor:$state, StrAttr:$layer, F64Attr:$initial);
  let results = (outs AnyTensor:$scale);
}

def Brew_LossGradientOp : Brew_PrecisionOp<"loss_gradient", [LoopNests, Roundable]> {
  let summary = "The gradient that backward starts from: `weight` * scale everywhere";
  let arguments = (ins AnyTensor:$scale, StrAttr:$layer, F64Attr:$weight);
  let results = (outs AnyTensor:$gradient);
}

def Brew_ScaleGradientOp : Brew_PrecisionOp<"scale_gradient", [LoopNests, Roundable]> {
  let summary = "x * scale: a gradient from outside as backward computes with it";
  let arguments = (ins AnyTensor:$x, AnyTensor:$scale, StrAttr:$layer);
  let results = (outs AnyTensor:$y);
}

def Brew_UnscaleOp : Brew_PrecisionOp<"unscale", [LoopNests, Roundable]> {
  let summary = "x / scale: a gradient as the user and the solver see it";
  let arguments = (ins AnyTensor:$x, AnyTensor:$scale, StrAttr:$layer);
  let results = (outs AnyTensor:$y);
}

def Brew_CountNonFiniteOp : Brew_PrecisionOp<"count_non_finite", [LoopNests]> {
  let summary = "`before` plus how many elements of xs are infinite or NaN";
  let description = "At most 1 for each position along the first dimension of an x: "
    "only whether there are any matters.";
  let arguments = (ins AnyTensor:$before, Variadic<AnyTensor>:$xs, StrAttr:$layer);
  let results = (outs AnyTensor:$count);
}

def Brew_SelectIfZeroOp : Brew_PrecisionOp<"select_if_zero", [LoopNests]> {
  let summary = "`x` where the scalar `count` is 0, `otherwise` where it is not";
  let arguments = (ins AnyTensor:$count, AnyTensor:$x, AnyTensor:$otherwise,
    StrAttr:$layer);
  let results = (outs AnyTensor:$y);
}

def Brew_UpdateLossScaleOp : Brew_PrecisionOp<"update_loss_scale", [LoopNests]> {
  let summary = "The scale of the next iterations";
  let description = [{
    `count` of the last iteration's gradients were not finite. If any, the scale is
    halved, but not below 1, and `good` is 0. Else `good`, the iterations since the
    scale has changed, grows by one, and where it reaches `window`, the scale is
    doubled, but not beyond 2^24, and `good` is 0. A `window` of 0 keeps the scale.
    `no_count` is the 0 that a new count begins with.
  }];
  let arguments = (ins AnyTensor:$scale, AnyTensor:$good_iterations, AnyTensor:$count,
    StrAttr:$layer, I64Attr:$window);
  let results = (outs AnyTensor:$new_scale, AnyTensor:$new_good_iterations, AnyTensor:$zero_count);
}

#endif // BREW_LAYERS_PRECISION_TD
