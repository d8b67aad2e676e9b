//===- Recurrent.cpp - Recurrent layers -----------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/ConvolutionChecks.h"
#include "frontends/prototxt/layers/DefaultFiller.h"
#include "support/NumberText.h"

#include <cmath>
#include <set>

namespace brew::prototxt {

namespace {

/// Checks the numbers of bottoms and tops, which expose_hidden increases, and
/// debug_info. `optionalBottoms` is the number of static inputs.
void checkStates(LayerChecker &c, int optionalBottoms) {
  const caffe::RecurrentParameter &settings = c.layer.recurrent_param();
  const int states = exposedStates(c.layer);
  const int bottoms = 2 + states, tops = 1 + states;
  if (c.layer.bottom_size() < bottoms ||
      c.layer.bottom_size() > bottoms + optionalBottoms)
    c.error(c.layer, "bottom",
            std::string(settings.expose_hidden() ? "with" : "without") +
                " expose_hidden takes " + countWithNoun(bottoms, "bottom") +
                (optionalBottoms ? ", or one more for a static input" : "") +
                ", but has " + std::to_string(c.layer.bottom_size()));
  if (c.layer.top_size() != tops)
    c.error(c.layer, "top",
            std::string(settings.expose_hidden() ? "with" : "without") +
                " expose_hidden gives " + countWithNoun(tops, "top") +
                ", but has " + std::to_string(c.layer.top_size()));
  if (settings.debug_info())
    c.warn(settings, "debug_info",
           "debug_info has no effect: the steps are compiled into the net");
}

void checkRecurrent(LayerChecker &c) {
  c.count(c.layer.recurrent_param(), "num_output");
  checkStates(c, /*optionalBottoms=*/1);
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

/// Checks that the convolutions of a ConvLSTM are one of both blobs, or one of
/// each.
void checkConvLstmTypes(LayerChecker &c) {
  const auto &convolutions = c.layer.lstm_conv_param();
  std::set<std::string> types;
  for (const auto &convolution : convolutions) {
    const std::string &type = convolution.type();
    if (type != "all" && type != "input" && type != "hidden")
      c.error(convolution, "type",
              "type is '" + type + "'; it must be all, input or hidden");
    types.insert(type);
  }
  const bool ignoresInput = c.layer.lstm_debug_param().ignore_x();
  if (convolutions.empty())
    c.reportMissing(c.layer, "lstm_conv_param");
  else if (types != std::set<std::string>{"all"} &&
           types != std::set<std::string>{"hidden", "input"} &&
           !(ignoresInput && types == std::set<std::string>{"hidden"}))
    c.error(c.layer, "lstm_conv_param",
            "takes one lstm_conv_param of type all, or one each of the types "
            "input and hidden");
  else if (convolutions.size() > static_cast<int>(types.size()))
    c.error(c.layer, "lstm_conv_param", "has two lstm_conv_param of one type",
            1);
  else if (convolutions.size() == 2 &&
           convolutions[0].num_output() != convolutions[1].num_output())
    c.error(convolutions[1], "num_output",
            "num_output is " + std::to_string(convolutions[1].num_output()) +
                ", but the other convolution has " +
                std::to_string(convolutions[0].num_output()));
}

void checkConvLstmWindow(LayerChecker &c,
                         const caffe::LSTMConvolutionParameter &settings) {
  checkOutputs(c, settings);
  if (settings.kernel_size_size() == 0)
    c.reportMissing(settings, "kernel_size");
  for (const char *field : {"kernel_size", "stride", "pad", "dilation"}) {
    c.perDimension(settings, field, "", std::string(field) != "pad");
    if (c.locations.find(settings, field, 2))
      c.error(settings, field,
              std::string(field) +
                  " takes one value, or one each for height and width",
              2);
  }
  if (settings.type() == "input")
    for (const char *field : {"bias_term", "bias_filler"}) {
      if (c.locations.find(settings, field))
        c.warn(settings, field,
               std::string(field) +
                   " has no effect: the convolution of type hidden has the "
                   "bias");
    }
  else if (!settings.bias_term())
    c.unsupported(settings, "bias_term", "ConvLSTM always has a bias");
}

void checkConvLstm(LayerChecker &c) {
  c.refuse(c.layer.recurrent_param(),
           {"num_output", "weight_filler", "bias_filler"},
           "is not a setting of ConvLSTM; lstm_conv_param has it");
  checkStates(c, /*optionalBottoms=*/0);
  checkConvLstmTypes(c);
  for (const auto &convolution : c.layer.lstm_conv_param())
    checkConvLstmWindow(c, convolution);
  const caffe::LSTMDebugParameter &debug = c.layer.lstm_debug_param();
  if (debug.expose_size())
    c.unsupported(debug, "expose",
                  "blobs of single time steps cannot be exposed; expose_hidden "
                  "exposes those of the last one");
  if (debug.disable_hadamard())
    c.refuse(debug, {"axis_hadamard", "num_axes_hadamard"},
             "has no effect with disable_hadamard");
}

/// Returns the parameters in the order of the fork's unrolled net. Its layers
/// DummyForward have one element each, which nothing reads.
std::vector<ParamBlob> convLstmParams(const caffe::LayerParameter &layer) {
  const caffe::LSTMDebugParameter &debug = layer.lstm_debug_param();
  const ParamBlob placeholder = {nullptr, /*isStatistic=*/true,
                                 /*setsMultipliers=*/true};
  const auto &hidden = convLstmSettings(layer, /*ofHiddenState=*/true);
  std::vector<ParamBlob> params;
  if (!debug.ignore_x())
    params.push_back({&convLstmSettings(layer, false).weight_filler()});
  params.insert(params.end(), 2, placeholder);
  params.push_back({&hidden.weight_filler()});
  params.push_back({&hidden.bias_filler()});
  const caffe::FillerParameter unset;
  if (!debug.disable_hadamard())
    params.insert(params.end(), 3, {fillerOr(false, unset, 1)});
  params.insert(params.end(), 2, placeholder);
  return params;
}

void checkMeanField(LayerChecker &c) {
  constexpr uint32_t kMaxIterations = 1024; // each becomes several operations
  const caffe::MultiStageMeanfieldParameter &settings =
      c.layer.multi_stage_meanfield_param();
  if (settings.num_iterations() < 2 ||
      settings.num_iterations() > kMaxIterations)
    c.error(settings, "num_iterations",
            "num_iterations must be from 2 to " +
                std::to_string(kMaxIterations));
  for (const char *field : {"theta_alpha", "theta_beta", "theta_gamma"}) {
    const auto *descriptor = settings.GetDescriptor()->FindFieldByName(field);
    const float value =
        settings.GetReflection()->GetFloat(settings, descriptor);
    if (!(value > 0) || std::isinf(value))
      c.error(settings, field, std::string(field) + " must be positive");
  }
  if (c.layer.propagate_down_size() > 2 && c.layer.propagate_down(2))
    c.error(c.layer, "propagate_down", "no gradient can reach the image", 2);
  const std::string &spatial = settings.spatial_filter_weights_str(),
                    &bilateral = settings.bilateral_filter_weights_str();
  auto check = [&](const std::string &text, const std::string &field,
                   const char *ofAllClasses) {
    if (text.empty())
      return;
    if (classWeights(text).empty())
      c.error(settings, field,
              field + " must be numbers that are separated by spaces");
    c.refuse(settings, {ofAllClasses},
             "cannot be given together with " + field);
  };
  check(spatial, "spatial_filter_weights_str", "spatial_filter_weight");
  check(bilateral, "bilateral_filter_weights_str", "bilateral_filter_weight");
  const size_t counts[] = {classWeights(spatial).size(),
                           classWeights(bilateral).size()};
  if (counts[0] && counts[1] && counts[0] != counts[1])
    c.error(settings, "bilateral_filter_weights_str",
            "bilateral_filter_weights_str has weights of " +
                std::to_string(counts[1]) +
                " classes, but spatial_filter_weights_str of " +
                std::to_string(counts[0]));
}

/// Returns a filler of a diagonal matrix with these elements, or this one.
const caffe::FillerParameter *diagonalFiller(const std::vector<float> &elements,
                                             float element) {
  caffe::FillerParameter filler;
  filler.set_type("diagonal");
  filler.mutable_diagonal()->Add(elements.begin(), elements.end());
  if (elements.empty())
    filler.add_diagonal(element);
  return cachedFiller(filler);
}

/// Returns the weights of the spatial and of the bilateral kernel, and the
/// compatibility of classes, which starts as Potts' model.
std::vector<ParamBlob> meanFieldParams(const caffe::LayerParameter &layer) {
  const caffe::MultiStageMeanfieldParameter &settings =
      layer.multi_stage_meanfield_param();
  return {{diagonalFiller(classWeights(settings.spatial_filter_weights_str()),
                          settings.spatial_filter_weight())},
          {diagonalFiller(classWeights(settings.bilateral_filter_weights_str()),
                          settings.bilateral_filter_weight())},
          {diagonalFiller({}, -1)}};
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
  if (!c.layer.bottom_size()) {
    c.count(settings, "batch_size");
    c.refuse(settings, {"axis"}, "needs a bottom");
    return;
  }
  c.refuse(settings, {"batch_size"},
           "is a setting of a layer without bottoms; with one, axis is the "
           "dimension that is the batch size");
  constexpr int kMaxAxis = 31;
  if (settings.axis() < 0 || settings.axis() > kMaxAxis)
    c.error(settings, "axis", "axis must be from 0 to 31");
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
      LayerKind{"ContinuationIndicator", 0, 1, 1, 1,
                "continuation_indicator_param"}
          .differentiatingBottoms(0)
          .withoutForcedGradient(0)
          .checkedBy(checkContinuationIndicator),
      // caffe-ctc and, without sequence indicators, caffe_ocr.
      LayerKind{"CTCGreedyDecoder", 1, 3, 1, 3, "ctc_decoder_param"}.checkedBy(
          checkCtcDecoder),
      lossKind("CTCLoss", 3, 3, 1, "ctc_loss_param")
          .withoutForcedGradient(1, 2)
          .checkedBy(checkCtcLoss),
      // agethen's ConvLSTM-for-Caffe.
      LayerKind{"ConvLSTM", 2, 4, 1, 3,
                "recurrent_param lstm_conv_param lstm_debug_param"}
          .withoutForcedGradient(1) // the starts of sequences
          .checkedBy(checkConvLstm)
          .withParams(convLstmParams)
          .differentiatingFrozen()
          .ignoringBlobs(),
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
      // CRF-RNN, whose time steps are the iterations of the inference.
      LayerKind{"MultiStageMeanfield", 3, 3, 1, 1,
                "multi_stage_meanfield_param"}
          .withoutForcedGradient(2) // the image
          .differentiatingBottoms(2)
          .checkedBy(checkMeanField)
          .withParams(meanFieldParams),
      LayerKind{"RNN", 2, 4, 1, 2, "recurrent_param"}
          .withoutForcedGradient(1) // the starts of sequences
          .checkedBy(checkRecurrent)
          .withParams(recurrentParams)
          .differentiatingFrozen()
          .ignoringBlobs(),
  };
}

} // namespace brew::prototxt
