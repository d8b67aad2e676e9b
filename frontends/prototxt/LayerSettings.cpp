//===- LayerSettings.cpp - What settings of layers mean -------------------===//

#include "frontends/prototxt/LayerSettings.h"

namespace brew::prototxt {

std::string layerWords(const caffe::LayerParameter &layer) {
  return "layer '" + layer.name() + "'" +
         (layer.type().empty() ? "" : " (" + layer.type() + ")") + ": ";
}

namespace {

/// One value for both dimensions or one for each.
template <typename List>
void takePair(const List &list, std::array<int64_t, 2> &into) {
  if (list.size() > 0)
    into = {list.Get(0), list.Get(list.size() > 1 ? 1 : 0)};
}

} // namespace

Window convolutionWindow(const caffe::ConvolutionParameter &settings) {
  Window window;
  takePair(settings.kernel_size(), window.kernel);
  takePair(settings.stride(), window.stride);
  takePair(settings.pad(), window.pad);
  takePair(settings.dilation(), window.dilation);
  if (settings.has_kernel_h() || settings.has_kernel_w())
    window.kernel = {settings.kernel_h(), settings.kernel_w()};
  if (settings.has_stride_h() || settings.has_stride_w())
    window.stride = {settings.stride_h(), settings.stride_w()};
  if (settings.has_pad_h() || settings.has_pad_w())
    window.pad = {settings.pad_h(), settings.pad_w()};
  return window;
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

} // namespace brew::prototxt
