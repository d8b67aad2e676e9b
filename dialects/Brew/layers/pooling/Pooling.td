//===- Pooling.td - Max and average pooling ----------------*- tablegen -*-===//
#ifndef BREW_LAYERS_POOLING_TD
#define BREW_LAYERS_POOLING_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

// A `global` window is the whole input. With `bins` the window divides it into that
// many per dimension, as a level of a spatial pyramid does. Shape inference turns
// both into `kernel`, `stride` and `pad`.
defvar PoolAttributes = (ins DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
  DenseI64ArrayAttr:$pad, UnitAttr:$global, UnitAttr:$floor, OptionalAttr<I64Attr>:$bins);

def Brew_MaxPoolingOp : Brew_LayerOp<"max_pooling",
    [Pure, Gradient, LoopNests, ItemWise, RoundableOperands]> {
  let summary = "Largest element of each window; the first of equals";
  let description = [{
    `argmax` is saved for the backward pass: the position of the maximum within
    its window, row * kernel_w + column. `mask`, a second top, is its position in
    the input plane, row * width + column; -1 where no element is larger than
    -FLT_MAX.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes, PoolAttributes);
  let results = (outs AnyTensor:$y, Optional<AnyTensor>:$mask, AnyTensor:$argmax);
}

def Brew_MaxPoolingBackwardOp : Brew_Op<"max_pooling_backward", [Pure, LoopNests, Roundable]> {
  let summary = "Gradient of max pooling";
  let arguments = (ins AnyTensor:$dy, AnyTensor:$argmax, StrAttr:$layer,
    DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_AveragePoolingOp : Brew_LayerOp<"average_pooling",
    [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "Mean of each window, padding counted as Caffe does";
  let description = [{
    The divisor is the window's size clipped to the padded input, so padding counts
    and what a rounded-up window has beyond it does not.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes, PoolAttributes);
  let results = (outs AnyTensor:$y);
}

def Brew_AveragePoolingBackwardOp : Brew_Op<"average_pooling_backward", [Pure, LoopNests, Roundable]> {
  let summary = "Gradient of average pooling";
  let arguments = (ins AnyTensor:$dy, StrAttr:$layer,
    DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_StochasticPoolingOp : Brew_LayerOp<"stochastic_pooling",
    [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "An element of each window, drawn with its share of the sum as probability";
  let description = [{
    What the layer does while training. `chosen` is the element's position in its window,
    as max_pooling saves it.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$key), layerAttributes, PoolAttributes);
  let results = (outs AnyTensor:$y, AnyTensor:$chosen);
}

def Brew_WeightedPoolingOp : Brew_LayerOp<"weighted_pooling",
    [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "Mean of each window weighted by its elements: sum x^2 / sum x";
  let description = "What stochastic pooling does when testing; it has no gradient.";
  let arguments = !con((ins AnyTensor:$x), layerAttributes, PoolAttributes);
  let results = (outs AnyTensor:$y);
}

def Brew_MaxUnpoolingOp : Brew_LayerOp<"max_unpooling",
    [Pure, Gradient, LoopNests, Labels, ItemWise, RoundableTops]> {
  let summary = "Every element of x at the position of its plane that a max pooling's mask says";
  let description = [{
    0 elsewhere; of elements with one position the last counts, and each gets that
    position's gradient, as in SegNet's fork. The planes of the result are of `size`
    (height, width) or, where that is empty, those of x times `scale` less `pad_out`;
    shape inference gives it. It also finds `kernel`, `stride` and `pad` of the pooling
    that made the mask, if that is known: then only its windows need be looked at.
    `status` is the positions' check (see `brew.check_labels`).
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$mask), layerAttributes,
    (ins DenseI64ArrayAttr:$size, DenseI64ArrayAttr:$scale, DenseI64ArrayAttr:$pad_out,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$kernel,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$stride,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pad));
  let results = (outs AnyTensor:$y, AnyTensor:$status);
}

def Brew_MaxUnpoolingBackwardOp : Brew_Op<"max_unpooling_backward", [Pure, LoopNests, Roundable]> {
  let summary = "dx is dy at the positions of the mask";
  let arguments = (ins AnyTensor:$dy, AnyTensor:$mask, StrAttr:$layer);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

#endif // BREW_LAYERS_POOLING_TD
