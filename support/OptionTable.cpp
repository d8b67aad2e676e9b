//===- OptionTable.cpp - Checks of option values --------------------------===//
#include "support/OptionTable.h"

#include "support/Error.h"
#include "support/NumberText.h"

#include <cerrno>
#include <cstdlib>
#include <optional>

namespace brew {
namespace {

/// Parses a decimal, octal (0...) or hexadecimal (0x...) integer.
std::optional<std::int64_t> integerIn(const std::string &text) {
  if (text.find_first_not_of("+-0123456789abcdefABCDEFxX") != text.npos ||
      text.empty())
    return std::nullopt;
  char *end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), &end, 0);
  if (errno || *end || end == text.c_str())
    return std::nullopt;
  return value;
}

/// Checks a number. Throws Error (Usage).
void checkInteger(const OptionInfo &option, const std::string &text) {
  const std::optional<std::int64_t> value = integerIn(text);
  if (!value)
    throw usageError("--" + std::string(option.name) + ": '" + text +
                     "' is no integer");
  if (*value >= option.minimum && *value <= option.maximum)
    return;
  const std::string prefix = "--" + std::string(option.name) + " must be ";
  // The limit of a type would only distract.
  if (*value < option.minimum &&
      option.maximum >= std::numeric_limits<std::int32_t>::max())
    throw usageError(prefix + "at least " + std::to_string(option.minimum));
  throw usageError(prefix + "from " + std::to_string(option.minimum) + " to " +
                   std::to_string(option.maximum));
}

/// Throws Error (Usage) unless `value` is valid.
void checkValue(const OptionInfo &option, const std::string &value) {
  const std::string prefix = "--" + std::string(option.name) + ": '" + value;
  switch (option.kind) {
  case OptionKind::Flag:
    if (value != "true" && value != "false" && value != "1" && value != "0")
      throw usageError(prefix + "' is neither true nor false");
    break;
  case OptionKind::Integer:
    checkInteger(option, value);
    break;
  case OptionKind::Real:
    if (!parseDouble(value))
      throw usageError(prefix + "' is no number");
    break;
  case OptionKind::Integers:
    for (std::size_t begin = 0; begin < value.size();) {
      const std::size_t end = std::min(value.find(',', begin), value.size());
      checkInteger(option, value.substr(begin, end - begin));
      begin = end + 1;
    }
    break;
  case OptionKind::Text:
  case OptionKind::Choice:
  case OptionKind::List:
    break;
  }
  if (option.constraint && !option.meetsConstraint(value))
    throw usageError("--" + std::string(option.name) + " must " +
                     option.constraint);
  if (option.values.empty())
    return;
  std::string allowedNames;
  for (const OptionValue &allowed : option.values) {
    if (value == allowed.name)
      return;
    allowedNames +=
        (allowedNames.empty() ? "" : ", ") + std::string(allowed.name);
  }
  if (option.noun)
    throw usageError("--" + std::string(option.name) + ": unknown " +
                     option.noun + " '" + value + "' (" + allowedNames + ")");
  throw usageError(prefix + "' is not one of " + allowedNames);
}

} // namespace

std::vector<std::string> OptionInfo::checkedValues(const char *value) const {
  if (!value && !impliedText)
    throw usageError("--" + std::string(name) + " needs a value");
  std::vector<std::string> texts;
  const std::string text = value ? value : "";
  if (isCommaSeparated && value)
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      texts.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  else
    texts.push_back(text);
  for (std::string &item : texts) {
    if (item.empty() && impliedText)
      item = impliedText;
    checkValue(*this, item);
  }
  return texts;
}

std::int64_t optionInteger(const std::string &value) {
  return integerIn(value).value_or(0);
}

double optionReal(const std::string &value) {
  return parseDouble(value).value_or(0);
}

} // namespace brew
