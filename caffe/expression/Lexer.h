//===- Lexer.h - Tokens of formulas -----------------------------*- C++ -*-===//
#pragma once

#include "caffe/expression/Expression.h"

#include <string>

namespace brew::caffe::expression {

enum class TokenKind { Number, Name, QuotedName, Sign, End };

struct Token {
  TokenKind kind = TokenKind::End;
  size_t offset = 0;
  std::string text;  ///< a quoted name without its quotes
  double number = 0; ///< of a Number

  /// Returns whether the token is the operator or punctuation `sign`.
  bool is(const char *sign) const {
    return kind == TokenKind::Sign && text == sign;
  }
  /// Returns "'foo'" or "the end of the expression".
  std::string describe() const;
};

/// Thrown at a syntax error, which ends the parse.
struct SyntaxError {
  Problem problem;
};

/// Splits the text of a formula into tokens.
class Lexer {
public:
  /// `text` must outlive the lexer. advance() must be called to read the first
  /// token.
  explicit Lexer(const std::string &text) : text(text) {}

  const Token &current() const { return token; }
  /// Reads the next token. Throws SyntaxError if it is malformed.
  void advance();

private:
  void takeNumber();
  void takeName();
  void takeQuotedName();
  void takeSign();

  const std::string &text;
  size_t position = 0;
  Token token;
};

} // namespace brew::caffe::expression
