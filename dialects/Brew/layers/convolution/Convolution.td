//===- Convolution.td - Convolutions and inner product -----*- tablegen -*-===//
#ifndef BREW_LAYERS_CONVOLUTION_TD
#define BREW_LAYERS_CONVOLUTION_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

// One value per spatial dimension. Until shapes are inferred, layers have the
// prototxt's values: one for all dimensions, one for each, or none for the default.
defvar WindowAttributes = (ins DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
  DenseI64ArrayAttr:$pad, DenseI64ArrayAttr:$dilation);
// Read by shape inference alone: the dimension of the channels, the padding at the
// end of each dimension if it differs from `pad`, padding like TensorFlow's SAME.
defvar ShapeAttributes = (ins DefaultValuedAttr<I64Attr, "1">:$axis,
  OptionalAttr<DenseI64ArrayAttr>:$pad_end, UnitAttr:$same);

def Brew_ConvolutionOp : Brew_LayerOp<"convolution",
    [Pure, Gradient, LoopNests, Library, ItemWise]> {
  let summary = "Convolution over all dimensions after the channels";
  let description = [{
    Shapes: x [N..., C, D...], w [num_output, C / group, kernel...], b [num_output], y
    [N..., num_output, P...]. Images have one dimension N and two dimensions D.

    w may be packed, with one more dimension: the outputs are divided into blocks,
    [num_output / B, B, C / group, kernel...], where B divides num_output / group.

    With `relu`, y = relu(convolution + b), where `relu` is the negative slope (set by
    epilogue fusion). `depthwise` marks a layer type whose group is the number of channels.

    Example:

    ```mlir
    %y = brew.convolution "conv1"(%x, %w, %b) {num_output = 20 : i64, group = 1 : i64,
        kernel = array<i64: 5, 5>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>,
        dilation = array<i64: 1, 1>, tops = ["conv1"]}
        : (tensor<64x1x28x28xf32>, tensor<20x1x5x5xf32>, tensor<20xf32>)
        -> tensor<64x20x24x24xf32>
    ```
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$w, Optional<AnyTensor>:$b),
    layerAttributes, (ins I64Attr:$num_output), WindowAttributes, (ins I64Attr:$group,
      OptionalAttr<F32Attr>:$relu), ShapeAttributes, (ins UnitAttr:$depthwise));
  let results = (outs AnyTensor:$y);
}

def Brew_ConvolutionSumOp : Brew_Op<"convolution_sum", [Pure, LoopNests, Library]> {
  let summary = "Convolution added to a blob (set by epilogue fusion)";
  let description = [{
    y = relu(convolution(x, w, b) + sum); attributes and shapes are those of
    `brew.convolution`. A library call accumulates into its result's buffer: memory planning
    assigns `sum` and y the same buffer if nothing reads `sum` afterwards.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$w, AnyTensor:$sum,
    Optional<AnyTensor>:$b, StrAttr:$layer, StrArrayAttr:$tops), WindowAttributes,
    (ins I64Attr:$group, OptionalAttr<F32Attr>:$relu));
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_ConvolutionBackwardDataOp : Brew_Op<"convolution_backward_data",
    [Pure, LoopNests, Library]> {
  let summary = "Gradient of a convolution with respect to its bottom";
  let description = [{
    With `sum`, the result is the gradient plus `sum`, another gradient of the same blob (set
    by epilogue fusion), as in `brew.convolution_sum`. w may be packed: the channels of a group
    are divided into blocks, [num_output, C / group / B, B, kernel...].
  }];
  let arguments = !con((ins AnyTensor:$dy, AnyTensor:$w, Optional<AnyTensor>:$sum,
    StrAttr:$layer),
    WindowAttributes, (ins I64Attr:$group));
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_ConvolutionBackwardWeightsOp : Brew_Op<"convolution_backward_weights",
    [Pure, LoopNests, Library]> {
  let summary = "Gradients of a convolution with respect to its weights and bias";
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$dy, StrAttr:$layer),
    WindowAttributes, (ins I64Attr:$group));
  let results = (outs AnyTensor:$dw, Optional<AnyTensor>:$db);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_DeconvolutionOp : Brew_LayerOp<"deconvolution",
    [Pure, Gradient, LoopNests, Library, ItemWise]> {
  let summary = "Transposed convolution without bias";
  let description = [{
    Computes `brew.convolution_backward_data` with x as dy. Shapes: x [N..., C, P...], w
    [C, num_output / group, kernel...] or packed, y [N..., num_output, D...].
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$w), layerAttributes,
    (ins I64Attr:$num_output), WindowAttributes, (ins I64Attr:$group), ShapeAttributes);
  let results = (outs AnyTensor:$y);
}

def Brew_Im2colOp : Brew_LayerOp<"im2col", [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "A convolution's windows, arranged as channels";
  let description = [{
    x [N..., C, D...] becomes y [N..., C * kernel..., P...]. Padding is 0.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes, WindowAttributes, ShapeAttributes);
  let results = (outs AnyTensor:$y);
}

def Brew_Col2imOp : Brew_Op<"col2im", [Pure, LoopNests, Roundable]> {
  let summary = "Gradient of im2col: sums over overlapping windows";
  let arguments = !con((ins AnyTensor:$dy, StrAttr:$layer), WindowAttributes);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_DeformableWindowsOp : Brew_LayerOp<"deformable_windows",
    [Pure, Gradient, LoopNests, ItemWise, RoundableTops]> {
  let summary = "A convolution's windows with moved taps, side by side";
  let description = [{
    x [N, C, H, W] becomes y [N, C, P * R, Q * S] for windows of R x S taps at P x Q positions,
    so that a convolution with the stride R x S over y is a deformable convolution over x. Tap
    (r, s) of window (p, q) is the interpolated element at row p * stride - pad + r * dilation +
    `offsets`[n, 2 * ((g * R + r) * S + s), p, q]; the next channel of `offsets` moves the
    column. The channels form `offset_groups` groups g with separate offsets. Taps outside of
    the plane are 0.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$offsets), layerAttributes,
    WindowAttributes, (ins I64Attr:$offset_groups), ShapeAttributes);
  let results = (outs AnyTensor:$y);
}

class DeformableWindowsBackward<string mnemonic>
    : Brew_Op<mnemonic, [Pure, LoopNests, RoundableTops]> {
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_DeformableWindowsBackwardOp
    : DeformableWindowsBackward<"deformable_windows_backward"> {
  let summary = "Gradient of deformable windows with respect to the bottom";
  let arguments = !con((ins AnyTensor:$dy, AnyTensor:$offsets, StrAttr:$layer),
    WindowAttributes, (ins I64Attr:$offset_groups));
}

def Brew_DeformableWindowsBackwardOffsetsOp
    : DeformableWindowsBackward<"deformable_windows_backward_offsets"> {
  let summary = "Gradient of deformable windows with respect to the offsets";
  let arguments = !con((ins AnyTensor:$dy, AnyTensor:$x, AnyTensor:$offsets, StrAttr:$layer),
    WindowAttributes, (ins I64Attr:$offset_groups));
}

def Brew_InnerProductOp : Brew_LayerOp<"inner_product",
    [Pure, Gradient, LoopNests, Library, ItemWise]> {
  let summary = "y = x w^T + b over the dimensions from `axis` on";
  let description = [{
    Shapes: x [M..., K...], where K are the dimensions from `axis` on, flattened; w
    [num_output, K], or [K, num_output] with `transpose`; b [num_output]; y [M...,
    num_output]. With `relu`, y is passed through a ReLU of that negative slope (set by
    epilogue fusion).

    Layout assignment may split the dimension K of w into the dimensions of x, so that each
    of them has its own position in the memory order.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$w, Optional<AnyTensor>:$b),
    layerAttributes, (ins I64Attr:$num_output, I64Attr:$axis, UnitAttr:$transpose,
      OptionalAttr<F32Attr>:$relu));
  let results = (outs AnyTensor:$y);
}

def Brew_InnerProductBackwardDataOp : Brew_Op<"inner_product_backward_data",
    [Pure, LoopNests, Library]> {
  let summary = "Gradient of an inner product with respect to its bottom";
  let arguments = (ins AnyTensor:$dy, AnyTensor:$w, StrAttr:$layer, I64Attr:$axis,
    UnitAttr:$transpose);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_InnerProductBackwardWeightsOp : Brew_Op<"inner_product_backward_weights",
    [Pure, LoopNests, Library]> {
  let summary = "Gradients of an inner product with respect to its weights and bias";
  let arguments = (ins AnyTensor:$x, AnyTensor:$dy, StrAttr:$layer, I64Attr:$axis,
    UnitAttr:$transpose);
  let results = (outs AnyTensor:$dw, Optional<AnyTensor>:$db);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

#endif // BREW_LAYERS_CONVOLUTION_TD
