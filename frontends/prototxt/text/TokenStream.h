//===- TokenStream.h - Prototxt tokens with byte-exact locations ----------===//
//
// Protobuf's own tokenizer, set up as TextFormat sets it up for Caffe, plus
// what it lacks: columns that count bytes rather than tab stops, and errors
// that end the parse as placed diagnostics.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/text/SourceMap.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <optional>
#include <string>

namespace brew::prototxt {

/// Thrown, after its diagnostic was recorded, by the error that ends a parse.
struct ParseStop {};

class TokenStream : private google::protobuf::io::ErrorCollector {
public:
  using Tokenizer = google::protobuf::io::Tokenizer;
  using Token = Tokenizer::Token;

  /// `text` must outlive the stream. With a null `diagnostics` nothing is
  /// recorded and a bad token simply throws ParseStop.
  TokenStream(const std::string &text, const std::string &file,
              Diagnostics *diagnostics);

  const Token &token() { return tokenizer.current(); }
  Tokenizer::TokenType type() { return tokenizer.current().type; }
  bool atEnd() { return type() == Tokenizer::TYPE_END; }
  bool at(const char *symbol) { return token().text == symbol; }
  /// Place of the current token.
  TextLocation location();

  /// Place of a byte of the string value that begins at `value`, see
  /// locationInString().
  TextLocation locationInValue(TextLocation value, size_t offset) const;

  void next();
  bool tryTake(const char *symbol);

  /// The current token in words: "'foo'", "the string \"a\"", "the end of the
  /// file".
  std::string describe();

  SourceLocation locate(TextLocation location) const {
    return {fileName, location.line, location.column};
  }
  /// Records an error and throws ParseStop.
  [[noreturn]] void fail(TextLocation location, const std::string &message,
                         std::vector<Note> notes = {});

private:
  void AddError(int line, int column, const std::string &message) override;
  /// Byte column (1-based) of a tokenizer position, whose columns go by tab
  /// stops. Cheap for positions in ascending order.
  TextLocation toLocation(int line, int tabColumn);
  void stopOnTokenError();

  const std::string &text;
  std::string fileName;
  Diagnostics *diagnostics;
  std::optional<std::pair<TextLocation, std::string>> tokenError;

  /// Walks the text from position to position.
  struct Cursor {
    size_t offset = 0;
    int line = 0;
    int tabColumn = 0;
    size_t lineStart = 0;
  } cursor;

  google::protobuf::io::ArrayInputStream input;
  Tokenizer tokenizer;
};

/// How many bytes of a UTF-8 byte order mark start `text`: 0 or 3.
size_t byteOrderMarkLength(const std::string &text);

} // namespace brew::prototxt
