//===- BrewLayerOps.td - Caffe's layers -------------------------*- tablegen -*-===//
//
// One operation per layer kind. `layer` is the layer's name, `tops` the blob names
// of the leading results; further results are values saved for the backward
// pass. `loss_weights` has one entry per top, `propagate_down` one per bottom.
//
//===----------------------------------------------------------------------===//
#ifndef BREW_LAYER_OPS_TD
#define BREW_LAYER_OPS_TD

include "dialects/Brew/BrewOps.td"

class Brew_LayerOp<string mnemonic, list<Trait> traits = []>
    : Brew_Op<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<Brew_ShapeInterface>], traits)> {
  dag layerAttributes = (ins StrAttr:$layer, StrArrayAttr:$tops,
    OptionalAttr<DenseF32ArrayAttr>:$loss_weights,
    OptionalAttr<DenseBoolArrayAttr>:$propagate_down);
  let assemblyFormat =
    "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

class Brew_Elementwise<string mnemonic, list<Trait> traits = []>
    : Brew_LayerOp<mnemonic, !listconcat([Pure], traits)> {
  let results = (outs AnyTensor:$y);
}

defvar Gradient = DeclareOpInterfaceMethods<Brew_GradientInterface>;
defvar Generic = DeclareOpInterfaceMethods<Brew_GenericInterface>;
defvar Library = DeclareOpInterfaceMethods<Brew_LibraryInterface>;
defvar Scalar = DeclareOpInterfaceMethods<Brew_ScalarBodyInterface>;
defvar ScalarInPlace = DeclareOpInterfaceMethods<Brew_ScalarBodyInterface, ["buildDerivativeFromResult"]>;
defvar ScalarBroadcast = DeclareOpInterfaceMethods<Brew_ScalarBodyInterface, ["operandAxis"]>;

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

def Brew_FeedOp : Brew_Op<"feed"> {
  let summary = "A layer that brings data in";
  let description = [{
    `kind` is the layer's type (Data, HDF5Data, Input, DummyData ...), `config`
    the whole LayerParameter in text form, `folder` where its prototxt lies.
    The runtime's readers fill the results before the program runs.
  }];
  let arguments = (ins StrAttr:$layer, StrArrayAttr:$tops, StrAttr:$kind,
    StrAttr:$config, StrAttr:$folder);
  let results = (outs Variadic<AnyTensor>:$values);
  let assemblyFormat = "$layer $kind attr-dict `:` type($values)";
}

//===----------------------------------------------------------------------===//
// Convolution and inner product
//===----------------------------------------------------------------------===//

defvar WindowAttributes = (ins DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
  DenseI64ArrayAttr:$pad, DenseI64ArrayAttr:$dilation);

def Brew_ConvolutionOp : Brew_LayerOp<"convolution", [Pure, Gradient, Generic, Library]> {
  let summary = "Convolution of N, C, H, W by K, C/group, R, S weights";
  let description = [{
    With `relu` the result is passed through a ReLU of that `negative_slope`
    (set by epilogue fusion).
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$w, Optional<AnyTensor>:$b),
    layerAttributes, (ins I64Attr:$num_output), WindowAttributes, (ins I64Attr:$group,
      OptionalAttr<F32Attr>:$relu));
  let results = (outs AnyTensor:$y);
}

def Brew_ConvolutionBackwardDataOp : Brew_Op<"convolution_backward_data", [Pure, Generic, Library]> {
  let summary = "Gradient of a convolution by its bottom";
  let arguments = !con((ins AnyTensor:$dy, AnyTensor:$w, StrAttr:$layer),
    WindowAttributes, (ins I64Attr:$group));
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_ConvolutionBackwardWeightsOp : Brew_Op<"convolution_backward_weights",
    [Pure, Generic, Library]> {
  let summary = "Gradients of a convolution by its weights and bias";
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$dy, StrAttr:$layer),
    WindowAttributes, (ins I64Attr:$group));
  let results = (outs AnyTensor:$dw, Optional<AnyTensor>:$db);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_InnerProductOp : Brew_LayerOp<"inner_product", [Pure, Gradient, Generic, Library]> {
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

def Brew_InnerProductBackwardDataOp : Brew_Op<"inner_product_backward_data", [Pure, Generic, Library]> {
  let summary = "Gradient of an inner product by its bottom";
  let arguments = (ins AnyTensor:$dy, AnyTensor:$w, StrAttr:$layer, I64Attr:$axis,
    UnitAttr:$transpose);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_InnerProductBackwardWeightsOp : Brew_Op<"inner_product_backward_weights",
    [Pure, Generic, Library]> {
  let summary = "Gradients of an inner product by its weights and bias";
  let arguments = (ins AnyTensor:$x, AnyTensor:$dy, StrAttr:$layer, I64Attr:$axis,
    UnitAttr:$transpose);
  let results = (outs AnyTensor:$dw, Optional<AnyTensor>:$db);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

def Brew_ReLUOp : Brew_Elementwise<"relu", [ScalarInPlace]> {
  let summary = "x where x > 0, negative_slope * x elsewhere";
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins F32Attr:$negative_slope));
}

def Brew_PowerOp : Brew_Elementwise<"power", [Scalar]> {
  let summary = "(shift + scale * x) ^ power";
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins F32Attr:$power, F32Attr:$scale, F32Attr:$shift));
}

def Brew_BiasOp : Brew_Elementwise<"bias", [ScalarBroadcast]> {
  let summary = "x + b, b broadcast from `axis` on";
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$b), layerAttributes,
    (ins I64Attr:$axis, I64Attr:$num_axes));
}

def Brew_EltwiseOp : Brew_Elementwise<"eltwise", [Scalar]> {
  let summary = "Product, weighted sum or maximum of equal shapes";
  let arguments = !con((ins Variadic<AnyTensor>:$xs), layerAttributes,
    (ins Brew_EltwiseKindAttr:$kind, DenseF32ArrayAttr:$coeff));
}

//===----------------------------------------------------------------------===//
// Reductions, losses, bookkeeping
//===----------------------------------------------------------------------===//

def Brew_ReductionOp : Brew_LayerOp<"reduction", [Pure, Gradient, Generic]> {
  let summary = "Reduces the dimensions from `axis` on to one number";
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins Brew_ReductionKindAttr:$kind, I64Attr:$axis, F32Attr:$coeff));
  let results = (outs AnyTensor:$y);
}

def Brew_SoftmaxOp : Brew_LayerOp<"softmax", [Pure, Gradient, Generic]> {
  let summary = "exp(x) over its sum along `axis`";
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins I64Attr:$axis));
  let results = (outs AnyTensor:$y);
}

def Brew_SoftmaxBackwardOp : Brew_Op<"softmax_backward", [Pure, Generic]> {
  let summary = "dx = y * (dy - sum(y * dy))";
  let arguments = (ins AnyTensor:$y, AnyTensor:$dy, StrAttr:$layer, I64Attr:$axis);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_SoftmaxLossOp : Brew_LayerOp<"softmax_loss", [Pure, Gradient, Generic]> {
  let summary = "Multinomial logistic loss of the softmax of x";
  let description = [{
    `prob` is the softmax, `normalizer` what the summed loss was divided by and
    `status` the label check's result (see `brew.check_labels`).
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$label), layerAttributes,
    (ins I64Attr:$axis, OptionalAttr<I64Attr>:$ignore_label,
      Brew_NormalizationAttr:$normalization));
  let results = (outs AnyTensor:$loss, AnyTensor:$prob, AnyTensor:$normalizer,
    AnyTensor:$status);
}

def Brew_SoftmaxLossBackwardOp : Brew_Op<"softmax_loss_backward", [Pure, Generic]> {
  let summary = "dx = (prob - onehot(label)) * dloss / normalizer";
  let arguments = (ins AnyTensor:$prob, AnyTensor:$label, AnyTensor:$normalizer,
    AnyTensor:$dloss, StrAttr:$layer, I64Attr:$axis, OptionalAttr<I64Attr>:$ignore_label);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_AccuracyOp : Brew_LayerOp<"accuracy", [Pure, Generic]> {
  let summary = "Share of samples whose label is among the top_k scores";
  let description = [{
    `per_class` is the same for each class (0 for a class without samples).
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$label), layerAttributes,
    (ins I64Attr:$axis, I64Attr:$top_k, OptionalAttr<I64Attr>:$ignore_label));
  let results = (outs AnyTensor:$accuracy, AnyTensor:$per_class, AnyTensor:$status);
}

def Brew_SplitOp : Brew_LayerOp<"split", [Pure, Gradient]> {
  let summary = "The same blob under several names";
  let arguments = !con((ins AnyTensor:$x), layerAttributes);
  let results = (outs Variadic<AnyTensor>:$ys);
}

def Brew_SilenceOp : Brew_LayerOp<"silence", [Pure]> {
  let summary = "Consumes blobs so that they are no outputs of the net";
  let arguments = !con((ins Variadic<AnyTensor>:$xs), layerAttributes);
}

//===----------------------------------------------------------------------===//
// Solver
//===----------------------------------------------------------------------===//

def Brew_SGDUpdateOp : Brew_Op<"sgd_update", [Pure, Generic]> {
  let summary = "One step of stochastic gradient descent with momentum";
  let description = [{
    With g = gradient_scale * gradient + weight_decay * decay_mult * r(w), where r is
    w (L2) or its sign (L1): new history h' = momentum * h + rate * lr_mult * g and
    new parameter w' = w - h'.
  }];
  let arguments = (ins AnyTensor:$w, AnyTensor:$gradient, AnyTensor:$history,
    AnyTensor:$rate, AnyTensor:$momentum, AnyTensor:$weight_decay,
    AnyTensor:$gradient_scale, F32Attr:$lr_mult, F32Attr:$decay_mult,
    Brew_RegularizationAttr:$regularization);
  let results = (outs AnyTensor:$new_w, AnyTensor:$new_history);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
}

#endif // BREW_LAYER_OPS_TD
