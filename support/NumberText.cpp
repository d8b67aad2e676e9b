//===- NumberText.cpp - Locale-independent text of numbers ----------------===//
#include "support/NumberText.h"

#include <charconv>
#include <limits>
#include <type_traits>

namespace brew {
namespace {

/// Size of a buffer that is sufficient for the largest double without an
/// exponent.
constexpr std::size_t kMaxLength = 512;

std::string formatNumber(double value, std::chars_format form, int precision) {
  char text[kMaxLength];
  const auto end =
      std::to_chars(text, text + sizeof text, value, form, precision).ptr;
  return {text, end};
}

template <typename Number>
std::optional<Number> parseNumber(std::string_view text) {
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
  // The number is too large or too small for the type.
  if constexpr (std::is_same_v<Number, float>)
    if (const std::optional<double> inDouble = parseNumber<double>(text))
      return static_cast<float>(*inDouble);
  return std::nullopt;
}

template <typename Number>
std::string formatShortest(Number value, int minDigits) {
  constexpr int maxDigits = std::numeric_limits<Number>::max_digits10;
  for (int digits = minDigits; digits < maxDigits; ++digits)
    if (const std::string text =
            formatNumber(value, std::chars_format::general, digits);
        parseNumber<Number>(text) == value)
      return text;
  return formatNumber(value, std::chars_format::general, maxDigits);
}

} // namespace

std::string fixedText(double value, int decimals) {
  return formatNumber(value, std::chars_format::fixed, decimals);
}

std::string shortestText(double value, int minDigits) {
  return formatShortest(value, minDigits);
}

std::string shortestText(float value, int minDigits) {
  return formatShortest(value, minDigits);
}

std::optional<double> parseDouble(std::string_view text) {
  return parseNumber<double>(text);
}

std::optional<float> parseFloat(std::string_view text) {
  return parseNumber<float>(text);
}

std::optional<int> parseInteger(std::string_view text) {
  return parseNumber<int>(text);
}

} // namespace brew
