//===- LayerChecker.h - Checks of one layer's settings ----------*- C++ -*-===//
//
// Helpers for the checks of layer types (layers/*.cpp): they report errors at
// the offending fields and check rules that several types share.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/check/LayerSettings.h"

#include <initializer_list>

namespace brew::prototxt {

/// Maximum of a window's size, padding and stride. It exceeds any image, and
/// sums of a few such settings fit in 32 bits.
inline constexpr std::uint32_t kMaxWindowSetting = 1 << 24;

/// Checks the settings of one layer.
class LayerChecker {
public:
  using Message = google::protobuf::Message;

  LayerChecker(const caffe::LayerParameter &layer, const SourceMap &locations,
               Diagnostics &diagnostics, bool forCompilation = true)
      : layer(layer), locations(locations), diagnostics(diagnostics),
        forCompilation(forCompilation) {}

  const caffe::LayerParameter &layer;
  const SourceMap &locations;

  /// Reports an error at a field of `block`, or at the start of the layer if
  /// the text does not have the field.
  Diagnostic &error(const Message &block, const std::string &field,
                    const std::string &text, int index = 0);
  /// Reports an error at byte `offset` of a string field.
  Diagnostic &errorInString(const Message &block, const std::string &field,
                            size_t offset, const std::string &text);
  /// Reports a valid but unsupported setting: an error with `forCompilation`,
  /// otherwise a warning.
  void unsupported(const Message &block, const std::string &field,
                   const std::string &text, int index = 0);
  /// Reports that a required field of `block` is missing, unless an unknown
  /// field that has been reported is probably a misspelling of it.
  void reportMissing(const Message &block, const std::string &field);
  void warn(const Message &block, const std::string &field,
            const std::string &text, int index = 0);

  /// Reports each of `fields` that is set as an error: "FIELD TEXT".
  void refuse(const Message &block, std::initializer_list<const char *> fields,
              const std::string &text);

  /// Checks a required count: present, at least 1 and within Caffe's int.
  void count(const Message &block, const std::string &field);
  /// Checks a setting that is given by `field`, which is a list in
  /// convolutions, or per dimension by `PREFIX_h` and `PREFIX_w`. An empty
  /// `prefix` means that only `field` exists.
  void perDimension(const Message &block, const std::string &field,
                    const std::string &prefix, bool mustBePositive);
  void filler(const caffe::FillerParameter &filler);
  void shape(const caffe::BlobShape &shape);
  void transform();
  /// Checks a resize_param, in which height and width are required.
  void resize(const caffe::ResizeParameter &resize);

private:
  bool isMisspelt(const Message &block, const std::string &field) const;

  Diagnostics &diagnostics;
  const bool forCompilation;
};

} // namespace brew::prototxt
