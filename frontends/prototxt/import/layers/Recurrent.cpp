//===- Recurrent.cpp - Recurrent layers -----------------------------------===//

#include "dialects/Brew/layers/recurrent/Recurrent.h"
#include "frontends/prototxt/import/LayerBuilder.h"

using namespace brew::dialects;

namespace brew::prototxt {

namespace {

template <typename Op> void buildRecurrent(LayerBuilder &l) {
  const caffe::RecurrentParameter &settings = l.layer.recurrent_param();
  auto op = l.layerOp<Op>();
  op.setNumOutput(settings.num_output());
  op.setHasStatic(hasStaticInput(l.layer));
  op.setExposeHidden(settings.expose_hidden());
}

void buildLstmUnit(LayerBuilder &l) { l.layerOp<LSTMUnitOp>(l.types(5)); }

} // namespace

BuildFunctions recurrentFunctions() {
  return {{"LSTM", buildRecurrent<LSTMOp>},
          {"LSTMUnit", buildLstmUnit},
          {"RNN", buildRecurrent<RNNOp>}};
}

} // namespace brew::prototxt
