//===- InvalidUtf8.cpp - Detection of invalid UTF-8 -----------------------===//
#include "support/InvalidUtf8.h"

namespace brew {
namespace {

/// Returns the length in bytes of the character at the start of `text`,
/// or 0 if it is invalid.
std::size_t characterLength(std::string_view text) {
  auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80)
    return 1;
  const std::size_t length = lead < 0xC2   ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  // Limits of the second byte, which exclude overlong encodings, surrogates and
  // code points beyond Unicode.
  const unsigned minSecond = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned maxSecond = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (std::size_t i = 1; i < length; ++i)
    if (byte(i) < (i == 1 ? minSecond : 0x80) ||
        byte(i) > (i == 1 ? maxSecond : 0xBF))
      return 0;
  return length;
}

} // namespace

std::optional<std::size_t> findInvalidUtf8(std::string_view text) {
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t length = characterLength(text.substr(position));
    if (length == 0)
      return position;
    position += length;
  }
  return std::nullopt;
}

} // namespace brew
