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

void checkLstm(LayerChecker &c) {
  const caffe::LSTMParameter &settings = lstmSettings(c.layer);
  if (c.layer.type() == "Lstm" && c.layer.has_recurrent_param() &&
      !c.layer.has_lstm_param()) {
    c.unsupported(c.layer, "recurrent_param",
                  "MyCaffe's Lstm, which has a recurrent_param, is Caffe's "
                  "LSTM; write type: \"LSTM\"");
    return;
  }
  c.count(settings, "num_output");
  c.perDimension(settings, "batch_size", "", true);
  c.filler(settings.weight_filler());
  c.filler(settings.bias_filler());
}

/// Returns the weights of the sequence and of the hidden state, and the bias.
std::vector<ParamBlob> lstmParams(const caffe::LayerParameter &layer) {
  const caffe::LSTMParameter &settings = lstmSettings(layer);
  return {{&settings.weight_filler()},
          {&settings.weight_filler()},
          {&settings.bias_filler()}};
}

void checkContinuationIndicator(LayerChecker &c) {
  const caffe::ContinuationIndicatorParameter &settings =
      c.layer.continuation_indicator_param();
  c.count(settings, "time_step");
  c.count(settings, "batch_size");
}

/// Checks the loss of crnn.caffe, or those of caffe_ocr and caffe-ctc, which
/// take the sizes from their bottom.
void checkCtcLoss(LayerChecker &c) {
  const caffe::CtcLossParameter &settings = c.layer.ctc_loss_param();
  const std::string &type = c.layer.type();
  if (type == "CtcLoss") {
    c.count(settings, "alphabet_size");
    c.count(settings, "time_step");
  } else {
    c.refuse(settings, {"alphabet_size", "time_step"},
             "is a setting of CtcLoss, not of " + type);
  }
  if (type != "CTCLoss")
    c.refuse(settings,
             {"output_delay", "preprocess_collapse_repeated",
              "ctc_merge_repeated", "loss_calculation_t"},
             "is a setting of CTCLoss, not of " + type);
  if (settings.output_delay() != 0)
    c.unsupported(settings, "output_delay", "output_delay is not supported");
  if (settings.preprocess_collapse_repeated())
    c.unsupported(settings, "preprocess_collapse_repeated",
                  "preprocess_collapse_repeated is not supported");
  if (!settings.ctc_merge_repeated())
    c.unsupported(settings, "ctc_merge_repeated",
                  "ctc_merge_repeated: false is not supported");
  if (settings.loss_calculation_t() != 0)
    c.warn(settings, "loss_calculation_t",
           "loss_calculation_t has no effect, as in caffe-ctc");
  if (type == "CTCLoss" && settings.blank_label() < 0)
    return; // the last label
  if (settings.blank_label() < 0 ||
      (settings.alphabet_size() > 0 &&
       settings.blank_label() >= int64_t{settings.alphabet_size()}))
    c.error(settings, "blank_label", "blank_label is not in the alphabet");
}

void checkCtcDecoder(LayerChecker &c) {
  if (c.layer.bottom_size() == 1 && c.layer.top_size() > 1)
    c.error(c.layer, "top",
            "gives 1 top, the decoded labels, if the scores are its only "
            "bottom",
            1);
  if (c.layer.bottom_size() == 2 && c.layer.top_size() == 3)
    c.error(c.layer, "top",
            "a third top needs a third bottom, the labels, which the accuracy "
            "is computed from",
            2);
}

} // namespace

LayerRows recurrentLayers() {
  return {
      sourceKind("ContinuationIndicator", 1, 1, "continuation_indicator_param")
          .checkedBy(checkContinuationIndicator),
      // caffe-ctc and, without sequence indicators, caffe_ocr.
      LayerKind{"CTCGreedyDecoder", 1, 3, 1, 3, "ctc_decoder_param"}.checkedBy(
          checkCtcDecoder),
      lossKind("CTCLoss", 3, 3, 1, "ctc_loss_param")
          .withoutForcedGradient(1, 2)
          .checkedBy(checkCtcLoss),
      // crnn.caffe.
      lossKind("CtcLoss", 2, 2, 1, "ctc_loss_param").checkedBy(checkCtcLoss),
      LayerKind{"LabelsequenceAccuracy", 2, 2, 1, 1,
                "labelsequence_accuracy_param"},
      LayerKind{"LSTM", 2, 5, 1, 3, "recurrent_param"}
          .withoutForcedGradient(1) // the starts of sequences
          .checkedBy(checkRecurrent)
          .withParams(recurrentParams)
          .differentiatingFrozen()
          .ignoringBlobs(),
      LayerKind{"LSTMUnit", 3, 3, 2, 2}.withoutForcedGradient(
          2), // the starts of sequences
      // caffe_ocr. The forms with sequence indicators or lengths have more
      // bottoms.
      lossKind("WarpCTCLoss", 2, 2, 1, "ctc_loss_param")
          .checkedBy(checkCtcLoss),
      // caffe-lstm (junhyukoh). The second bottom marks the starts of
      // sequences.
      LayerKind{"Lstm", 1, 2, 1, 1, "lstm_param"}
          .withoutForcedGradient(1)
          .refusing("recurrent_param")
          .checkedBy(checkLstm)
          .withParams(lstmParams),
      // MyCaffe's name of the same layer.
      LayerKind{"LstmSimple", 1, 2, 1, 1, "lstm_simple_param"}
          .withoutForcedGradient(1)
          .checkedBy(checkLstm)
          .withParams(lstmParams),
      LayerKind{"RNN", 2, 4, 1, 2, "recurrent_param"}
          .withoutForcedGradient(1) // the starts of sequences
          .checkedBy(checkRecurrent)
          .withParams(recurrentParams)
          .differentiatingFrozen()
          .ignoringBlobs(),
  };
}

} // namespace brew::prototxt
