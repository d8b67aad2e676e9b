//===- LayerSettings.h - Settings of layers, read and checked ---*- C++ -*-===//
//
// Reads what the settings blocks of the supported layer types mean, with
// Caffe's defaults and checks. Only what can be said without shapes is checked
// here; the rest is up to shape inference.
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

/// "layer 'ip1' (InnerProduct): ", which starts what is said about a layer.
LayerText layerPrefix(const caffe::LayerParameter &layer);

/// The window of a pooling; each pair is height, width.
struct Window {
  std::array<int64_t, 2> kernel{}, stride{1, 1}, pad{};
};

/// The window of a convolution as it is written: per quantity one value for all
/// spatial dimensions, one for each, or none for the default.
struct ConvolutionWindow {
  std::vector<int64_t> kernel, stride, pad, dilation;
  /// Padding at the end of each dimension; empty where it is `pad`.
  std::vector<int64_t> padEnd;
};

/// Both numbers of a pair, as attributes of operations have them.
inline std::vector<int64_t> listOf(const std::array<int64_t, 2> &pair) {
  return {pair.begin(), pair.end()};
}

/// The window of a checked layer with Caffe's convolution settings.
ConvolutionWindow
convolutionWindow(const caffe::ConvolutionParameter &settings);
/// Whether padding is given per side (pad_l ... pad_b).
bool hasSidePads(const caffe::ConvolutionParameter &settings);
/// The window of a checked Pooling layer; no kernel if it is global.
Window poolingWindow(const caffe::PoolingParameter &settings);
/// The normalization of a loss, from today's field or the older `normalize`.
caffe::LossParameter::NormalizationMode
normalizationOf(const caffe::LossParameter &settings);

/// Reports where a layer breaks the rules of its type: the number of bottoms
/// and tops, settings that only other types read.
void checkAgainstKind(const caffe::LayerParameter &layer, const LayerKind &kind,
                      const SourceMap &locations, Diagnostics &diagnostics);

/// Reports what is wrong with the settings of a layer of a supported type, at
/// the fields that say it. What is only not supported yet is an error with
/// `toCompile`.
void checkSettings(const caffe::LayerParameter &layer, const LayerKind &kind,
                   const SourceMap &locations, Diagnostics &diagnostics,
                   bool toCompile = true);

} // namespace brew::prototxt
