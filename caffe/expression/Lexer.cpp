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
  while (position < text.size() &&
         std::isspace(static_cast<unsigned char>(text[position])))
    ++position;
  token = {};
  token.offset = position;
  if (position == text.size())
    return;
  const char c = text[position];
  if (isDigit(c) ||
      (c == '.' && position + 1 < text.size() && isDigit(text[position + 1])))
    takeNumber();
  else if (isLetter(c))
    takeName();
  else if (c == '\'' || c == '"' || c == '`')
    takeQuotedName();
  else
    takeSign();
}

void Lexer::takeNumber() {
  const char *begin = text.data() + position, *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(begin, end, token.number);
  token.kind = TokenKind::Number;
  token.text.assign(begin, stop);
  if (error != std::errc())
    throw SyntaxError{{position, "'" + token.text + "' is out of range"}};
  position += stop - begin;
  if (position < text.size() &&
      (isLetter(text[position]) || text[position] == '.'))
    throw SyntaxError{{position, "expected an operator after the number " +
                                     token.text + ", found '" + text[position] +
                                     "'"}};
}

void Lexer::takeName() {
  while (position < text.size() &&
         (isLetter(text[position]) || isDigit(text[position])))
    token.text += text[position++];
  token.kind = TokenKind::Name;
}

void Lexer::takeQuotedName() {
  const char quote = text[position];
  const size_t close = text.find(quote, position + 1);
  if (close == std::string::npos)
    throw SyntaxError{{position, std::string("the name after ") + quote +
                                     " has no closing " + quote}};
  token.kind = TokenKind::QuotedName;
  token.text = text.substr(position + 1, close - position - 1);
  position = close + 1;
}

void Lexer::takeSign() {
  token.kind = TokenKind::Sign;
  for (const char *sign : {"<=", ">=", "==", "!=", "&&", "||", "**"})
    if (text.compare(position, 2, sign) == 0) {
      if (token.text = sign; token.text == "**")
        throw SyntaxError{
            {position, "'**' is not an operator; write ^ for a power"}};
      position += 2;
      return;
    }
  const char c = text[position];
  if (std::string("+-*/^<>!?:(),").find(c) == std::string::npos) {
    std::string message = std::string("unexpected character '") + c + "'";
    if (c == '=')
      message += "; write == to compare";
    else if (c == '&' || c == '|')
      message += std::string("; write ") + c + c;
    else if (!std::isprint(static_cast<unsigned char>(c)))
      message = "unexpected character";
    throw SyntaxError{{position, message}};
  }
  token.text = c;
  ++position;
}

} // namespace brew::caffe::expression
