//===- Neuron.td - Activation functions --------------------*- tablegen -*-===//
#ifndef BREW_LAYERS_NEURON_TD
#define BREW_LAYERS_NEURON_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

/// One bottom and a top of its shape, without settings unless `settings` has
/// some.
class Brew_Neuron<string mnemonic, list<Trait> traits, dag settings = (ins)>
    : Brew_Elementwise<mnemonic, traits> {
  let arguments = !con((ins AnyTensor:$x), layerAttributes, settings);
}

def Brew_AbsValOp : Brew_Neuron<"absval", [Scalar]> {
  let summary = "|x|";
}

def Brew_BNLLOp : Brew_Neuron<"bnll", [Scalar]> {
  let summary = "Binomial normal log likelihood: log(1 + exp(x))";
}

def Brew_ClipOp : Brew_Neuron<"clip", [Scalar],
    (ins F32Attr:$min, F32Attr:$max)> {
  let summary = "x, at most max, and then at least min";
}

def Brew_DropoutOp : Brew_LayerOp<"dropout", [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "x / (1 - ratio) where not dropped, 0 elsewhere";
  let description = "Drops each element with probability `ratio`, by random bits "
    "under `key` (dialects/Brew/RandomBits.h). With `unscaled` the others stay as "
    "they are.";
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$key), layerAttributes,
    (ins F32Attr:$ratio, UnitAttr:$unscaled));
  let results = (outs AnyTensor:$y);
}

def Brew_ELUOp : Brew_Neuron<"elu", [ScalarInPlace], (ins F32Attr:$alpha)> {
  let summary = "x where x > 0, alpha * (exp(x) - 1) elsewhere";
}

def Brew_ExpOp : Brew_Neuron<"exp", [ScalarInPlace],
    (ins OptionalAttr<F32Attr>:$base, F32Attr:$scale, F32Attr:$shift)> {
  let summary = "base ^ (shift + scale * x), base e unless given";
}

def Brew_HardSwishOp : Brew_Neuron<"hard_swish", [Scalar]> {
  let summary = "x * clip(x + 3, 0, 6) / 6";
}

def Brew_LogOp : Brew_Neuron<"log", [Scalar],
    (ins OptionalAttr<F32Attr>:$base, F32Attr:$scale, F32Attr:$shift)> {
  let summary = "Logarithm of shift + scale * x to a base, e unless given";
}

def Brew_MishOp : Brew_Neuron<"mish", [Scalar]> {
  let summary = "x * tanh(log(1 + exp(x)))";
}

def Brew_PReLUOp : Brew_Elementwise<"prelu", [ScalarBroadcast]> {
  let summary = "x where x > 0, slope * x elsewhere";
  let description = "`slope` has an element for each channel, or no dimensions "
    "(`channel_shared`).";
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$slope), layerAttributes,
    (ins UnitAttr:$channel_shared));
}

def Brew_ReLU6Op : Brew_Neuron<"relu6", [ScalarInPlace],
    (ins F32Attr:$negative_slope)> {
  let summary = "x where x > 0, but at most 6; negative_slope * x elsewhere";
}

def Brew_SigmoidOp : Brew_Neuron<"sigmoid", [ScalarInPlace]> {
  let summary = "1 / (1 + exp(-x))";
}

def Brew_SwishOp : Brew_Neuron<"swish", [Scalar], (ins F32Attr:$beta)> {
  let summary = "x * sigmoid(beta * x)";
}

def Brew_TanHOp : Brew_Neuron<"tanh", [ScalarInPlace]> {
  let summary = "Hyperbolic tangent";
}

def Brew_ThresholdOp : Brew_LayerOp<"threshold", [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "1 where x > threshold, 0 elsewhere; has no gradient";
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins F32Attr:$threshold));
  let results = (outs AnyTensor:$y);
}

#endif // BREW_LAYERS_NEURON_TD
