//===- NumberText.h - Numbers as text, whatever the locale ------*- C++ -*-===//
//
// A program that holds the libraries may have set a locale in which numbers
// have commas; C's functions, and LLVM's formatv, then write and expect these.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace brew {

/// With so many digits behind the point, as `%.*f` in the locale "C".
std::string fixedText(double value, int decimals);

/// The fewest significant digits, from `least` on, that read back as the same
/// number of the type, as `%.*g` in the locale "C".
std::string shortestText(double value, int least = 1);
std::string shortestText(float value, int least = 1);

/// The number that is all of `text`: decimal, perhaps with a sign and an
/// exponent. What is too small for a float is 0, what is too large infinite.
std::optional<double> parseDouble(std::string_view text);
std::optional<float> parseFloat(std::string_view text);
/// The integer that is all of `text`, decimal, perhaps with a sign.
std::optional<int> parseInteger(std::string_view text);

} // namespace brew
