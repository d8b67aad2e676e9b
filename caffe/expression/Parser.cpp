//===- Parser.cpp - The grammar of formulas -------------------------------===//
//
// A recursive-descent parser, operators of lowest precedence first:
//
//   choice   := or ['?' choice ':' choice]
//   or       := and ('||' and)*
//   and      := equality ('&&' equality)*
//   comparison := sum [('<' | '<=' | '>' | '>=' | '==' | '!=') sum]
//   sum      := product (('+' | '-') product)*
//   product  := unary (('*' | '/') unary)*
//   unary    := ('-' | '+' | '!') unary | power
//   power    := primary ['^' unary]
//   primary  := NUMBER | NAME | NAME '(' choice (',' choice)* ')'
//             | '(' choice ')'
//
//===----------------------------------------------------------------------===//

#include "caffe/expression/Parser.h"

#include <algorithm>

namespace brew::caffe::expression {

NodePointer Parser::make(Kind kind, size_t offset, NodePointer first,
                         NodePointer second, NodePointer third) {
  constexpr int most = 2000;
  if (++nodes > most)
    fail(offset,
         "the expression has more than " + std::to_string(most) + " parts");
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->offset = offset;
  for (NodePointer *operand : {&first, &second, &third})
    if (*operand)
      node->operands.push_back(std::move(*operand));
  return node;
}

NodePointer Parser::asNumber(NodePointer node) {
  if (!node->isBoolean())
    return node;
  const size_t offset = node->offset;
  return make(Kind::BooleanToNumber, offset, std::move(node));
}

NodePointer Parser::asBoolean(NodePointer node) {
  if (!node->isBoolean())
    report(node->offset, "expected a comparison here, as in x > 0, found a "
                         "number");
  return node;
}

NodePointer Parser::select(size_t offset, NodePointer condition,
                           NodePointer first, NodePointer second) {
  if (!first->isBoolean() || !second->isBoolean()) {
    first = asNumber(std::move(first));
    second = asNumber(std::move(second));
  }
  return make(Kind::Select, offset, asBoolean(std::move(condition)),
              std::move(first), std::move(second));
}

void Parser::expect(const char *sign, const std::string &why) {
  if (!token().is(sign))
    fail(token().offset, std::string("expected '") + sign + "' " + why +
                             ", found " + token().describe());
  lexer.advance();
}

NodePointer Parser::choice() {
  Depth level(*this);
  NodePointer condition = disjunction();
  if (!token().is("?"))
    return condition;
  const size_t offset = take().offset;
  NodePointer first = choice();
  expect(":", "between the two values of '?'");
  NodePointer second = choice();
  return select(offset, std::move(condition), std::move(first),
                std::move(second));
}

NodePointer Parser::disjunction() {
  NodePointer left = conjunction();
  while (token().is("||")) {
    const size_t offset = take().offset;
    NodePointer right = conjunction();
    left = make(Kind::Or, offset, asBoolean(std::move(left)),
                asBoolean(std::move(right)));
  }
  return left;
}

NodePointer Parser::conjunction() {
  NodePointer left = comparison();
  while (token().is("&&")) {
    const size_t offset = take().offset;
    NodePointer right = comparison();
    left = make(Kind::And, offset, asBoolean(std::move(left)),
                asBoolean(std::move(right)));
  }
  return left;
}

NodePointer Parser::comparison() {
  struct Comparison {
    const char *sign;
    Kind kind;
  };
  static constexpr Comparison comparisons[] = {
      {"<", Kind::Less},    {"<=", Kind::LessEqual},
      {">", Kind::Greater}, {">=", Kind::GreaterEqual},
      {"==", Kind::Equal},  {"!=", Kind::NotEqual},
  };
  auto find = [&]() -> const Comparison * {
    for (const Comparison &each : comparisons)
      if (token().is(each.sign))
        return &each;
    return nullptr;
  };
  NodePointer left = sum();
  const Comparison *found = find();
  if (!found)
    return left;
  const size_t offset = take().offset;
  NodePointer right = sum();
  if (find())
    fail(token().offset, "comparisons do not chain; write a < b && b < c");
  return make(found->kind, offset, asNumber(std::move(left)),
              asNumber(std::move(right)));
}

NodePointer Parser::sum() {
  NodePointer left = product();
  while (token().is("+") || token().is("-")) {
    const Token sign = take();
    NodePointer right = product();
    left = make(sign.text == "+" ? Kind::Add : Kind::Subtract, sign.offset,
                asNumber(std::move(left)), asNumber(std::move(right)));
  }
  return left;
}

NodePointer Parser::product() {
  NodePointer left = unary();
  while (token().is("*") || token().is("/")) {
    const Token sign = take();
    NodePointer right = unary();
    left = make(sign.text == "*" ? Kind::Multiply : Kind::Divide, sign.offset,
                asNumber(std::move(left)), asNumber(std::move(right)));
  }
  return left;
}

NodePointer Parser::unary() {
  Depth level(*this);
  if (token().is("-")) {
    const size_t offset = take().offset;
    NodePointer operand = asNumber(unary());
    if (operand->kind == Kind::Number) {
      operand->number = -operand->number;
      operand->offset = offset;
      return operand;
    }
    return make(Kind::Negate, offset, std::move(operand));
  }
  if (token().is("+")) {
    lexer.advance();
    return asNumber(unary());
  }
  if (token().is("!")) {
    const size_t offset = take().offset;
    return make(Kind::Not, offset, asBoolean(unary()));
  }
  return power();
}

NodePointer Parser::power() {
  NodePointer base = primary();
  if (!token().is("^"))
    return base;
  const size_t offset = take().offset;
  NodePointer exponent = unary();
  return make(Kind::Power, offset, asNumber(std::move(base)),
              asNumber(std::move(exponent)));
}

NodePointer Parser::primary() {
  if (token().kind == TokenKind::Number) {
    const Token literal = take();
    NodePointer node = make(Kind::Number, literal.offset);
    node->number = literal.number;
    return node;
  }
  if (token().is("(")) {
    const size_t open = take().offset;
    NodePointer inner = choice();
    if (token().kind == TokenKind::End)
      fail(open, "this '(' is never closed");
    expect(")", "to close a parenthesis");
    return inner;
  }
  if (token().kind == TokenKind::Name || token().kind == TokenKind::QuotedName)
    return name();
  fail(token().offset, "expected a number, a bottom, a function or '(', "
                       "found " +
                           token().describe());
}

Formula Parser::run() {
  NodePointer root;
  try {
    lexer.advance();
    root = asNumber(choice());
    if (token().kind != TokenKind::End)
      fail(token().offset, "expected an operator, found " + token().describe());
  } catch (const SyntaxError &error) {
    formula.problems.push_back(error.problem);
  }
  std::stable_sort(
      formula.problems.begin(), formula.problems.end(),
      [](const Problem &a, const Problem &b) { return a.offset < b.offset; });
  if (formula.problems.empty())
    formula.root = std::move(root);
  return std::move(formula);
}

bool Node::isBoolean() const {
  switch (kind) {
  case Kind::Less:
  case Kind::LessEqual:
  case Kind::Greater:
  case Kind::GreaterEqual:
  case Kind::Equal:
  case Kind::NotEqual:
  case Kind::And:
  case Kind::Or:
  case Kind::Not:
    return true;
  case Kind::Select:
    return operands[1]->isBoolean();
  default:
    return false;
  }
}

Formula parse(const std::string &text, const std::vector<std::string> &bottoms,
              int params) {
  return Parser(text, bottoms, params).run();
}

} // namespace brew::caffe::expression
