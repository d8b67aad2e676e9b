//===- Recurrent.td - LSTM, RNN and their cell -------------*- tablegen -*-===//
#ifndef BREW_LAYERS_RECURRENT_TD
#define BREW_LAYERS_RECURRENT_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

class Brew_RecurrentOp<string mnemonic, dag settings = (ins)>
    : Brew_LayerOp<mnemonic, [ItemCounts]> {
  let description = [{
    `inputs` are, in order: the sequence x [T, N, ...]; the continuation indicators cont [T, N],
    which are 0 where a new sequence starts, unless each batch contains complete sequences
    (`complete_sequences`); with `has_static`, an input [N, ...] for all time
    steps; with `expose_hidden`, the state before the first step; then the parameters.
    brew-lower-recurrent replaces the layer by products and a loop over the time steps.
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$inputs), layerAttributes,
    (ins I64Attr:$num_output, UnitAttr:$has_static, UnitAttr:$expose_hidden,
      UnitAttr:$complete_sequences), settings);
  let results = (outs Variadic<AnyTensor>:$outputs);
}

// The gradients of the gates' inputs are limited to [-gradient_limit, gradient_limit].
defvar LSTMAttributes = (ins OptionalAttr<F32Attr>:$gradient_limit);

def Brew_LSTMOp : Brew_RecurrentOp<"lstm", LSTMAttributes> {
  let summary = "Long short-term memory over a sequence";
}

def Brew_RNNOp : Brew_RecurrentOp<"rnn"> {
  let summary = "Recurrent layer with one hidden tanh and one output tanh";
}

// The window of the convolution of the hidden state: height, width. `peephole_axis` and
// `peephole_axes` are the dimensions of its peephole weights in [1, N, D, H, W].
defvar ConvLSTMAttributes = (ins I64Attr:$group, DenseI64ArrayAttr:$kernel,
  DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad, DenseI64ArrayAttr:$dilation,
  UnitAttr:$ignore_x, OptionalAttr<I64Attr>:$peephole_axis,
  OptionalAttr<I64Attr>:$peephole_axes);

def Brew_ConvLSTMOp : Brew_RecurrentOp<"conv_lstm", ConvLSTMAttributes> {
  let summary = "Long short-term memory whose states are images";
  let description = [{
    `inputs` are, in order: the sequence x [T, N, C, H, W]; the continuation indicators cont
    [T, N]; with `expose_hidden`, the states h and c [1, N, D, H, W] before the first step; the
    parameters in the fork's order: two placeholders of one element, the weights
    [4 D, D / group, kernel] and the bias [4 D] of the hidden state; with `peephole_axis`, the
    weights that multiply c and are added to the inputs of the gates i, f and o; two
    placeholders; then, unless `ignore_x`, the contribution of x to the gates' inputs
    [T, N, 4 D, H, W], in the order of brew.lstm_unit. Step t computes

        inputs = gates[t] + conv(cont[t] h) + peepholes(c)
        c, h = lstm_unit(c, inputs, cont[t])

    brew-lower-recurrent replaces the layer by the operations of all time steps.
  }];
}

def Brew_MeanFieldOp : Brew_LayerOp<"mean_field"> {
  let summary = "Mean-field inference of a dense random field (MultiStageMeanfield)";
  let description = [{
    Shapes: unary and start [N, C, H, W], image [N, 3, H, W]; the weights of the spatial and the
    bilateral kernel and the compatibility matrix, each [1, 1, C, C]. From q = `start`, each
    iteration computes

        spatial, bilateral = filter(image, softmax(q))
        q = unary - compatibility (spatial_weights spatial + bilateral_weights bilateral)

    where the matrices multiply the channels, and the filter is the host layer `kind`
    MultiStageMeanfield. `classes` is C if settings determine it. brew-lower-recurrent replaces
    the layer by these operations.
  }];
  let arguments = !con((ins AnyTensor:$unary, AnyTensor:$start, AnyTensor:$image,
    AnyTensor:$spatial_weights, AnyTensor:$bilateral_weights, AnyTensor:$compatibility),
    layerAttributes, (ins I64Attr:$iterations, StrAttr:$settings, UnitAttr:$test_phase,
      OptionalAttr<I64Attr>:$classes));
  let results = (outs AnyTensor:$y);
}

def Brew_RunCountOp : Brew_LayerOp<"run_count"> {
  let summary = "`first` plus the number of the program's previous runs, a vector of one element";
  let description = [{
    brew-lower-recurrent replaces it by state that persists from run to run.
  }];
  let arguments = !con((ins), layerAttributes, (ins I64Attr:$first));
  let results = (outs AnyTensor:$count);
}

def Brew_LSTMUnitOp : Brew_LayerOp<"lstm_unit", [Pure, Gradient, LoopNests, RoundablePartly]> {
  let summary = "One time step of an LSTM's cell";
  let description = [{
    x [1, N, 4 D] contains the inputs of the input gate i, the forget gate f, the output gate o
    and the cell input g. Then c = f c_prev + i g and h = o tanh(c), where i and o are sigmoids,
    f = cont * sigmoid and g = tanh. i, f, o, g and tanh(c) are saved for the backward pass.
  }];
  let arguments = !con((ins AnyTensor:$c_prev, AnyTensor:$x, AnyTensor:$cont),
    layerAttributes);
  let results = (outs AnyTensor:$c, AnyTensor:$h, AnyTensor:$i, AnyTensor:$f,
    AnyTensor:$o, AnyTensor:$g, AnyTensor:$tanh_c);
}

def Brew_LSTMStepsOp : Brew_LayerOp<"lstm_steps", [Pure, Gradient, Loop, RoundablePartly]> {
  let summary = "All time steps of an LSTM";
  let description = [{
    `gates` [T, N, 4 D] contains the contribution of the sequence to the inputs of the gates, in
    the order of brew.lstm_unit. Step t computes

        hm = cont[t] h,    x = gates[t] + hm wh^T,    c, h = lstm_unit(c, x, cont[t])

    from h and c, at first `h0` and `c0` [1, N, D]. y[t] is h after step t; `h_last` and `c_last`
    are the values after the last step. Saved for the backward pass, each [T, N, D]: hm and c
    before the step, the gates i, f, o, g, and tanh(c).
  }];
  let arguments = !con((ins AnyTensor:$gates, AnyTensor:$cont, AnyTensor:$h0, AnyTensor:$c0,
    AnyTensor:$wh), layerAttributes, LSTMAttributes);
  let results = (outs AnyTensor:$y, AnyTensor:$h_last, AnyTensor:$c_last, AnyTensor:$hm,
    AnyTensor:$c_before, AnyTensor:$i, AnyTensor:$f, AnyTensor:$o, AnyTensor:$g,
    AnyTensor:$tanh_c);
}

def Brew_LSTMStepsBackwardOp : Brew_Op<"lstm_steps_backward",
    [Pure, Loop, RoundablePartly, AttrSizedOperandSegments]> {
  let summary = "Gradients of all time steps of an LSTM";
  let description = [{
    The gradients of y, h_last and c_last that exist, and values of brew.lstm_steps. The results
    are the gradients of its operands. The gradient of wh is a product of `dgates` and hm.
  }];
  let arguments = !con((ins Optional<AnyTensor>:$dy, Optional<AnyTensor>:$dh_last,
    Optional<AnyTensor>:$dc_last, AnyTensor:$cont, AnyTensor:$wh, AnyTensor:$c_before,
    AnyTensor:$i, AnyTensor:$f, AnyTensor:$o, AnyTensor:$g, AnyTensor:$tanh_c, StrAttr:$layer),
    LSTMAttributes);
  let results = (outs AnyTensor:$dgates, AnyTensor:$dh0, AnyTensor:$dc0);
  let assemblyFormat = [{
    $layer (`dy` $dy^)? (`dh_last` $dh_last^)? (`dc_last` $dc_last^)? `(` $cont `,` $wh `,`
    $c_before `,` $i `,` $f `,` $o `,` $g `,` $tanh_c `)` attr-dict `:`
    functional-type(operands, results)
  }];
}

def Brew_RNNStepsOp : Brew_LayerOp<"rnn_steps", [Pure, Gradient, Loop, RoundablePartly]> {
  let summary = "The hidden state of all time steps of an RNN";
  let description = [{
    `x` [T, N, D] contains the contribution of the sequence. Step t computes

        hm = cont[t] h,    h = tanh(x[t] + hm wh^T)

    from h, at first `h0` [1, N, D]. y[t] is h after step t, `h_last` the value after the last
    step. hm is saved for the backward pass.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$cont, AnyTensor:$h0, AnyTensor:$wh),
    layerAttributes);
  let results = (outs AnyTensor:$y, AnyTensor:$h_last, AnyTensor:$hm);
}

def Brew_RNNStepsBackwardOp : Brew_Op<"rnn_steps_backward",
    [Pure, Loop, RoundablePartly, AttrSizedOperandSegments]> {
  let summary = "Gradients of the hidden state of all time steps of an RNN";
  let description = [{
    The gradients of y and h_last that exist, and values of brew.rnn_steps. The results are the
    gradients of its operands. The gradient of wh is a product of `dx` and hm.
  }];
  let arguments = (ins Optional<AnyTensor>:$dy, Optional<AnyTensor>:$dh_last,
    AnyTensor:$cont, AnyTensor:$wh, AnyTensor:$y, StrAttr:$layer);
  let results = (outs AnyTensor:$dx, AnyTensor:$dh0);
  let assemblyFormat = [{
    $layer (`dy` $dy^)? (`dh_last` $dh_last^)? `(` $cont `,` $wh `,` $y `)` attr-dict `:`
    functional-type(operands, results)
  }];
}

#endif // BREW_LAYERS_RECURRENT_TD
