//===- PrototxtStrings.cpp - Text searches in a prototxt ------------------===//
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
  /// `position`: index of the opening quotation mark.
  Literal(std::string_view text, size_t position)
      : text(text), position(position) {}

  /// Reads to the closing quotation mark or the end of the line.
  std::string read() {
    const char mark = text[position++];
    std::string value;
    while (position < text.size() && text[position] != '\n') {
      const char c = text[position++];
      if (c == mark)
        break;
      value += c == '\\' && position < text.size() ? parseEscape() : c;
    }
    return value;
  }

  /// The position after the literal.
  size_t end() const { return position; }

private:
  char parseEscape() {
    if (const std::optional<char> octal = parseByte(position, 3, 8))
      return *octal;
    const char c = text[position++];
    if (c == 'x' || c == 'X')
      return parseByte(position, 2, 16).value_or(c);
    constexpr std::string_view names = "abfnrtv", values = "\a\b\f\n\r\t\v";
    const size_t found = names.find(c);
    return found == names.npos ? c : values[found];
  }

  /// Parses at most `digits` digits at `from` as a byte and advances past them.
  /// Returns nullopt if there are no digits.
  std::optional<char> parseByte(size_t from, size_t digits, int base) {
    unsigned value = 0;
    const char *begin = text.data() + from;
    const char *last = begin + std::min(digits, text.size() - from);
    const auto [end, error] = std::from_chars(begin, last, value, base);
    if (error != std::errc())
      return std::nullopt;
    position = from + static_cast<size_t>(end - begin);
    return static_cast<char>(value);
  }

  std::string_view text;
  size_t position;
};

bool isWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

} // namespace

std::vector<PrototxtString> stringsIn(std::string_view text) {
  std::vector<PrototxtString> strings;
  std::string_view field;
  bool followsLiteral = false; // adjacent literals are concatenated
  for (size_t position = 0; position < text.size();) {
    const char c = text[position];
    if (c == '#') {
      position = std::min(text.find('\n', position), text.size());
    } else if (c == '"' || c == '\'') {
      Literal literal(text, position);
      if (!followsLiteral)
        strings.push_back({std::string(field), ""});
      strings.back().value += literal.read();
      position = literal.end();
      followsLiteral = true;
    } else if (isWord(c)) {
      const size_t begin = position;
      while (position < text.size() && isWord(text[position]))
        ++position;
      field = text.substr(begin, position - begin);
      followsLiteral = false;
    } else {
      followsLiteral &= std::isspace(static_cast<unsigned char>(c)) != 0;
      ++position;
    }
  }
  return strings;
}

bool hasImagesInBatchesOfOne(std::string_view text) {
  constexpr std::string_view settings = "image_data_param",
                             field = "batch_size", separators = ": \t\r\n";
  // A layer without settings has no source.
  for (size_t at = text.find(settings); at != text.npos;
       at = text.find(settings, at + 1)) {
    const std::string_view block =
        text.substr(at, std::min(text.find('}', at), text.size()) - at);
    bool hasLargerBatch = false;
    for (size_t begin = block.find(field); begin != block.npos;
         begin = block.find(field, begin + 1)) {
      const size_t number =
          std::min(block.find_first_not_of(separators, begin + field.size()),
                   block.size());
      const size_t size =
          std::min(block.find_first_not_of("0123456789", number),
                   block.size()) -
          number;
      const std::string_view digits = block.substr(number, size);
      if (digits == "1")
        return true;
      hasLargerBatch |= !digits.empty();
    }
    if (!hasLargerBatch)
      return true;
  }
  return false;
}

} // namespace brew::caffe_command
