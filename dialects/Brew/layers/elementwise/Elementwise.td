//===- Elementwise.td - Power, Bias, Scale, Eltwise --------*- tablegen -*-===//
#ifndef BREW_LAYERS_ELEMENTWISE_TD
#define BREW_LAYERS_ELEMENTWISE_TD

include "dialects/Brew/BrewLayer.td"

def Brew_PowerOp : Brew_Elementwise<"power", [Scalar]> {
  let summary = "(shift + scale * x) ^ power";
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins F32Attr:$power, F32Attr:$scale, F32Attr:$shift));
}

def Brew_BiasOp : Brew_Elementwise<"bias", [ScalarBroadcast]> {
  let summary = "x + b, with b broadcast from dimension `axis` on";
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$b), layerAttributes,
    (ins I64Attr:$axis, I64Attr:$num_axes));
}

def Brew_ScaleOp : Brew_Elementwise<"scale", [ScalarBroadcast]> {
  let summary = "x * s + b, with s and the optional b broadcast from dimension `axis` on";
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$s, Optional<AnyTensor>:$b),
    layerAttributes, (ins I64Attr:$axis, I64Attr:$num_axes));
}

def Brew_EltwiseOp : Brew_Elementwise<"eltwise", [ScalarInPlace]> {
  let summary = "Product, weighted sum or maximum of blobs of one shape";
  let description = [{
    `coeff` are the weights of a sum. With `single_item`, the second of two blobs may have one item,
    which shape inference repeats for all items of the first.
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$xs), layerAttributes,
    (ins Brew_EltwiseKindAttr:$kind, DenseF32ArrayAttr:$coeff, UnitAttr:$single_item));
}

#endif // BREW_LAYERS_ELEMENTWISE_TD
