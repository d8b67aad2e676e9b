//===- Recurrent.cpp - Recurrent layers -----------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/LayerBuilder.h"
#include "support/NumberText.h"

#include <climits>

namespace brew::prototxt {

namespace {

constexpr int kLstmStates = 2, kRnnStates = 1;

/// Returns the number of bottoms without the optional static input. A layer
/// with one more bottom has a static input.
int bottomCountWithoutStatic(const caffe::LayerParameter &layer, int states) {
  return 2 + (layer.recurrent_param().expose_hidden() ? states : 0);
}

bool hasStatic(const caffe::LayerParameter &layer, int states) {
  return layer.bottom_size() > bottomCountWithoutStatic(layer, states);
}

void checkRecurrent(LayerChecker &c, int states) {
  const caffe::RecurrentParameter &settings = c.layer.recurrent_param();
  c.count(settings, "num_output");
  const int bottoms = bottomCountWithoutStatic(c.layer, states);
  const int tops = 1 + (settings.expose_hidden() ? states : 0);
  if (c.layer.bottom_size() < bottoms || c.layer.bottom_size() > bottoms + 1)
    c.error(c.layer, "bottom",
            std::string(settings.expose_hidden() ? "with" : "without") +
                " expose_hidden takes " + countWithNoun(bottoms, "bottom") +
                ", or one more for a static input, but has " +
                std::to_string(c.layer.bottom_size()));
  if (c.layer.top_size() != tops)
    c.error(c.layer, "top",
            std::string(settings.expose_hidden() ? "with" : "without") +
                " expose_hidden gives " + countWithNoun(tops, "top") +
                ", but has " + std::to_string(c.layer.top_size()));
  if (settings.debug_info())
    c.warn(settings, "debug_info",
           "debug_info has no effect: the steps are compiled into the net");
}

void checkLstm(LayerChecker &c) { checkRecurrent(c, kLstmStates); }
void checkRnn(LayerChecker &c) { checkRecurrent(c, kRnnStates); }

/// Returns weights and bias of the sequence, weights of the static input, and
/// weights of the hidden state, in the order of Caffe's unrolled net.
std::vector<ParamBlob> recurrentParams(const caffe::LayerParameter &layer,
                                       int states) {
  const caffe::RecurrentParameter &settings = layer.recurrent_param();
  std::vector<ParamBlob> params = {{&settings.weight_filler()},
                                   {&settings.bias_filler()}};
  if (hasStatic(layer, states))
    params.push_back({&settings.weight_filler()});
  params.push_back({&settings.weight_filler()});
  return params;
}

std::vector<ParamBlob> lstmParams(const caffe::LayerParameter &layer) {
  return recurrentParams(layer, kLstmStates);
}

/// Returns the parameters of recurrentParams(), then the weights and bias from
/// the hidden state to the output.
std::vector<ParamBlob> rnnParams(const caffe::LayerParameter &layer) {
  std::vector<ParamBlob> params = recurrentParams(layer, kRnnStates);
  params.push_back({&layer.recurrent_param().weight_filler()});
  params.push_back({&layer.recurrent_param().bias_filler()});
  return params;
}

void buildRecurrent(LayerBuilder &l, const char *name, int states) {
  const caffe::RecurrentParameter &settings = l.layer.recurrent_param();
  l.layerOp(name)
      .integer("num_output", settings.num_output())
      .flag("has_static", hasStatic(l.layer, states))
      .flag("expose_hidden", settings.expose_hidden());
}

void buildLstm(LayerBuilder &l) { buildRecurrent(l, "lstm", kLstmStates); }
void buildRnn(LayerBuilder &l) { buildRecurrent(l, "rnn", kRnnStates); }

void buildLstmUnit(LayerBuilder &l) { l.layerOp("lstm_unit").addResults(5); }

} // namespace

LayerRows recurrentLayers() {
  return {
      LayerKind{"LSTM", 2, 5, 1, 3, "recurrent_param"}
          .withoutForcedGradient(1) // the starts of sequences
          .checkedBy(checkLstm)
          .withParams(lstmParams)
          .differentiatingFrozen()
          .ignoringBlobs()
          .builtBy(buildLstm),
      LayerKind{"LSTMUnit", 3, 3, 2, 2}
          .withoutForcedGradient(2) // the starts of sequences
          .builtBy(buildLstmUnit),
      LayerKind{"RNN", 2, 4, 1, 2, "recurrent_param"}
          .withoutForcedGradient(1) // the starts of sequences
          .checkedBy(checkRnn)
          .withParams(rnnParams)
          .differentiatingFrozen()
          .ignoringBlobs()
          .builtBy(buildRnn),
  };
}

} // namespace brew::prototxt
