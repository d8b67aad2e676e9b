//===- Pooling.td - Max and average pooling ----------------*- tablegen -*-===//
#ifndef BREW_LAYERS_POOLING_TD
#define BREW_LAYERS_POOLING_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemsInterface.td"

// A `global` window is the whole input. With `bins` the window divides it into that
// many per dimension, as a level of a spatial pyramid does. Shape inference turns
// both into `kernel`, `stride` and `pad`.
defvar PoolAttributes = (ins DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
  DenseI64ArrayAttr:$pad, UnitAttr:$global, UnitAttr:$floor, OptionalAttr<I64Attr>:$bins);

def Brew_MaxPoolingOp : Brew_LayerOp<"max_pooling", [Pure, Gradient, Generic, ItemWise]> {
  let summary = "Largest element of each window; the first of equals";
  let description = [{
    `argmax` is saved for the backward pass: the place of the maximum within
    its window, row * kernel_w + column. `mask`, a second top, is its place in
    the input plane, row * width + column; -1 where no element is larger than
    -FLT_MAX.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes, PoolAttributes);
  let results = (outs AnyTensor:$y, Optional<AnyTensor>:$mask, AnyTensor:$argmax);
}

def Brew_MaxPoolingBackwardOp : Brew_Op<"max_pooling_backward", [Pure, Generic]> {
  let summary = "Gradient of max pooling";
  let arguments = (ins AnyTensor:$dy, AnyTensor:$argmax, StrAttr:$layer,
    DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_AveragePoolingOp : Brew_LayerOp<"average_pooling", [Pure, Gradient, Generic, ItemWise]> {
  let summary = "Mean of each window, padding counted as Caffe does";
  let description = [{
    The divisor is the window's size clipped to the padded input, so padding counts
    and what a rounded-up window has beyond it does not.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes, PoolAttributes);
  let results = (outs AnyTensor:$y);
}

def Brew_AveragePoolingBackwardOp : Brew_Op<"average_pooling_backward", [Pure, Generic]> {
  let summary = "Gradient of average pooling";
  let arguments = (ins AnyTensor:$dy, StrAttr:$layer,
    DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_StochasticPoolingOp : Brew_LayerOp<"stochastic_pooling", [Pure, Gradient, Generic, ItemWise]> {
  let summary = "An element of each window, drawn with its share of the sum as probability";
  let description = [{
    What the layer does while training. `chosen` is the element's place in its window,
    as max_pooling saves it.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$key), layerAttributes, PoolAttributes);
  let results = (outs AnyTensor:$y, AnyTensor:$chosen);
}

def Brew_WeightedPoolingOp : Brew_LayerOp<"weighted_pooling", [Pure, Gradient, Generic, ItemWise]> {
  let summary = "Mean of each window weighted by its elements: sum x^2 / sum x";
  let description = "What stochastic pooling does when testing; it has no gradient.";
  let arguments = !con((ins AnyTensor:$x), layerAttributes, PoolAttributes);
  let results = (outs AnyTensor:$y);
}

#endif // BREW_LAYERS_POOLING_TD
