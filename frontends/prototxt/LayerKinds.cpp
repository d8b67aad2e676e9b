//===- LayerKinds.cpp - Caffe's layer types -------------------------------===//

#include "frontends/prototxt/LayerKinds.h"

#include "formats/Suggest.h"
#include "frontends/prototxt/ForkFields.h"

#include <strings.h>

namespace brew::prototxt {

namespace {

constexpr LayerKind source(const char *type, int minTops, int maxTops,
                           const char *settings) {
  return {type, 0, 0, minTops, maxTops, settings};
}
/// One bottom, one top.
constexpr LayerKind plain(const char *type, const char *settings) {
  return {type, 1, 1, 1, 1, settings};
}
/// One bottom, one top, elementwise.
constexpr LayerKind neuron(const char *type, const char *settings = "") {
  return {type, 1, 1, 1, 1, settings, false, false, true};
}
constexpr LayerKind loss(const char *type, int minBottoms, int maxBottoms,
                         int maxTops, const char *settings) {
  return {type, minBottoms, maxBottoms, 1, maxTops, settings, false, true};
}
constexpr LayerKind convolution(const char *type) {
  return {type, 1, -1, 1, -1, "convolution_param", true};
}

constexpr LayerKind kinds[] = {
    neuron("AbsVal"),
    {"Accuracy", 2, 2, 1, 2, "accuracy_param"},
    plain("ArgMax", "argmax_param"),
    neuron("BNLL"),
    {"BatchNorm", 1, 1, 1, 1, "batch_norm_param", false, false, true},
    {"BatchReindex", 2, 2, 1, 1},
    {"Bias", 1, 2, 1, 1, "bias_param", false, false, true},
    neuron("Clip", "clip_param"),
    {"Concat", 1, -1, 1, 1, "concat_param"},
    loss("ContrastiveLoss", 3, 3, 1, "contrastive_loss_param loss_param"),
    convolution("Convolution"),
    {"Crop", 2, 2, 1, 1, "crop_param"},
    source("Data", 1, 2, "data_param transform_param"),
    convolution("Deconvolution"),
    neuron("Dropout", "dropout_param"),
    source("DummyData", 1, -1, "dummy_data_param"),
    neuron("ELU", "elu_param"),
    {"Eltwise", 2, -1, 1, 1, "eltwise_param", false, false, true},
    plain("Embed", "embed_param"),
    loss("EuclideanLoss", 2, 2, 1, "loss_param"),
    neuron("Exp", "exp_param"),
    {"Filter", 2, -1, 1, -1},
    plain("Flatten", "flatten_param"),
    source("HDF5Data", 1, -1, "hdf5_data_param"),
    {"HDF5Output", 2, 2, 0, 0, "hdf5_output_param"},
    loss("HingeLoss", 2, 2, 1, "hinge_loss_param loss_param"),
    plain("Im2col", "convolution_param"),
    source("ImageData", 2, 2, "image_data_param transform_param"),
    loss("InfogainLoss", 2, 3, 2,
         "infogain_loss_param loss_param softmax_param"),
    plain("InnerProduct", "inner_product_param"),
    source("Input", 1, -1, "input_param"),
    {"LRN", 1, 1, 1, 1, "lrn_param", false, false, true},
    {"LSTM", 2, -1, 1, -1, "recurrent_param"},
    {"LSTMUnit", 3, 3, 2, 2},
    neuron("Log", "log_param"),
    plain("MVN", "mvn_param"),
    source("MemoryData", 2, 2, "memory_data_param transform_param"),
    loss("MultinomialLogisticLoss", 2, 2, 1, "loss_param"),
    neuron("PReLU", "prelu_param"),
    {"Parameter", 0, 0, 1, 1, "parameter_param"},
    {"Pooling", 1, 1, 1, 2, "pooling_param"},
    neuron("Power", "power_param"),
    {"Python", -1, -1, -1, -1, "python_param"},
    {"RNN", 2, -1, 1, -1, "recurrent_param"},
    neuron("ReLU", "relu_param"),
    plain("Reduction", "reduction_param"),
    plain("Reshape", "reshape_param"),
    plain("SPP", "spp_param"),
    {"Scale", 1, 2, 1, 1, "scale_param", false, false, true},
    neuron("Sigmoid", "sigmoid_param"),
    loss("SigmoidCrossEntropyLoss", 2, 2, 1, "loss_param sigmoid_param"),
    {"Silence", 1, -1, 0, 0},
    {"Slice", 1, 1, 1, -1, "slice_param"},
    {"Softmax", 1, 1, 1, 1, "softmax_param", false, false, true},
    loss("SoftmaxWithLoss", 2, 2, 2, "loss_param softmax_param"),
    {"Split", 1, 1, 1, -1},
    neuron("Swish", "swish_param"),
    neuron("TanH", "tanh_param"),
    neuron("Threshold", "threshold_param"),
    plain("Tile", "tile_param"),
    source("WindowData", 2, 2, "window_data_param transform_param"),
};

} // namespace

bool LayerKind::reads(const std::string &block) const {
  const std::string padded = " " + std::string(settings) + " ";
  return padded.find(" " + block + " ") != std::string::npos;
}

const LayerKind *findLayerKind(const std::string &type) {
  for (const LayerKind &kind : kinds)
    if (type == kind.type)
      return &kind;
  return nullptr;
}

std::string unknownTypeText(const std::string &type) {
  if (type.empty())
    return "the layer has no type";
  std::string text = "unknown layer type '" + type + "'";
  if (const char *fork = forkOwningLayerType(type))
    return text + "; it belongs to " + fork + ", not to BVLC Caffe 1.0";
  // A name that differs in case only is always the one meant.
  std::vector<std::string> names;
  for (const LayerKind &kind : kinds)
    names.insert(strcasecmp(kind.type, type.c_str()) ? names.end()
                                                     : names.begin(),
                 kind.type);
  return text + didYouMean(type, names);
}

} // namespace brew::prototxt
