//===- Parser.cpp - The grammar of formulas -------------------------------===//
//
// A recursive-descent parser, operators of lowest precedence first:
//
//   choice      := disjunction ['?' choice ':' choice]
//   disjunction := conjunction ('||' conjunction)*
//   conjunction := comparison ('&&' comparison)*
//   comparison  := sum [('<' | '<=' | '>' | '>=' | '==' | '!=') sum]
//   sum         := product (('+' | '-') product)*
//   product     := unary (('*' | '/') unary)*
//   unary       := ('-' | '+' | '!') unary | power
//   power       := primary ['^' unary]
//   primary     := NUMBER | NAME | NAME '(' choice (',' choice)* ')'
//                | '(' choice ')'
//
//===----------------------------------------------------------------------===//

#include "caffe/expression/Parser.h"

#include <algorithm>

namespace brew::caffe::expression {

NodePointer Parser::makeNode(Kind kind, size_t offset, NodePointer first,
                             NodePointer second, NodePointer third) {
  constexpr int maxNodes = 2000;
  if (++nodes > maxNodes)
    fail(offset,
         "the expression has more than " + std::to_string(maxNodes) + " parts");
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
  return makeNode(Kind::BooleanToNumber, offset, std::move(node));
}

NodePointer Parser::asBoolean(NodePointer node) {
  if (!node->isBoolean())
    report(node->offset, "expected a comparison here, as in x > 0, found a "
                         "number");
  return node;
}

NodePointer Parser::makeSelect(size_t offset, NodePointer condition,
                               NodePointer first, NodePointer second) {
  if (!first->isBoolean() || !second->isBoolean()) {
    first = asNumber(std::move(first));
    second = asNumber(std::move(second));
  }
  return makeNode(Kind::Select, offset, asBoolean(std::move(condition)),
                  std::move(first), std::move(second));
}

void Parser::expect(const char *sign, const std::string &purpose) {
  if (!token().is(sign))
    fail(token().offset, std::string("expected '") + sign + "' " + purpose +
                             ", found " + token().describe());
  lexer.advance();
}

NodePointer Parser::parseChoice() {
  DepthGuard level(*this);
  NodePointer condition = parseDisjunction();
  if (!token().is("?"))
    return condition;
  const size_t offset = takeToken().offset;
  NodePointer first = parseChoice();
  expect(":", "between the two values of '?'");
  NodePointer second = parseChoice();
  return makeSelect(offset, std::move(condition), std::move(first),
                    std::move(second));
}

NodePointer Parser::parseDisjunction() {
  NodePointer left = parseConjunction();
  while (token().is("||")) {
    const size_t offset = takeToken().offset;
    NodePointer right = parseConjunction();
    left = makeNode(Kind::Or, offset, asBoolean(std::move(left)),
                    asBoolean(std::move(right)));
  }
  return left;
}

NodePointer Parser::parseConjunction() {
  NodePointer left = parseComparison();
  while (token().is("&&")) {
    const size_t offset = takeToken().offset;
    NodePointer right = parseComparison();
    left = makeNode(Kind::And, offset, asBoolean(std::move(left)),
                    asBoolean(std::move(right)));
  }
  return left;
}

NodePointer Parser::parseComparison() {
  struct Comparison {
    const char *sign;
    Kind kind;
  };
  static constexpr Comparison comparisons[] = {
      {"<", Kind::Less},    {"<=", Kind::LessEqual},
      {">", Kind::Greater}, {">=", Kind::GreaterEqual},
      {"==", Kind::Equal},  {"!=", Kind::NotEqual},
  };
  auto findComparison = [&]() -> const Comparison * {
    for (const Comparison &candidate : comparisons)
      if (token().is(candidate.sign))
        return &candidate;
    return nullptr;
  };
  NodePointer left = parseSum();
  const Comparison *found = findComparison();
  if (!found)
    return left;
  const size_t offset = takeToken().offset;
  NodePointer right = parseSum();
  if (findComparison())
    fail(token().offset, "comparisons do not chain; write a < b && b < c");
  return makeNode(found->kind, offset, asNumber(std::move(left)),
                  asNumber(std::move(right)));
}

NodePointer Parser::parseSum() {
  NodePointer left = parseProduct();
  while (token().is("+") || token().is("-")) {
    const Token sign = takeToken();
    NodePointer right = parseProduct();
    left = makeNode(sign.text == "+" ? Kind::Add : Kind::Subtract, sign.offset,
                    asNumber(std::move(left)), asNumber(std::move(right)));
  }
  return left;
}

NodePointer Parser::parseProduct() {
  NodePointer left = parseUnary();
  while (token().is("*") || token().is("/")) {
    const Token sign = takeToken();
    NodePointer right = parseUnary();
    left =
        makeNode(sign.text == "*" ? Kind::Multiply : Kind::Divide, sign.offset,
                 asNumber(std::move(left)), asNumber(std::move(right)));
  }
  return left;
}

NodePointer Parser::parseUnary() {
  DepthGuard level(*this);
  if (token().is("-")) {
    const size_t offset = takeToken().offset;
    NodePointer operand = asNumber(parseUnary());
    if (operand->kind == Kind::Number) {
      operand->number = -operand->number;
      operand->offset = offset;
      return operand;
    }
    return makeNode(Kind::Negate, offset, std::move(operand));
  }
  if (token().is("+")) {
    lexer.advance();
    return asNumber(parseUnary());
  }
  if (token().is("!")) {
    const size_t offset = takeToken().offset;
    return makeNode(Kind::Not, offset, asBoolean(parseUnary()));
  }
  return parsePower();
}

NodePointer Parser::parsePower() {
  NodePointer base = parsePrimary();
  if (!token().is("^"))
    return base;
  const size_t offset = takeToken().offset;
  NodePointer exponent = parseUnary();
  return makeNode(Kind::Power, offset, asNumber(std::move(base)),
                  asNumber(std::move(exponent)));
}

NodePointer Parser::parsePrimary() {
  if (token().kind == TokenKind::Number) {
    const Token literal = takeToken();
    NodePointer node = makeNode(Kind::Number, literal.offset);
    node->number = literal.number;
    return node;
  }
  if (token().is("(")) {
    const size_t open = takeToken().offset;
    NodePointer inner = parseChoice();
    if (token().kind == TokenKind::End)
      fail(open, "this '(' is never closed");
    expect(")", "to close a parenthesis");
    return inner;
  }
  if (token().kind == TokenKind::Name || token().kind == TokenKind::QuotedName)
    return parseName();
  fail(token().offset, "expected a number, a bottom, a function or '(', "
                       "found " +
                           token().describe());
}

Formula Parser::parse() {
  NodePointer root;
  try {
    lexer.advance();
    root = asNumber(parseChoice());
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
  return Parser(text, bottoms, params).parse();
}

} // namespace brew::caffe::expression
