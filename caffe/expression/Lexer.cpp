//===- Lexer.cpp - Tokens of formulas -------------------------------------===//

#include "caffe/expression/Lexer.h"

#include <cctype>
#include <charconv>
#include <cmath>

namespace brew::caffe::expression {

namespace {

bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool isLetter(char c) {
  return c == '_' || std::isalpha(static_cast<unsigned char>(c));
}

} // namespace

std::string Token::describe() const {
  return kind == TokenKind::End ? "the end of the expression"
                                : "'" + text + "'";
}

void Lexer::advance() {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
    ++at;
  token = {};
  token.offset = at;
  if (at == text.size())
    return;
  const char c = text[at];
  if (isDigit(c) || (c == '.' && at + 1 < text.size() && isDigit(text[at + 1])))
    takeNumber();
  else if (isLetter(c))
    takeName();
  else if (c == '\'' || c == '"' || c == '`')
    takeQuotedName();
  else
    takeSign();
}

void Lexer::takeNumber() {
  const char *begin = text.data() + at, *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(begin, end, token.number);
  token.kind = TokenKind::Number;
  token.text.assign(begin, stop);
  if (error != std::errc())
    throw SyntaxError{{at, "'" + token.text + "' is out of range"}};
  at += stop - begin;
  if (at < text.size() && (isLetter(text[at]) || text[at] == '.'))
    throw SyntaxError{{at, "expected an operator after the number " +
                               token.text + ", found '" + text[at] + "'"}};
}

void Lexer::takeName() {
  while (at < text.size() && (isLetter(text[at]) || isDigit(text[at])))
    token.text += text[at++];
  token.kind = TokenKind::Name;
}

void Lexer::takeQuotedName() {
  const char quote = text[at];
  const size_t close = text.find(quote, at + 1);
  if (close == std::string::npos)
    throw SyntaxError{{at, std::string("the name after ") + quote +
                               " has no closing " + quote}};
  token.kind = TokenKind::QuotedName;
  token.text = text.substr(at + 1, close - at - 1);
  at = close + 1;
}

void Lexer::takeSign() {
  token.kind = TokenKind::Sign;
  for (const char *sign : {"<=", ">=", "==", "!=", "&&", "||", "**"})
    if (text.compare(at, 2, sign) == 0) {
      if (token.text = sign; token.text == "**")
        throw SyntaxError{{at, "'**' is no operator; write ^ for a power"}};
      at += 2;
      return;
    }
  const char c = text[at];
  if (std::string("+-*/^<>!?:(),").find(c) == std::string::npos) {
    std::string text = std::string("unexpected character '") + c + "'";
    if (c == '=')
      text += "; write == to compare";
    else if (c == '&' || c == '|')
      text += std::string("; write ") + c + c;
    else if (!std::isprint(static_cast<unsigned char>(c)))
      text = "unexpected character";
    throw SyntaxError{{at, text}};
  }
  token.text = c;
  ++at;
}

} // namespace brew::caffe::expression
