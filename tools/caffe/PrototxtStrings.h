//===- PrototxtStrings.h - Text searches in a prototxt ----------*- C++ -*-===//
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace brew::caffe_command {

struct PrototxtString {
  std::string field; ///< the last identifier before the string
  std::string value; ///< without quotes and escapes, adjacent ones concatenated
};

/// Returns all string literals of a prototxt outside comments. Accepts any
/// text.
std::vector<PrototxtString> stringsIn(std::string_view text);

/// Returns whether a prototxt may have an ImageData layer with a batch size of
/// 1, which is the default. Accepts any text.
bool hasImagesInBatchesOfOne(std::string_view text);

} // namespace brew::caffe_command
