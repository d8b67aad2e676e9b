//===- Recurrent.td - LSTM, RNN and their cell -------------*- tablegen -*-===//
#ifndef BREW_LAYERS_RECURRENT_TD
#define BREW_LAYERS_RECURRENT_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

class Brew_RecurrentOp<string mnemonic> : Brew_LayerOp<mnemonic, [ItemCounts]> {
  let description = [{
    `inputs` are, in order: the sequence x [T, N, ...]; the continuation indicators cont [T, N],
    which are 0 where a new sequence starts; with `has_static`, an input [N, ...] for all time
    steps; with `expose_hidden`, the state before the first step; then the parameters.
    brew-unroll-recurrent replaces the layer by T copies of its cell.
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$inputs), layerAttributes,
    (ins I64Attr:$num_output, UnitAttr:$has_static, UnitAttr:$expose_hidden));
  let results = (outs Variadic<AnyTensor>:$outputs);
}

def Brew_LSTMOp : Brew_RecurrentOp<"lstm"> {
  let summary = "Long short-term memory over a sequence";
}

def Brew_RNNOp : Brew_RecurrentOp<"rnn"> {
  let summary = "Recurrent layer with one hidden tanh and one output tanh";
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

#endif // BREW_LAYERS_RECURRENT_TD
