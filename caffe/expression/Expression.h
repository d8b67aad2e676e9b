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
  /// Operands: a boolean and two numbers, or three booleans.
  Select,
  /// Converts true to 1 and false to 0.
  BooleanToNumber,
  // Functions of one number.
  Abs,
  Acos,
  Asin,
  Atan,
  Ceil,
  Cos,
  Cosh,
  Erf,
  Exp,
  Expm1,
  Floor,
  Log,
  Log1p,
  Relu,
  Round,
  Rsqrt,
  Sigmoid,
  Sign,
  Sin,
  Sinh,
  Softplus,
  Sqrt,
  Tan,
  Tanh,
  // Functions of two numbers.
  Max,
  Min,
};

struct Node {
  Kind kind = Kind::Number;
  /// Offset of the node's name or operator in the text, in bytes.
  size_t offset = 0;
  double number = 0; ///< of a Number
  int index = 0;     ///< of a Bottom or Param
  std::vector<std::unique_ptr<Node>> operands = {};

  /// Returns whether the node's value is a boolean rather than a number.
  bool isBoolean() const;
};

/// An error in a formula, and its offset in the text, in bytes.
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

/// Parses `text`, which may read the bottoms named in `bottoms` and `params`
/// parameters. The value of the root is a number.
Formula parse(const std::string &text, const std::vector<std::string> &bottoms,
              int params);

} // namespace brew::caffe::expression
