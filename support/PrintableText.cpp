//===- PrintableText.cpp - Text without control characters ----------------===//
#include "support/PrintableText.h"

namespace brew {
namespace {

/// Returns the number of bytes of the control character at the beginning of
/// `text`; 0 if there is none.
std::size_t controlBytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if ((first < 0x20 && first != '\n' && first != '\t') || first == 0x7f)
    return 1;
  // In UTF-8, the second set of control characters (0x80 to 0x9f).
  const bool isSecondSet = first == 0xc2 && text.size() > 1 &&
                           static_cast<unsigned char>(text[1]) >= 0x80 &&
                           static_cast<unsigned char>(text[1]) <= 0x9f;
  return isSecondSet ? 2 : 0;
}

} // namespace

std::string printableText(std::string_view text) {
  static const char digits[] = "0123456789abcdef";
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = controlBytes(text);
    if (bytes) {
      const auto code = static_cast<unsigned char>(text[bytes - 1]);
      result += {'\\', 'x', digits[code >> 4], digits[code & 15]};
    } else {
      result += text[0];
    }
    text.remove_prefix(bytes ? bytes : 1);
  }
  return result;
}

} // namespace brew
