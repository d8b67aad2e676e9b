//===- LayerSettings.cpp - Reading and checks of layer settings -----------===//

#include "frontends/prototxt/check/LayerSettings.h"

#include <sstream>

namespace brew::prototxt {

LayerText layerPrefix(const caffe::LayerParameter &layer) {
  return {layer.name(), layer.type()};
}

ConvolutionWindow
convolutionWindow(const caffe::ConvolutionParameter &settings) {
  auto listOf = [](const auto &values) {
    return std::vector<int64_t>(values.begin(), values.end());
  };
  ConvolutionWindow window = {listOf(settings.kernel_size()),
                              listOf(settings.stride()),
                              listOf(settings.pad()),
                              listOf(settings.dilation()),
                              {}};
  if (settings.has_kernel_h() || settings.has_kernel_w())
    window.kernel = {settings.kernel_h(), settings.kernel_w()};
  if (settings.has_stride_h() || settings.has_stride_w())
    window.stride = {settings.stride_h(), settings.stride_w()};
  if (settings.has_pad_h() || settings.has_pad_w())
    window.pad = {settings.pad_h(), settings.pad_w()};
  if (hasSidePads(settings)) {
    window.pad = {settings.pad_t(), settings.pad_l()};
    window.padEnd = {settings.pad_b(), settings.pad_r()};
  }
  return window;
}

bool hasSidePads(const caffe::ConvolutionParameter &settings) {
  return settings.has_pad_l() || settings.has_pad_r() || settings.has_pad_t() ||
         settings.has_pad_b();
}

Window poolingWindow(const caffe::PoolingParameter &settings) {
  Window window;
  window.kernel = {settings.kernel_size(), settings.kernel_size()};
  window.stride = {settings.stride(), settings.stride()};
  window.pad = {settings.pad(), settings.pad()};
  if (settings.has_kernel_h() || settings.has_kernel_w())
    window.kernel = {settings.kernel_h(), settings.kernel_w()};
  if (settings.has_stride_h() || settings.has_stride_w())
    window.stride = {settings.stride_h(), settings.stride_w()};
  if (settings.has_pad_h() || settings.has_pad_w())
    window.pad = {settings.pad_h(), settings.pad_w()};
  return window;
}

caffe::LossParameter::NormalizationMode
normalizationOf(const caffe::LossParameter &settings) {
  if (!settings.has_normalization() && settings.has_normalize())
    return settings.normalize() ? caffe::LossParameter::VALID
                                : caffe::LossParameter::BATCH_SIZE;
  return settings.normalization();
}

bool isNvidiaBatchNorm(const caffe::BatchNormParameter &settings) {
  return settings.scale_bias() || settings.has_scale_filler() ||
         settings.has_bias_filler();
}

bool isPspNetBN(const caffe::BNParameter &settings) {
  return settings.has_slope_filler() || settings.has_bias_filler() ||
         settings.has_momentum() || settings.has_frozen();
}

bool isSsdNormalize(const caffe::LayerParameter &layer) {
  return layer.has_norm_param();
}

bool isSynopsysLayerNorm(const caffe::LayerNormParameter &settings) {
  return settings.has_eps() || settings.has_elementwise_affine();
}

const caffe::LSTMParameter &lstmSettings(const caffe::LayerParameter &layer) {
  return layer.type() == "LstmSimple" ? layer.lstm_simple_param()
                                      : layer.lstm_param();
}

bool hasStepAxis(const caffe::LayerParameter &layer) {
  return layer.type() == "Lstm" && layer.bottom_size() == 1 &&
         !layer.lstm_param().has_batch_size();
}

bool hasCornerRois(const caffe::LayerParameter &layer) {
  return !layer.has_roi_align_param() && layer.has_roi_pooling_param();
}

bool writesResultFiles(const caffe::SaveOutputParameter &files) {
  return !files.output_directory().empty() && !files.label_map_file().empty() &&
         !files.name_size_file().empty();
}

const caffe::LSTMConvolutionParameter &
convLstmSettings(const caffe::LayerParameter &layer, bool ofHiddenState) {
  const auto &settings = layer.lstm_conv_param();
  for (const caffe::LSTMConvolutionParameter &convolution : settings)
    if (convolution.type() != (ofHiddenState ? "input" : "hidden"))
      return convolution;
  return caffe::LSTMConvolutionParameter::default_instance();
}

std::vector<float> classWeights(const std::string &text) {
  std::vector<float> weights;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    std::istringstream number(word);
    float weight = 0;
    if (!(number >> weight) || !number.eof())
      return {};
    weights.push_back(weight);
  }
  return weights;
}

int exposedStates(const caffe::LayerParameter &layer) {
  const int states = layer.type() == "RNN" ? 1 : 2;
  return layer.recurrent_param().expose_hidden() ? states : 0;
}

bool hasStaticInput(const caffe::LayerParameter &layer) {
  return layer.bottom_size() > 2 + exposedStates(layer);
}

int64_t unpoolingScale(const caffe::UpsampleParameter &settings, int i) {
  if (settings.has_scale_h())
    return i == 0 ? settings.scale_h() : settings.scale_w();
  return settings.has_scale() ? settings.scale() : 2;
}

} // namespace brew::prototxt
