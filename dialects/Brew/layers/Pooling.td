//===- Pooling.td - Max and average pooling ----------------*- tablegen -*-===//
#ifndef BREW_LAYERS_POOLING_TD
#define BREW_LAYERS_POOLING_TD

include "dialects/Brew/BrewLayer.td"

defvar PoolAttributes = (ins DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
  DenseI64ArrayAttr:$pad, UnitAttr:$global, UnitAttr:$floor);

def Brew_MaxPoolingOp : Brew_LayerOp<"max_pooling", [Pure, Gradient, Generic]> {
  let summary = "Largest element of each window; the first of equals";
  let description = [{
    `argmax` is saved for the backward pass: the place of the maximum within
    its window, row * kernel_w + column.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes, PoolAttributes);
  let results = (outs AnyTensor:$y, AnyTensor:$argmax);
}

def Brew_MaxPoolingBackwardOp : Brew_Op<"max_pooling_backward", [Pure, Generic]> {
  let summary = "Gradient of max pooling";
  let arguments = (ins AnyTensor:$dy, AnyTensor:$argmax, StrAttr:$layer,
    DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_AveragePoolingOp : Brew_LayerOp<"average_pooling", [Pure, Gradient, Generic]> {
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

#endif // BREW_LAYERS_POOLING_TD
