//===- Recurrent.cpp - Recurrent layers -----------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "support/NumberText.h"

#include <climits>

namespace brew::prototxt {

namespace {

void checkRecurrent(LayerChecker &c) {
  const caffe::RecurrentParameter &settings = c.layer.recurrent_param();
  c.count(settings, "num_output");
  const int states = exposedStates(c.layer);
  const int bottoms = 2 + states, tops = 1 + states;
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

/// Returns weights and bias of the sequence, weights of the static input, and
/// weights of the hidden state, in the order of Caffe's unrolled net. An RNN
/// also has weights and bias from the hidden state to the output.
std::vector<ParamBlob> recurrentParams(const caffe::LayerParameter &layer) {
  const caffe::RecurrentParameter &settings = layer.recurrent_param();
  std::vector<ParamBlob> params = {{&settings.weight_filler()},
                                   {&settings.bias_filler()}};
  if (hasStaticInput(layer))
    params.push_back({&settings.weight_filler()});
  params.push_back({&settings.weight_filler()});
  if (layer.type() == "RNN") {
    params.push_back({&settings.weight_filler()});
    params.push_back({&settings.bias_filler()});
  }
  return params;
}

} // namespace

LayerRows recurrentLayers() {
  return {
      LayerKind{"LSTM", 2, 5, 1, 3, "recurrent_param"}
          .withoutForcedGradient(1) // the starts of sequences
          .checkedBy(checkRecurrent)
          .withParams(recurrentParams)
          .differentiatingFrozen()
          .ignoringBlobs(),
      LayerKind{"LSTMUnit", 3, 3, 2, 2}.withoutForcedGradient(
          2), // the starts of sequences
      LayerKind{"RNN", 2, 4, 1, 2, "recurrent_param"}
          .withoutForcedGradient(1) // the starts of sequences
          .checkedBy(checkRecurrent)
          .withParams(recurrentParams)
          .differentiatingFrozen()
          .ignoringBlobs(),
  };
}

} // namespace brew::prototxt
