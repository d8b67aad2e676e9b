//===- PrototxtStrings.cpp - String literals of a prototxt ----------------===//
#include "tools/caffe/PrototxtStrings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace brew::caffe_command {
namespace {

/// Reads the characters of one literal.
class Literal {
public:
  /// `at`: position of the opening quotation mark.
  Literal(std::string_view text, size_t at) : text(text), at(at) {}

  /// Reads to the closing quotation mark or the end of the line.
  std::string read() {
    const char mark = text[at++];
    std::string value;
    while (at < text.size() && text[at] != '\n') {
      const char c = text[at++];
      if (c == mark)
        break;
      value += c == '\\' && at < text.size() ? escape() : c;
    }
    return value;
  }

  /// The position after the literal.
  size_t end() const { return at; }

private:
  char escape() {
    if (const std::optional<char> octal = number(at, 3, 8))
      return *octal;
    const char c = text[at++];
    if (c == 'x' || c == 'X')
      return number(at, 2, 16).value_or(c);
    constexpr std::string_view names = "abfnrtv", values = "\a\b\f\n\r\t\v";
    const size_t found = names.find(c);
    return found == names.npos ? c : values[found];
  }

  /// Parses a byte of at most `digits` digits at `from` and advances past it.
  std::optional<char> number(size_t from, size_t digits, int base) {
    unsigned value = 0;
    const char *begin = text.data() + from;
    const char *last = begin + std::min(digits, text.size() - from);
    const auto [end, error] = std::from_chars(begin, last, value, base);
    if (error != std::errc())
      return std::nullopt;
    at = from + static_cast<size_t>(end - begin);
    return static_cast<char>(value);
  }

  std::string_view text;
  size_t at;
};

bool isWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

} // namespace

std::vector<PrototxtString> stringsIn(std::string_view text) {
  std::vector<PrototxtString> strings;
  std::string_view field;
  bool continues = false; // adjacent literals are concatenated
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"' || c == '\'') {
      Literal literal(text, at);
      if (!continues)
        strings.push_back({std::string(field), ""});
      strings.back().value += literal.read();
      at = literal.end();
      continues = true;
    } else if (isWord(c)) {
      const size_t begin = at;
      while (at < text.size() && isWord(text[at]))
        ++at;
      field = text.substr(begin, at - begin);
      continues = false;
    } else {
      continues &= std::isspace(static_cast<unsigned char>(c)) != 0;
      ++at;
    }
  }
  return strings;
}

} // namespace brew::caffe_command
