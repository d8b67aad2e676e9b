//===- Neuron.td - Activation functions --------------------*- tablegen -*-===//
#ifndef BREW_LAYERS_NEURON_TD
#define BREW_LAYERS_NEURON_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

/// A layer of one bottom and a top of the same shape. `settings` are attributes.
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
  let summary = "max(min(x, max), min)";
}

def Brew_DropoutOp : Brew_LayerOp<"dropout", [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "x / (1 - ratio) at kept elements, 0 at dropped ones";
  let description = [{
    Drops each element with probability `ratio`, by random bits of `key`
    (dialects/Brew/RandomBits.h). With `unscaled`, kept elements are not divided.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$key), layerAttributes,
    (ins F32Attr:$ratio, UnitAttr:$unscaled));
  let results = (outs AnyTensor:$y);
}

def Brew_ELUOp : Brew_Neuron<"elu", [ScalarInPlace], (ins F32Attr:$alpha)> {
  let summary = "x where x > 0, alpha * (exp(x) - 1) elsewhere";
}

def Brew_ExpOp : Brew_Neuron<"exp", [ScalarInPlace],
    (ins OptionalAttr<F32Attr>:$base, F32Attr:$scale, F32Attr:$shift)> {
  let summary = "base ^ (shift + scale * x), with base e by default";
}

def Brew_HardSwishOp : Brew_Neuron<"hard_swish", [Scalar]> {
  let summary = "x * clip(x + 3, 0, 6) / 6";
}

def Brew_LogOp : Brew_Neuron<"log", [Scalar],
    (ins OptionalAttr<F32Attr>:$base, F32Attr:$scale, F32Attr:$shift)> {
  let summary = "Logarithm of shift + scale * x, with base e by default";
}

def Brew_MishOp : Brew_Neuron<"mish", [Scalar]> {
  let summary = "x * tanh(log(1 + exp(x)))";
}

def Brew_PReLUOp : Brew_Elementwise<"prelu", [ScalarBroadcast]> {
  let summary = "x where x > 0, slope * x elsewhere";
  let description = [{
    `slope` has one element per channel, or no dimensions (`channel_shared`).
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$slope), layerAttributes,
    (ins UnitAttr:$channel_shared));
}

def Brew_ReLU6Op : Brew_Neuron<"relu6", [ScalarInPlace],
    (ins F32Attr:$negative_slope)> {
  let summary = "min(x, 6) where x > 0, negative_slope * x elsewhere";
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
  let summary = "1 where x > threshold, 0 elsewhere; not differentiable";
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins F32Attr:$threshold));
  let results = (outs AnyTensor:$y);
}

#endif // BREW_LAYERS_NEURON_TD
