//===- Pooling.td - Max and average pooling ----------------*- tablegen -*-===//
#ifndef BREW_LAYERS_POOLING_TD
#define BREW_LAYERS_POOLING_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

// A `global` window covers the complete input. With `bins`, windows divide the input
// into that many bins per dimension, like a level of spatial pyramid pooling. Shape
// inference replaces both by `kernel`, `stride` and `pad`.
defvar PoolAttributes = (ins DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
  DenseI64ArrayAttr:$pad, UnitAttr:$global, UnitAttr:$floor, OptionalAttr<I64Attr>:$bins);

def Brew_MaxPoolingOp : Brew_LayerOp<"max_pooling",
    [Pure, Gradient, LoopNests, ItemWise, RoundableOperands]> {
  let summary = "Maximum of each window";
  let description = [{
    Shapes: x [N, C, H, W], y [N, C, P, Q]. The first of equal elements wins.

    `argmax`, saved for the backward pass, is the position of the maximum within its window,
    row * kernel_w + column. `mask`, an optional second top, is its position in the input
    plane, row * width + column; -1 if no element is larger than -FLT_MAX.

    Example:

    ```mlir
    %y, %argmax = brew.max_pooling "pool1"(%x) {kernel = array<i64: 2, 2>,
        stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["pool1"]}
        : (tensor<64x20x24x24xf32>) -> (tensor<64x20x12x12xf32>, tensor<64x20x12x12xi8>)
    ```
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
  let summary = "Mean of each window, with Caffe's divisor";
  let description = [{
    The divisor is the number of elements of the window inside the padded input. Padding
    counts; positions beyond the padding, which a rounded-up output size reaches, do not.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes, PoolAttributes);
  let results = (outs AnyTensor:$y);
}

def Brew_AveragePoolingBackwardOp : Brew_Op<"average_pooling_backward",
    [Pure, LoopNests, Roundable]> {
  let summary = "Gradient of average pooling";
  let arguments = (ins AnyTensor:$dy, StrAttr:$layer,
    DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_StochasticPoolingOp : Brew_LayerOp<"stochastic_pooling",
    [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "Random element of each window, with probability proportional to it";
  let description = [{
    Stochastic pooling in training. `chosen` is the position of the element within its window,
    as `argmax` of `brew.max_pooling`. `key` is the key of the random bits
    (dialects/Brew/RandomBits.h).
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$key), layerAttributes, PoolAttributes);
  let results = (outs AnyTensor:$y, AnyTensor:$chosen);
}

def Brew_WeightedPoolingOp : Brew_LayerOp<"weighted_pooling",
    [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "Mean of each window weighted by its elements: sum x^2 / sum x";
  let description = [{
    Stochastic pooling in a test net. Not differentiable.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes, PoolAttributes);
  let results = (outs AnyTensor:$y);
}

def Brew_MaxUnpoolingOp : Brew_LayerOp<"max_unpooling",
    [Pure, Gradient, LoopNests, Labels, ItemWise, RoundableTops]> {
  let summary = "Elements of x at the positions of a max pooling's mask";
  let description = [{
    Element i of a plane of x becomes the element at position mask[i] of the plane of y; all
    other elements of y are 0. If several elements have the same position, y contains the last
    one, and each of them gets the position's gradient, as in SegNet's fork.

    The planes of y have `size` (height, width) or, if that is empty, the size of those of x
    times `scale` minus `pad_out`; shape inference sets `size`. It also sets `kernel`, `stride`
    and `pad` to those of the pooling that computed the mask, if known: then only the pooling's
    windows are searched. `status` is the result of the check of the positions (see
    `brew.check_labels`).
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$mask), layerAttributes,
    (ins DenseI64ArrayAttr:$size, DenseI64ArrayAttr:$scale, DenseI64ArrayAttr:$pad_out,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$kernel,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$stride,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pad));
  let results = (outs AnyTensor:$y, AnyTensor:$status);
}

def Brew_MaxUnpoolingBackwardOp : Brew_Op<"max_unpooling_backward", [Pure, LoopNests, Roundable]> {
  let summary = "Gradient of max unpooling: dy at the positions of the mask";
  let arguments = (ins AnyTensor:$dy, AnyTensor:$mask, StrAttr:$layer);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

#endif // BREW_LAYERS_POOLING_TD
