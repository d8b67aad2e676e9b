//===- NumberText.h - Locale-independent text of numbers --------*- C++ -*-===//
//
// A program that uses the libraries may have set a locale with decimal commas.
// C's functions, and LLVM's formatv, then write and expect commas.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace brew {

/// Returns the text with `decimals` digits after the point, as `%.*f` in the
/// locale "C".
std::string fixedText(double value, int decimals);

/// Returns the text with the fewest significant digits, at least `least`, that
/// parse as the same number of the type, as `%.*g` in the locale "C".
std::string shortestText(double value, int least = 1);
std::string shortestText(float value, int least = 1);

/// Parses `text`, all of which must be a decimal number, optionally with sign
/// and exponent. A number too small for the type is 0, one too large infinite.
std::optional<double> parseDouble(std::string_view text);
std::optional<float> parseFloat(std::string_view text);
/// Parses `text`, all of which must be a decimal integer, optionally with sign.
std::optional<int> parseInteger(std::string_view text);

} // namespace brew
