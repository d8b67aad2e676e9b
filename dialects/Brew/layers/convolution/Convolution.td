//===- Convolution.td - Convolutions and inner product -----*- tablegen -*-===//
#ifndef BREW_LAYERS_CONVOLUTION_TD
#define BREW_LAYERS_CONVOLUTION_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

// One value per spatial dimension. Layers have them as the prototxt does (one
// for all, one for each, or none for the default) until shapes are inferred.
defvar WindowAttributes = (ins DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
  DenseI64ArrayAttr:$pad, DenseI64ArrayAttr:$dilation);
// Only shape inference looks at these: the channels' dimension, padding at the
// end of each dimension where it is not `pad`, padding as TensorFlow's SAME.
defvar ShapeAttributes = (ins DefaultValuedAttr<I64Attr, "1">:$axis,
  OptionalAttr<DenseI64ArrayAttr>:$pad_end, UnitAttr:$same);

def Brew_ConvolutionOp : Brew_LayerOp<"convolution", [Pure, Gradient, LoopNests, Library, ItemWise]> {
  let summary = "Convolution over all dimensions behind the channels";
  let description = [{
    x is [N..., C, D...], w [num_output, C/group, kernel...]; with one dimension N
    and two D the usual images. With `relu` the result is passed through a ReLU of
    that `negative_slope` (set by epilogue fusion).
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$w, Optional<AnyTensor>:$b),
    layerAttributes, (ins I64Attr:$num_output), WindowAttributes, (ins I64Attr:$group,
      OptionalAttr<F32Attr>:$relu), ShapeAttributes, (ins UnitAttr:$depthwise));
  let results = (outs AnyTensor:$y);
}

def Brew_ConvolutionSumOp : Brew_Op<"convolution_sum", [Pure, LoopNests, Library]> {
  let summary = "A convolution added to a blob (set by epilogue fusion)";
  let description = [{
    y = relu(convolution(x, w, b) + sum), all as in `convolution`. A call adds to what
    lies in its result's buffer: memory planning gives `sum` the same one where nothing
    reads `sum` afterwards.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$w, AnyTensor:$sum,
    Optional<AnyTensor>:$b, StrAttr:$layer, StrArrayAttr:$tops), WindowAttributes,
    (ins I64Attr:$group, OptionalAttr<F32Attr>:$relu));
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_ConvolutionBackwardDataOp : Brew_Op<"convolution_backward_data",
    [Pure, LoopNests, Library]> {
  let summary = "Gradient of a convolution by its bottom";
  let description = [{
    With `sum` added to that gradient of the blob, from another reader of it (set by
    epilogue fusion), as in `convolution_sum`.
  }];
  let arguments = !con((ins AnyTensor:$dy, AnyTensor:$w, Optional<AnyTensor>:$sum,
    StrAttr:$layer),
    WindowAttributes, (ins I64Attr:$group));
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_ConvolutionBackwardWeightsOp : Brew_Op<"convolution_backward_weights",
    [Pure, LoopNests, Library]> {
  let summary = "Gradients of a convolution by its weights and bias";
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$dy, StrAttr:$layer),
    WindowAttributes, (ins I64Attr:$group));
  let results = (outs AnyTensor:$dw, Optional<AnyTensor>:$db);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_DeconvolutionOp : Brew_LayerOp<"deconvolution",
    [Pure, Gradient, LoopNests, Library, ItemWise]> {
  let summary = "Transposed convolution, without its bias";
  let description = [{
    What `convolution_backward_data` computes with x in the place of dy: w is
    [C, num_output/group, kernel...].
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$w), layerAttributes,
    (ins I64Attr:$num_output), WindowAttributes, (ins I64Attr:$group), ShapeAttributes);
  let results = (outs AnyTensor:$y);
}

def Brew_Im2colOp : Brew_LayerOp<"im2col", [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "The windows of a convolution side by side, as channels";
  let description = [{
    [N..., C, D...] becomes [N..., C * kernel..., P...].
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes, WindowAttributes, ShapeAttributes);
  let results = (outs AnyTensor:$y);
}

def Brew_Col2imOp : Brew_Op<"col2im", [Pure, LoopNests, Roundable]> {
  let summary = "Gradient of im2col: sums what windows share";
  let arguments = !con((ins AnyTensor:$dy, StrAttr:$layer), WindowAttributes);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_InnerProductOp : Brew_LayerOp<"inner_product",
    [Pure, Gradient, LoopNests, Library, ItemWise]> {
  let summary = "y = x w^T + b over the dimensions from `axis` on";
  let description = [{
    w is [num_output, K], or [K, num_output] with `transpose`. Layout assignment may
    split w's K into the dimensions of x, so that each can have a place of its own in
    memory.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$w, Optional<AnyTensor>:$b),
    layerAttributes, (ins I64Attr:$num_output, I64Attr:$axis, UnitAttr:$transpose,
      OptionalAttr<F32Attr>:$relu));
  let results = (outs AnyTensor:$y);
}

def Brew_InnerProductBackwardDataOp : Brew_Op<"inner_product_backward_data",
    [Pure, LoopNests, Library]> {
  let summary = "Gradient of an inner product by its bottom";
  let arguments = (ins AnyTensor:$dy, AnyTensor:$w, StrAttr:$layer, I64Attr:$axis,
    UnitAttr:$transpose);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_InnerProductBackwardWeightsOp : Brew_Op<"inner_product_backward_weights",
    [Pure, LoopNests, Library]> {
  let summary = "Gradients of an inner product by its weights and bias";
  let arguments = (ins AnyTensor:$x, AnyTensor:$dy, StrAttr:$layer, I64Attr:$axis,
    UnitAttr:$transpose);
  let results = (outs AnyTensor:$dw, Optional<AnyTensor>:$db);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

#endif // BREW_LAYERS_CONVOLUTION_TD
