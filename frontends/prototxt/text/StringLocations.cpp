//===- StringLocations.cpp - Locations inside string values ---------------===//

#include "frontends/prototxt/text/StringLocations.h"

#include "frontends/prototxt/text/TokenStream.h"

#include <algorithm>
#include <cctype>

namespace brew::prototxt {

namespace {

/// Iterates over the pieces of a string value.
class PieceWalker {
public:
  PieceWalker(const std::string &text, TextLocation value)
      : text(text), begin(byteOrderMarkLength(text)), at(begin) {
    for (int line = 1; line < value.line && at < text.size(); ++at)
      line += text[at] == '\n';
    at = std::min(at + value.column - 1, text.size());
  }

  size_t find(size_t offset) {
    size_t close = at;
    while (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
      const char quote = text[at++];
      while (at < text.size() && text[at] != quote) {
        const size_t start = at, bytes = takeCharacter();
        if (offset < bytes)
          return start;
        offset -= bytes;
      }
      close = at++;
      skipBetweenPieces();
    }
    return close;
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
  char next(size_t ahead = 0) const {
    return at + ahead < text.size() ? text[at + ahead] : 0;
  }
  void skipDigits(size_t most, bool (*isDigit)(char)) {
    for (size_t i = 0; i < most && isDigit(next()); ++i)
      ++at;
  }
  static bool isHex(char c) {
    return std::isxdigit(static_cast<unsigned char>(c));
  }
  static bool isOctal(char c) { return c >= '0' && c <= '7'; }

  /// Skips a character or an escape; returns the number of bytes it encodes.
  size_t takeCharacter() {
    if (text[at++] != '\\')
      return 1;
    const char kind = next();
    if (isOctal(kind)) {
      skipDigits(3, isOctal);
      return 1;
    }
    ++at;
    if (kind == 'x' || kind == 'X') {
      skipDigits(2, isHex);
      return 1;
    }
    if (kind != 'u' && kind != 'U')
      return 1;
    const size_t digits = at;
    skipDigits(kind == 'u' ? 4 : 8, isHex);
    const unsigned long code =
        std::stoul("0" + text.substr(digits, at - digits), nullptr, 16);
    return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }

  void skipBetweenPieces() {
    while (at < text.size()) {
      if (text[at] == '#')
        at = std::min(text.find('\n', at), text.size());
      else if (std::isspace(static_cast<unsigned char>(text[at])))
        ++at;
      else
        return;
    }
  }

  const std::string &text;
  const size_t begin; ///< of the first line's column 1
  size_t at;
};

} // namespace

TextLocation locationInString(const std::string &text, TextLocation value,
                              size_t offset) {
  PieceWalker walker(text, value);
  return walker.locationOf(walker.find(offset));
}

} // namespace brew::prototxt
