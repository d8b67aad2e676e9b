//===- TokenStream.cpp - Prototxt tokens with byte locations --------------===//

#include "frontends/prototxt/text/TokenStream.h"

#include "frontends/prototxt/text/StringLocations.h"

#include <cctype>

namespace brew::prototxt {

namespace {

/// Returns the tokenizer's message in words that users of a prototxt
/// understand.
std::string rewordTokenError(std::string message) {
  static const std::pair<const char *, const char *> reworded[] = {
      {"String literals cannot cross line boundaries.",
       "this string has no closing quote on its line"},
      {"Unexpected end of string.", "this string has no closing quote"},
      {"Invalid control characters encountered in text.",
       "control character outside a string"},
      {"Need space between number and identifier.",
       "a space is missing between a number and the word after it"},
      {"Numbers starting with leading zero must be in octal.",
       "a number that starts with 0 is octal, and octal digits go up to 7"},
  };
  for (const auto &entry : reworded)
    if (message == entry.first)
      return entry.second;
  if (message.rfind("Interpreting non ascii codepoint", 0) == 0)
    return "non-ASCII character outside a string";
  if (!message.empty() && message.back() == '.')
    message.pop_back();
  if (message.size() > 1 &&
      std::isupper(static_cast<unsigned char>(message[0])))
    message[0] =
        static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  return message;
}

} // namespace

size_t byteOrderMarkLength(const std::string &text) {
  return text.compare(0, 3, "\xEF\xBB\xBF") == 0 ? 3 : 0;
}

TokenStream::TokenStream(const std::string &text, const std::string &file,
                         Diagnostics *diagnostics)
    : text(text), fileName(file), diagnostics(diagnostics),
      input(text.data() + byteOrderMarkLength(text),
            static_cast<int>(text.size() - byteOrderMarkLength(text))),
      tokenizer(&input, this) {
  cursor.offset = cursor.lineStart = byteOrderMarkLength(text);
  tokenizer.set_allow_f_after_float(true);
  tokenizer.set_comment_style(Tokenizer::SH_COMMENT_STYLE);
  next();
}

void TokenStream::next() {
  tokenizer.Next();
  stopOnTokenError();
}

void TokenStream::stopOnTokenError() {
  if (tokenError)
    fail(tokenError->first, tokenError->second);
}

bool TokenStream::tryTake(const char *symbol) {
  if (!at(symbol))
    return false;
  next();
  return true;
}

TextLocation TokenStream::location() {
  const Token &current = token();
  return toLocation(current.line, current.column);
}

TextLocation TokenStream::locationInValue(TextLocation value,
                                          size_t offset) const {
  return locationInString(text, value, offset);
}

TextLocation TokenStream::toLocation(int line, int tabColumn) {
  constexpr int tabWidth = 8; // the tokenizer's tab width
  if (line < cursor.line ||
      (line == cursor.line && tabColumn < cursor.tabColumn)) {
    if (line != cursor.line)
      cursor = {byteOrderMarkLength(text), 0, 0, byteOrderMarkLength(text)};
    cursor.offset = cursor.lineStart;
    cursor.tabColumn = 0;
  }
  while (cursor.line < line) {
    size_t newline = text.find('\n', cursor.offset);
    if (newline == std::string::npos)
      break;
    cursor.offset = cursor.lineStart = newline + 1;
    cursor.tabColumn = 0;
    ++cursor.line;
  }
  while (cursor.tabColumn < tabColumn && cursor.offset < text.size()) {
    if (text[cursor.offset] == '\t')
      cursor.tabColumn += tabWidth - cursor.tabColumn % tabWidth;
    else
      ++cursor.tabColumn;
    ++cursor.offset;
  }
  return {line + 1, static_cast<int>(cursor.offset - cursor.lineStart) + 1};
}

std::string TokenStream::describe() {
  constexpr size_t kMaxLength = 40;
  std::string shown = token().text;
  if (shown.size() > kMaxLength)
    shown = shown.substr(0, kMaxLength) + "...";
  switch (type()) {
  case Tokenizer::TYPE_END:
    return "the end of the file";
  case Tokenizer::TYPE_STRING:
    return "the string " + shown;
  case Tokenizer::TYPE_INTEGER:
  case Tokenizer::TYPE_FLOAT:
    return "the number " + shown;
  default:
    return "'" + shown + "'";
  }
}

void TokenStream::fail(TextLocation location, const std::string &message,
                       std::vector<Note> notes) {
  if (diagnostics)
    diagnostics->error(locate(location), message).notes = std::move(notes);
  throw ParseStop();
}

void TokenStream::AddError(int line, int column, const std::string &message) {
  if (tokenError)
    return; // the first error ends the parse
  // The tokenizer detects an unclosed string at the end of its line or of the
  // text. The error is reported at its beginning, which is the current token.
  bool isUnclosedString = message.rfind("String literals cannot", 0) == 0 ||
                          message.rfind("Unexpected end of string", 0) == 0;
  TextLocation location = isUnclosedString
                              ? toLocation(token().line, token().column)
                              : toLocation(line, column);
  tokenError = {location, rewordTokenError(message)};
}

} // namespace brew::prototxt
