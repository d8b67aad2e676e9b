//===- ExpressionTest.cpp - The language of Expression layers -------------===//
#include "caffe/expression/Expression.h"

#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <sstream>

using namespace brew::caffe::expression;

namespace {

const std::vector<std::string> bottoms = {"x", "y", "conv1/relu"};

const char *symbolOf(Kind kind) {
  switch (kind) {
  case Kind::Negate:
    return "neg";
  case Kind::Add:
    return "+";
  case Kind::Subtract:
    return "-";
  case Kind::Multiply:
    return "*";
  case Kind::Divide:
    return "/";
  case Kind::Power:
    return "^";
  case Kind::Less:
    return "<";
  case Kind::GreaterEqual:
    return ">=";
  case Kind::Greater:
    return ">";
  case Kind::And:
    return "&&";
  case Kind::Or:
    return "||";
  case Kind::Not:
    return "!";
  case Kind::Select:
    return "select";
  case Kind::BooleanToNumber:
    return "01";
  case Kind::Max:
    return "max";
  case Kind::Tanh:
    return "tanh";
  case Kind::Exp:
    return "exp";
  default:
    return "?";
  }
}

void print(const Node &node, std::ostream &os) {
  if (node.kind == Kind::Number) {
    os << node.number;
  } else if (node.kind == Kind::Bottom) {
    os << bottoms[node.index];
  } else if (node.kind == Kind::Param) {
    os << "p" << node.index;
  } else {
    os << "(" << symbolOf(node.kind);
    for (const auto &operand : node.operands) {
      os << " ";
      print(*operand, os);
    }
    os << ")";
  }
}

/// Parses a formula. Returns its tree in prefix notation, or the problems with
/// their offsets.
std::string parseToText(const std::string &text, int params = 2) {
  const Formula formula = parse(text, bottoms, params);
  std::ostringstream os;
  if (formula.root)
    print(*formula.root, os);
  for (const Problem &problem : formula.problems)
    os << problem.offset << ": " << problem.text << "\n";
  return os.str();
}

TEST(Expression, Precedence) {
  EXPECT_EQ(parseToText("1 + 2 * x"), "(+ 1 (* 2 x))");
  EXPECT_EQ(parseToText("1 - 2 - x"), "(- (- 1 2) x)");
  EXPECT_EQ(parseToText("x / y / 2"), "(/ (/ x y) 2)");
  EXPECT_EQ(parseToText("-x ^ 2"), "(neg (^ x 2))");
  EXPECT_EQ(parseToText("2 ^ -x ^ 2"), "(^ 2 (neg (^ x 2)))");
  EXPECT_EQ(parseToText("x ^ y ^ 2"), "(^ x (^ y 2))");
  EXPECT_EQ(parseToText("-x * y"), "(* (neg x) y)");
  EXPECT_EQ(parseToText("(x + y) * +2"), "(* (+ x y) 2)");
  EXPECT_EQ(parseToText("x - -3"), "(- x -3)");
}

TEST(Expression, Numbers) {
  EXPECT_EQ(parseToText("1.5e-3"), "0.0015");
  EXPECT_EQ(parseToText(".5 + 2."), "(+ 0.5 2)");
  EXPECT_EQ(parseToText("pi"), "3.14159");
}

TEST(Expression, Names) {
  EXPECT_EQ(parseToText("'conv1/relu' * x"), "(* conv1/relu x)");
  EXPECT_EQ(parseToText("bottom(2) + bottom(0)"), "(+ conv1/relu x)");
  EXPECT_EQ(parseToText("param(0) * x + param(1)"), "(+ (* p0 x) p1)");
}

TEST(Expression, ComparisonsAndSelections) {
  EXPECT_EQ(parseToText("x > 0 ? x : 0.1 * x"), "(select (> x 0) x (* 0.1 x))");
  EXPECT_EQ(parseToText("x > 0 ? 1 : y > 0 ? 2 : 3"),
            "(select (> x 0) 1 (select (> y 0) 2 3))");
  EXPECT_EQ(parseToText("select(x >= 0 && y < 1 || !(x < y), x, y)"),
            "(select (|| (&& (>= x 0) (< y 1)) (! (< x y))) x y)");
  EXPECT_EQ(parseToText("(x > 0) * x"), "(* (01 (> x 0)) x)");
  EXPECT_EQ(parseToText("x > 0"), "(01 (> x 0))");
  EXPECT_EQ(parseToText("select(x > 0 ? y > 0 : x < y, 1, 0)"),
            "(select (select (> x 0) (> y 0) (< x y)) 1 0)");
}

TEST(Expression, Functions) {
  EXPECT_EQ(parseToText("tanh(exp(x))"), "(tanh (exp x))");
  EXPECT_EQ(parseToText("max(x, y, 1)"), "(max (max x y) 1)");
  EXPECT_EQ(parseToText("pow(x, 3)"), "(^ x 3)");
}

TEST(Expression, RecordsUsedBottomsAndParams) {
  const Formula formula = parse("x + param(1)", bottoms, 2);
  EXPECT_EQ(formula.usedBottoms, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(formula.usedParams, (std::vector<bool>{false, true}));
}

TEST(Expression, SyntaxErrors) {
  EXPECT_EQ(parseToText(""),
            "0: expected a number, a bottom, a function or '(', "
            "found the end of the expression\n");
  EXPECT_EQ(parseToText("x +"),
            "3: expected a number, a bottom, a function or '(', "
            "found the end of the expression\n");
  EXPECT_EQ(parseToText("x y"), "2: expected an operator, found 'y'\n");
  EXPECT_EQ(parseToText("2x"),
            "1: expected an operator after the number 2, found 'x'\n");
  EXPECT_EQ(parseToText("(x + (y * 2)"), "0: this '(' is never closed\n");
  EXPECT_EQ(parseToText("exp(x"), "3: this '(' is never closed\n");
  EXPECT_EQ(parseToText("exp(x y)"),
            "6: expected ',' or ')' after an argument of exp, found 'y'\n");
  EXPECT_EQ(parseToText("x + y)"), "5: expected an operator, found ')'\n");
  EXPECT_EQ(parseToText("x ** 2"),
            "2: '**' is not an operator; write ^ for a power\n");
  EXPECT_EQ(parseToText("x = 2"),
            "2: unexpected character '='; write == to compare\n");
  EXPECT_EQ(parseToText("x > 0 ? 1"),
            "9: expected ':' between the two values of "
            "'?', found the end of the expression\n");
  EXPECT_EQ(parseToText("0 < x < 1"),
            "6: comparisons do not chain; write a < b && b < c\n");
  EXPECT_EQ(parseToText("'x"), "0: the name after ' has no closing '\n");
  EXPECT_EQ(parseToText("1e999"), "0: '1e999' is out of range\n");
  EXPECT_EQ(parseToText("x \x01"), "2: unexpected character\n");
}

/// All semantic errors are reported, in the order of the text.
TEST(Expression, SemanticErrors) {
  EXPECT_EQ(parseToText("z + sigmiod(x) * param(2) + 'w'"),
            "0: 'z' is not a bottom of this layer\n"
            "4: unknown function 'sigmiod'; did you mean 'sigmoid'?\n"
            "23: the layer has 2 param blocks, counted from 0\n"
            "28: 'w' is not a bottom of this layer\n");
  EXPECT_EQ(parseToText("param(x)"),
            "6: param takes one whole number, such as param(0)\n");
  EXPECT_EQ(parseToText("param(0)", 0), "6: the layer has 0 param blocks\n");
  EXPECT_EQ(parseToText("tanh"),
            "0: 'tanh' is not a bottom of this layer; the "
            "function needs its argument in parentheses\n");
  EXPECT_EQ(parseToText("exp(x, y) + max(x)"),
            "0: exp takes 1 argument, found 2\n"
            "12: max takes at least 2 arguments, found 1\n");
  EXPECT_EQ(parseToText("x ? 1 : 0"),
            "0: expected a comparison here, as in x > 0, "
            "found a number\n");
  EXPECT_EQ(parseToText("x + z +"),
            "4: 'z' is not a bottom of this layer\n"
            "7: expected a number, a bottom, a function or "
            "'(', found the end of the expression\n");
}

/// Hostile formulas must not exhaust the stack.
TEST(Expression, NestingAndSizeAreLimited) {
  EXPECT_EQ(parseToText(std::string(5000, '(')),
            "100: the expression nests too deeply\n");
  EXPECT_EQ(parseToText(std::string(5000, '-') + "x"),
            "199: the expression nests too deeply\n");
  EXPECT_EQ(parseToText(std::string(80, '(') + "x" + std::string(80, ')')),
            "x");
  std::string sum = "x";
  for (int i = 0; i < 5000; ++i)
    sum += "+x";
  EXPECT_NE(parseToText(sum).find("has more than 2000 parts"),
            std::string::npos);
}

/// Parses random sequences of tokens.
TEST(Expression, RandomTextsResultInATreeOrAProblem) {
  const char *const tokens[] = {
      "x",   "y",      "(",     ")", ",", "+",  "-",  "*",    "/",  "^",
      "<",   ">=",     "?",     ":", "!", "&&", "||", "1",    "2.", "exp(",
      "max", "select", "param", "'", " ", "e9", "=",  "\xff", "0",  "max("};
  std::minstd_rand random(1);
  int trees = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (unsigned length = random() % 12; length > 0; --length)
      text += tokens[random() % std::size(tokens)];
    const Formula formula = parse(text, bottoms, 1);
    trees += formula.root != nullptr;
    EXPECT_NE(formula.root != nullptr, !formula.problems.empty()) << text;
    for (const Problem &problem : formula.problems)
      EXPECT_LE(problem.offset, text.size()) << text;
  }
  EXPECT_GT(trees, 100);
}

} // namespace
