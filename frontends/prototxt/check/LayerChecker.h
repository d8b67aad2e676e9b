//===- LayerChecker.h - Checks of one layer's settings ------------*- C++ -*-===//
//
// What the checks of layer types (layers/*.cpp) share: errors at the fields
// that are wrong, and rules that several types have.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/check/LayerSettings.h"

namespace brew::prototxt {

/// Most that a window's size, padding or stride may be: sums of them stay far
/// from what an index of 32 bits holds, as no image's are.
inline constexpr std::uint32_t kMaxWindowSetting = 1 << 24;

class LayerChecker {
public:
  using Message = google::protobuf::Message;

  LayerChecker(const caffe::LayerParameter &layer, const SourceMap &locations,
             Diagnostics &diagnostics, bool toCompile = true)
      : layer(layer), locations(locations), diagnostics(diagnostics),
        toCompile(toCompile) {}

  const caffe::LayerParameter &layer;
  const SourceMap &locations;

  /// An error at a field of `block`, or where the layer starts if it has none.
  Diagnostic &error(const Message &block, const std::string &field,
                    const std::string &text, int index = 0);
  /// An error at byte `offset` of a string field.
  Diagnostic &errorInString(const Message &block, const std::string &field,
                            size_t offset, const std::string &text);
  /// Something that is right, but has no code: an error, unless the net is only
  /// looked at.
  void unsupported(const Message &block, const std::string &field,
                   const std::string &text, int index = 0);
  /// A required field of `block` that is not there; nothing where an unknown
  /// field that has been reported was meant to be it.
  void reportMissing(const Message &block, const std::string &field);
  void warn(const Message &block, const std::string &field,
            const std::string &text, int index = 0);

  /// A required count: given, at least 1 and within Caffe's int.
  void count(const Message &block, const std::string &field);
  /// A quantity per dimension, which convolutions have as a list `field` and
  /// both have as `PREFIX_h` and `PREFIX_w`.
  void perDimension(const Message &block, const std::string &field,
             const std::string &prefix, bool mustBePositive);
  void filler(const caffe::FillerParameter &filler);
  void shape(const caffe::BlobShape &shape);
  void transform();
  /// A resize_param that has to say a size.
  void resize(const caffe::ResizeParameter &resize);

private:
  bool isMisspelt(const Message &block, const std::string &field) const;

  Diagnostics &diagnostics;
  const bool toCompile;
};

} // namespace brew::prototxt
