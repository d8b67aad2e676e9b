//===- NumberText.h - Locale-independent text of numbers --------*- C++ -*-===//
//
// A program that uses the libraries may have set a locale with decimal commas.
// C's functions, and LLVM's formatv, then write and expect commas.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace brew {

/// Returns the number's text with `decimals` digits after the point, as `%.*f`
/// in the locale "C".
std::string fixedText(double value, int decimals);

/// Returns the text with the fewest significant digits, at least
/// `minDigits`, that parses as the same number, as `%.*g` in the locale "C".
std::string shortestText(double value, int minDigits = 1);
std::string shortestText(float value, int minDigits = 1);

/// Returns "1 bottom" or "2 bottoms".
inline std::string countWithNoun(std::size_t count, const std::string &noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// Parses `text`, which must be a decimal number, optionally with sign and
/// exponent, and nothing else. Returns nullopt for other text and for a number
/// that a double cannot represent; parseFloat() converts a number beyond the
/// range of float to 0 or infinity.
std::optional<double> parseDouble(std::string_view text);
std::optional<float> parseFloat(std::string_view text);
/// Parses `text`, which must be a decimal integer, optionally with sign, and
/// nothing else. Returns nullopt otherwise, or if the number does not fit.
std::optional<int> parseInteger(std::string_view text);

} // namespace brew
