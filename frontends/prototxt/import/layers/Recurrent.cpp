//===- Recurrent.cpp - Recurrent layers -----------------------------------===//

#include "dialects/Brew/layers/recurrent/Recurrent.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/reduction/Reduction.h"
#include "dialects/Brew/layers/shape/Arrays.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "frontends/prototxt/import/LayerBuilder.h"

using namespace brew::dialects;
using mlir::Value;

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
/// sequences, or caffe_ocr's, whose blobs have two. LSTMOp has the same
/// parameters in another order.
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

/// Creates a vector with as many elements as dimension `axis` of the bottom,
/// for its shape alone.
Value vectorAlong(LayerBuilder &l, int axis) {
  auto column = l.firstOp<ReshapeOp>(0, l.bottoms[0]); // at least axis + 2 axes
  column.setDims({1});
  column.setAxis(-1);
  column.setNumAxes(0);
  column.setPropagateDownAttr(l.b.getDenseBoolArrayAttr({false}));
  auto leading = l.middleOp<ReductionOp>(column.getY());
  leading.setKind(ReductionKind::Sum);
  leading.setAxis(axis + 1);
  leading.setCoeff(llvm::APFloat(1.0F));
  Value sums = leading.getY();
  for (int i = 0; i < axis; ++i) {
    auto op = l.middleOp<AxisSumOp>(sums);
    op.setAxis(i);
    sums = op.getY();
  }
  auto vector = l.middleOp<ReshapeOp>(sums);
  vector.setDims({-1});
  vector.setAxis(0);
  vector.setNumAxes(-1);
  return vector.getY();
}

/// Builds indicators of sequences that start at the first step of each batch.
void buildContinuationIndicator(LayerBuilder &l) {
  const caffe::ContinuationIndicatorParameter &settings =
      l.layer.continuation_indicator_param();
  const int64_t steps = settings.time_step(), streams = settings.batch_size();
  if (!l.bottoms.empty()) {
    std::vector<double> column(steps, 1);
    column[0] = 0;
    l.lastOp<BroadcastOp>(0, {l.constant("indicators", {steps, 1}, column),
                              vectorAlong(l, settings.axis())});
    return;
  }
  std::vector<double> values(steps * streams, 1);
  std::fill_n(values.begin(), streams, 0);
  l.lastOp<SplitOp>(0, l.constant("indicators", {steps, streams}, values));
}

/// Sets the window, with a value for each of the two dimensions.
template <typename Op>
void setWindow(Op op, const caffe::LSTMConvolutionParameter &settings) {
  auto dims = [](const auto &values, int64_t unset) {
    llvm::SmallVector<int64_t> result(values.begin(), values.end());
    if (result.empty())
      result.push_back(unset);
    result.resize(2, result.back());
    return result;
  };
  op.setGroup(settings.group());
  op.setKernel(dims(settings.kernel_size(), 1));
  op.setStride(dims(settings.stride(), 1));
  op.setPad(dims(settings.pad(), 0));
  op.setDilation(dims(settings.dilation(), 1));
}

/// Builds the convolution of the sequence for all time steps, and the layer,
/// which reads its result.
void buildConvLstm(LayerBuilder &l) {
  const caffe::LSTMDebugParameter &debug = l.layer.lstm_debug_param();
  const auto &hidden = convLstmSettings(l.layer, /*ofHiddenState=*/true);
  llvm::SmallVector<mlir::Value> operands(l.bottoms);
  llvm::append_range(operands, l.params.drop_front(debug.ignore_x() ? 0 : 1));
  if (!debug.ignore_x()) {
    auto gates = l.firstOp<ConvolutionOp>(0, {l.bottoms[0], l.params[0]});
    gates.setNumOutput(4 * int64_t(hidden.num_output()));
    gates.setAxis(2);
    setWindow(gates, convLstmSettings(l.layer, /*ofHiddenState=*/false));
    operands.push_back(gates.getY());
  }
  auto op = ConvLSTMOp::create(l.b, l.loc, l.types(l.topCount()), operands);
  l.setTops(op, 0, l.topCount());
  op.setPropagateDownAttr(l.propagateDown());
  op.setNumOutput(hidden.num_output());
  op.setExposeHidden(l.layer.recurrent_param().expose_hidden());
  op.setIgnoreX(debug.ignore_x());
  setWindow(op, hidden);
  if (debug.disable_hadamard())
    return;
  op.setPeepholeAxis(debug.axis_hadamard());
  op.setPeepholeAxes(debug.num_axes_hadamard());
}

void buildMeanField(LayerBuilder &l) {
  const caffe::MultiStageMeanfieldParameter &settings =
      l.layer.multi_stage_meanfield_param();
  auto op = l.layerOp<MeanFieldOp>();
  op.setIterations(settings.num_iterations());
  op.setSettings(layerText(l.layer));
  op.setTestPhase(l.phase != caffe::TRAIN);
  for (const std::string &text : {settings.spatial_filter_weights_str(),
                                  settings.bilateral_filter_weights_str()})
    if (!text.empty())
      op.setClasses(classWeights(text).size());
}

void buildLstmUnit(LayerBuilder &l) { l.layerOp<LSTMUnitOp>(l.types(5)); }

} // namespace

BuildFunctions recurrentFunctions() {
  return {{"ContinuationIndicator", buildContinuationIndicator},
          {"ConvLSTM", buildConvLstm},
          {"LSTM", buildRecurrent<LSTMOp>},
          {"LSTMUnit", buildLstmUnit},
          {"Lstm", buildLstm},
          {"LstmSimple", buildLstm},
          {"MultiStageMeanfield", buildMeanField},
          {"RNN", buildRecurrent<RNNOp>}};
}

} // namespace brew::prototxt
