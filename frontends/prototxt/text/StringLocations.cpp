//===- StringLocations.cpp - Locations inside string values ---------------===//

#include "frontends/prototxt/text/StringLocations.h"

#include "frontends/prototxt/text/TokenStream.h"

#include <algorithm>
#include <cctype>

namespace brew::prototxt {

namespace {

/// Iterates over the quoted pieces of a string value.
class PieceWalker {
public:
  PieceWalker(const std::string &text, TextLocation value)
      : text(text), begin(byteOrderMarkLength(text)), cursor(begin) {
    for (int line = 1; line < value.line && cursor < text.size(); ++cursor)
      line += text[cursor] == '\n';
    cursor = std::min(cursor + value.column - 1, text.size());
  }

  /// Returns the position of byte `offset` of the value, or of the last closing
  /// quote.
  size_t positionOfByte(size_t offset) {
    size_t closingQuote = cursor;
    while (cursor < text.size() &&
           (text[cursor] == '"' || text[cursor] == '\'')) {
      const char quote = text[cursor++];
      while (cursor < text.size() && text[cursor] != quote) {
        const size_t start = cursor, bytes = takeCharacter();
        if (offset < bytes)
          return start;
        offset -= bytes;
      }
      closingQuote = cursor++;
      skipBetweenPieces();
    }
    return closingQuote;
  }

  TextLocation locationOf(size_t position) const {
    position = std::min(position, text.size());
    TextLocation location{1, 1};
    for (size_t i = begin; i < position; ++i) {
      ++location.column;
      if (text[i] == '\n')
        location = {location.line + 1, 1};
    }
    return location;
  }

private:
  char peek(size_t ahead = 0) const {
    return cursor + ahead < text.size() ? text[cursor + ahead] : 0;
  }
  void skipDigits(size_t maxDigits, bool (*isDigit)(char)) {
    for (size_t i = 0; i < maxDigits && isDigit(peek()); ++i)
      ++cursor;
  }
  static bool isHex(char c) {
    return std::isxdigit(static_cast<unsigned char>(c));
  }
  static bool isOctal(char c) { return c >= '0' && c <= '7'; }

  /// Skips a character or an escape. Returns the number of bytes that it
  /// encodes.
  size_t takeCharacter() {
    if (text[cursor++] != '\\')
      return 1;
    const char kind = peek();
    if (isOctal(kind)) {
      skipDigits(3, isOctal);
      return 1;
    }
    ++cursor;
    if (kind == 'x' || kind == 'X') {
      skipDigits(2, isHex);
      return 1;
    }
    if (kind != 'u' && kind != 'U')
      return 1;
    const size_t digits = cursor;
    skipDigits(kind == 'u' ? 4 : 8, isHex);
    const unsigned long code =
        std::stoul("0" + text.substr(digits, cursor - digits), nullptr, 16);
    return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }

  void skipBetweenPieces() {
    while (cursor < text.size()) {
      if (text[cursor] == '#')
        cursor = std::min(text.find('\n', cursor), text.size());
      else if (std::isspace(static_cast<unsigned char>(text[cursor])))
        ++cursor;
      else
        return;
    }
  }

  const std::string &text;
  const size_t begin; ///< position of line 1, column 1
  size_t cursor;
};

} // namespace

TextLocation locationInString(const std::string &text, TextLocation value,
                              size_t offset) {
  PieceWalker walker(text, value);
  return walker.locationOf(walker.positionOfByte(offset));
}

} // namespace brew::prototxt
