//===- Expression.h - Elementwise formulas as trees -------------*- C++ -*-===//
//
// The formula of an Expression layer: numbers, bottoms by their names,
// param(i), arithmetic, comparisons, select and functions. Parsing needs the
// names only; what a node means on tensors is up to the brew dialect. The
// language is described in docs/expressions.md.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace brew::caffe::expression {

/// What a node computes. The functions are those of the language; a few of its
/// words are built from other nodes and have none of their own.
enum class Kind {
  Number,
  Bottom, ///< `index` of the bottom
  Param,  ///< `index` of the parameter
  // Arithmetic: numbers to a number.
  Negate,
  Add,
  Subtract,
  Multiply,
  Divide,
  Power,
  // Comparisons: two numbers to a truth value.
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  // Truth values to a truth value.
  And,
  Or,
  Not,
  /// A truth value and two numbers (or two truth values).
  Select,
  /// 1 or 0.
  BooleanToNumber,
  // Functions of one number.
  Abs,
  Ceil,
  Cos,
  Erf,
  Exp,
  Expm1,
  Floor,
  Log,
  Log1p,
  Relu,
  Rsqrt,
  Sigmoid,
  Sign,
  Sin,
  Softplus,
  Sqrt,
  Tanh,
  // Functions of two numbers.
  Max,
  Min,
};

struct Node {
  Kind kind = Kind::Number;
  /// Byte of the text where the node's own word or sign begins.
  size_t offset = 0;
  double number = 0; ///< of a Number
  int index = 0;     ///< of a Bottom or Param
  std::vector<std::unique_ptr<Node>> operands = {};

  /// Whether its value is a truth value rather than a number.
  bool isBoolean() const;
};

/// What is wrong with a formula, and at which byte of its text.
struct Problem {
  size_t offset = 0;
  std::string text;
};

struct Formula {
  /// Null if there are problems.
  std::unique_ptr<Node> root;
  /// A syntax error ends the parse; of other errors all are here.
  std::vector<Problem> problems;
  /// Which bottoms and parameters the formula reads.
  std::vector<bool> usedBottoms, usedParams;
};

/// Parses `text`, whose names are `bottoms` and which may read `params`
/// parameters. The result is a number.
Formula parse(const std::string &text, const std::vector<std::string> &bottoms,
              int params);

} // namespace brew::caffe::expression
