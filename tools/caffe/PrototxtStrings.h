//===- PrototxtStrings.h - The strings of a prototxt ------------*- C++ -*-===//
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace brew::caffe_command {

struct PrototxtString {
  std::string field; ///< the last name before it
  std::string value; ///< without quotes and escapes, adjacent literals joined
};

/// All strings of a prototxt outside of comments. Never fails: a text that is
/// no prototxt has other strings, or none.
std::vector<PrototxtString> stringsIn(std::string_view text);

} // namespace brew::caffe_command
