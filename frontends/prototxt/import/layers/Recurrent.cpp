//===- Recurrent.cpp - Recurrent layers -----------------------------------===//

#include "dialects/Brew/layers/recurrent/Recurrent.h"
#include "dialects/Brew/layers/shape/Shape.h"
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

/// Sets the attributes of an operation that is a layer with lstm_param.
void setLstm(LSTMOp op, const LayerBuilder &l) {
  const caffe::LSTMParameter &settings = lstmSettings(l.layer);
  op.setNumOutput(settings.num_output());
  op.setCompleteSequences(l.bottoms.size() == 1);
  if (settings.clipping_threshold() > 0)
    op.setGradientLimit(llvm::APFloat(settings.clipping_threshold()));
}

/// Builds caffe-lstm's layer, whose blobs have one dimension for time steps and
/// sequences, or caffe_ocr's, whose blobs have two. Their parameters are in
/// another order than those of LSTMOp.
void buildLstm(LayerBuilder &l) {
  const caffe::LSTMParameter &settings = lstmSettings(l.layer);
  if (hasStepAxis(l.layer)) {
    auto op = l.lastOp<LSTMOp>(
        0, {l.bottoms[0], l.params[0], l.params[2], l.params[1]});
    op.setPropagateDownAttr(l.propagateDown(0));
    return setLstm(op, l);
  }
  auto splitSteps = [&](int bottom, int64_t numAxes) {
    auto op = l.firstOp<ReshapeOp>(bottom, l.bottoms[bottom]);
    op.setDims({-1, static_cast<int64_t>(settings.batch_size())});
    op.setAxis(0);
    op.setNumAxes(numAxes);
    return op.getY();
  };
  llvm::SmallVector<mlir::Value> operands = {splitSteps(0, 1)};
  if (l.bottoms.size() > 1)
    operands.push_back(splitSteps(1, -1));
  operands.append({l.params[0], l.params[2], l.params[1]});
  auto lstm = l.middleOp<LSTMOp>(operands);
  setLstm(lstm, l);
  auto join = l.lastOp<ReshapeOp>(0, lstm.getOutputs()[0]);
  join.setDims({-1});
  join.setAxis(0);
  join.setNumAxes(2);
}

/// Builds indicators of sequences that start at the first step of each batch.
void buildContinuationIndicator(LayerBuilder &l) {
  const caffe::ContinuationIndicatorParameter &settings =
      l.layer.continuation_indicator_param();
  const int64_t steps = settings.time_step(), streams = settings.batch_size();
  std::vector<double> values(steps * streams, 1);
  std::fill_n(values.begin(), streams, 0);
  l.lastOp<SplitOp>(0, l.constant("indicators", {steps, streams}, values));
}

void buildLstmUnit(LayerBuilder &l) { l.layerOp<LSTMUnitOp>(l.types(5)); }

} // namespace

BuildFunctions recurrentFunctions() {
  return {{"ContinuationIndicator", buildContinuationIndicator},
          {"LSTM", buildRecurrent<LSTMOp>},
          {"LSTMUnit", buildLstmUnit},
          {"Lstm", buildLstm},
          {"LstmSimple", buildLstm},
          {"RNN", buildRecurrent<RNNOp>}};
}

} // namespace brew::prototxt
