//===- NumberText.cpp - Locale-independent text of numbers ----------------===//
#include "support/NumberText.h"

#include <charconv>
#include <limits>
#include <type_traits>

namespace brew {
namespace {

/// Buffer size: sufficient for the largest double without an exponent.
constexpr std::size_t kLongest = 512;

std::string write(double value, std::chars_format form, int precision) {
  char text[kLongest];
  const auto end =
      std::to_chars(text, text + sizeof text, value, form, precision).ptr;
  return {text, end};
}

template <typename Number> std::optional<Number> read(std::string_view text) {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-')
      return std::nullopt;
  }
  Number value = 0;
  const char *end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (stopped != end || error == std::errc::invalid_argument)
    return std::nullopt;
  if (error == std::errc())
    return value;
  // Out of range: too large or too small.
  if constexpr (std::is_same_v<Number, float>)
    if (const std::optional<double> wide = read<double>(text))
      return static_cast<float>(*wide);
  return std::nullopt;
}

template <typename Number> std::string shortest(Number value, int least) {
  constexpr int most = std::numeric_limits<Number>::max_digits10;
  for (int digits = least; digits < most; ++digits)
    if (const std::string text =
            write(value, std::chars_format::general, digits);
        read<Number>(text) == value)
      return text;
  return write(value, std::chars_format::general, most);
}

} // namespace

std::string fixedText(double value, int decimals) {
  return write(value, std::chars_format::fixed, decimals);
}

std::string shortestText(double value, int least) {
  return shortest(value, least);
}

std::string shortestText(float value, int least) {
  return shortest(value, least);
}

std::optional<double> parseDouble(std::string_view text) {
  return read<double>(text);
}

std::optional<float> parseFloat(std::string_view text) {
  return read<float>(text);
}

std::optional<int> parseInteger(std::string_view text) {
  return read<int>(text);
}

} // namespace brew
