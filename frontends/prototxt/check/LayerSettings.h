//===- LayerSettings.h - Reading and checks of layer settings ---*- C++ -*-===//
//
// Reads the settings of supported layer types, with Caffe's defaults and
// checks. Constraints that depend on shapes are checked by shape inference.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"
#include "frontends/prototxt/check/LayerKinds.h"
#include "frontends/prototxt/text/SourceMap.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::prototxt {

/// Returns "layer 'ip1' (InnerProduct): ", the prefix of messages about a
/// layer.
LayerText layerPrefix(const caffe::LayerParameter &layer);

/// The window of a pooling layer; each pair is height, width.
struct Window {
  std::array<int64_t, 2> kernel{}, stride{1, 1}, pad{};
};

/// The window of a convolution as written in the prototxt: for each quantity,
/// one value for all spatial dimensions, one value for each, or no value for
/// the default.
struct ConvolutionWindow {
  std::vector<int64_t> kernel, stride, pad, dilation;
  /// Padding at the end of each dimension; empty if it equals `pad`.
  std::vector<int64_t> padEnd;
};

/// Returns the window of a checked layer with Caffe's convolution settings.
ConvolutionWindow
convolutionWindow(const caffe::ConvolutionParameter &settings);
/// Returns whether each side has its own padding (pad_l ... pad_b).
bool hasSidePads(const caffe::ConvolutionParameter &settings);
/// Returns the window of a checked Pooling layer; without a kernel if the
/// pooling is global.
Window poolingWindow(const caffe::PoolingParameter &settings);
/// Returns the normalization of a loss, from the current field or the older
/// `normalize`.
caffe::LossParameter::NormalizationMode
normalizationOf(const caffe::LossParameter &settings);

/// Returns whether the base of an Exp or Log layer is not e.
template <typename Settings> bool hasBase(const Settings &settings) {
  return settings.base() != -1;
}

/// Returns whether the layer is NVIDIA Caffe's BatchNorm, which has a scale and
/// a bias.
bool isNvidiaBatchNorm(const caffe::BatchNormParameter &settings);
/// Returns whether the layer is PSPNet's BN. Two forks have a layer of this
/// name: SegNet's normalizes by the batch, in training and testing, or not at
/// all; PSPNet's has running statistics.
bool isPspNetBN(const caffe::BNParameter &settings);

/// Returns whether the layer is SSD's Normalize, which has norm_param and a
/// learned scale. caffe-windows' layer of this name has normalize_param or no
/// settings.
bool isSsdNormalize(const caffe::LayerParameter &layer);
/// Returns whether the layer is Synopsys Caffe's LayerNorm, which has eps or
/// elementwise_affine. MyCaffe's layer of this name has epsilon or no settings.
bool isSynopsysLayerNorm(const caffe::LayerNormParameter &settings);
/// Returns the settings of an Lstm or LstmSimple.
const caffe::LSTMParameter &lstmSettings(const caffe::LayerParameter &layer);
/// Returns whether the layer is caffe_ocr's Lstm, whose bottom has dimensions
/// for time steps and sequences. It has one bottom and no batch_size.
bool hasStepAxis(const caffe::LayerParameter &layer);

/// Returns whether the layer is Cascade R-CNN's ROIAlign, which samples the
/// corners of the cells (roi_pooling_param). Mask R-CNN's layer of the same
/// name averages points of each cell (roi_align_param).
bool hasCornerRois(const caffe::LayerParameter &layer);
/// Returns whether the settings are complete, so that a DetectionOutput layer
/// writes files.
bool writesResultFiles(const caffe::SaveOutputParameter &files);

/// Returns ConvLSTM's settings of the convolution of the sequence, or of the
/// hidden state.
const caffe::LSTMConvolutionParameter &
convLstmSettings(const caffe::LayerParameter &layer, bool ofHiddenState);
/// Returns MultiStageMeanfield's initial weights of the classes (`text`), which
/// are separated by spaces. Empty if one of them is not a number.
std::vector<float> classWeights(const std::string &text);

/// Returns the number of states of a recurrent layer that are bottoms and tops
/// (expose_hidden).
int exposedStates(const caffe::LayerParameter &layer);
/// Returns whether an LSTM or RNN has the optional static input.
bool hasStaticInput(const caffe::LayerParameter &layer);

/// Returns the factor of the height (i = 0) or the width (i = 1) of an Upsample
/// with a mask.
int64_t unpoolingScale(const caffe::UpsampleParameter &settings, int i);

/// Reports violations of the rules of a layer's type: the number of bottoms and
/// tops, and settings that only other types read.
void checkAgainstKind(const caffe::LayerParameter &layer, const LayerKind &kind,
                      const SourceMap &locations, Diagnostics &diagnostics);

/// Reports errors in the settings of a layer of a supported type, at their
/// fields. An unsupported setting is an error with `forCompilation`, otherwise
/// a warning.
void checkSettings(const caffe::LayerParameter &layer, const LayerKind &kind,
                   const SourceMap &locations, Diagnostics &diagnostics,
                   bool forCompilation = true);

} // namespace brew::prototxt
