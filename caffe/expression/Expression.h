//===- Expression.h - Elementwise formulas as trees -------------*- C++ -*-===//
//
// The formula of an Expression layer: numbers, bottoms by their names,
// param(i), arithmetic, comparisons, select and functions. The parser knows the
// names of bottoms only; the brew dialect defines the meaning on tensors.
// docs/expressions.md describes the language.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace brew::caffe::expression {

/// The operation of a node. Some functions of the language are built from other
/// nodes and have no kind.
enum class Kind {
  Number,
  Bottom, ///< `index` of the bottom
  Param,  ///< `index` of the parameter
  // Arithmetic on numbers.
  Negate,
  Add,
  Subtract,
  Multiply,
  Divide,
  Power,
  // Comparisons of two numbers; a boolean.
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  // Operations on booleans.
  And,
  Or,
  Not,
  /// A boolean and two numbers, or three booleans.
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
  /// Byte of the text where the node's name or operator begins.
  size_t offset = 0;
  double number = 0; ///< of a Number
  int index = 0;     ///< of a Bottom or Param
  std::vector<std::unique_ptr<Node>> operands = {};

  /// Returns whether its value is a boolean rather than a number.
  bool isBoolean() const;
};

/// An error in a formula, and the byte of the text where it is.
struct Problem {
  size_t offset = 0;
  std::string text;
};

struct Formula {
  /// Null if there are problems.
  std::unique_ptr<Node> root;
  /// All errors up to the first syntax error, which ends the parse.
  std::vector<Problem> problems;
  /// For each bottom and parameter, whether the formula reads it.
  std::vector<bool> usedBottoms, usedParams;
};

/// Parses `text`, which may read the named `bottoms` and `params` parameters.
/// The root is a number.
Formula parse(const std::string &text, const std::vector<std::string> &bottoms,
              int params);

} // namespace brew::caffe::expression
