//===- TokenStream.h - Prototxt tokens with byte locations ------*- C++ -*-===//
//
// Wraps Protobuf's tokenizer, with the configuration that TextFormat uses for
// Caffe. Columns count bytes, without expanding tabs, and errors that end the
// parse become diagnostics with locations.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/text/SourceMap.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <optional>
#include <string>

namespace brew::prototxt {

/// Thrown by an error that ends a parse, after its diagnostic was added.
struct ParseStop {};

class TokenStream : private google::protobuf::io::ErrorCollector {
public:
  using Tokenizer = google::protobuf::io::Tokenizer;
  using Token = Tokenizer::Token;

  /// `text` must outlive the stream. If `diagnostics` is null, an invalid token
  /// just throws ParseStop.
  TokenStream(const std::string &text, const std::string &file,
              Diagnostics *diagnostics);

  const Token &token() { return tokenizer.current(); }
  Tokenizer::TokenType type() { return tokenizer.current().type; }
  bool atEnd() { return type() == Tokenizer::TYPE_END; }
  bool at(const char *symbol) { return token().text == symbol; }
  /// Returns the location of the current token.
  TextLocation location();

  /// Returns the location of a byte of the string value that begins at `value`;
  /// see locationInString().
  TextLocation locationInValue(TextLocation value, size_t offset) const;

  void next();
  /// Advances if the current token is `symbol`. Returns whether it was.
  bool tryTake(const char *symbol);

  /// Describes the current token: "'foo'", "the string \"a\"", "the end of the
  /// file".
  std::string describe();

  SourceLocation locate(TextLocation location) const {
    return {fileName, location.line, location.column};
  }
  /// Adds an error and throws ParseStop.
  [[noreturn]] void fail(TextLocation location, const std::string &message,
                         std::vector<Note> notes = {});

private:
  void AddError(int line, int column, const std::string &message) override;
  /// Converts a tokenizer position, in which a tab advances to the next tab
  /// stop, to a location with a 1-based byte column. Cheap for positions in
  /// ascending order.
  TextLocation toLocation(int line, int tabColumn);
  void stopOnTokenError();

  const std::string &text;
  std::string fileName;
  Diagnostics *diagnostics;
  std::optional<std::pair<TextLocation, std::string>> tokenError;

  /// The last converted position.
  struct Cursor {
    size_t offset = 0;
    int line = 0;
    int tabColumn = 0;
    size_t lineStart = 0;
  } cursor;

  google::protobuf::io::ArrayInputStream input;
  Tokenizer tokenizer;
};

/// Returns the length of the UTF-8 byte order mark at the start of `text`: 0 or
/// 3.
size_t byteOrderMarkLength(const std::string &text);

} // namespace brew::prototxt
