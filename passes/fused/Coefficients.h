//===- Coefficients.h - Arithmetic on the numbers of channels ---*- C++ -*-===//
#pragma once

#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <vector>

namespace brew::passes {

/// Expressions over tensors of one number per channel. Equal expressions have
/// equal numbers.
class Coefficients {
public:
  using Id = unsigned;
  static constexpr Id kZero = 0, kOne = 1;

  Coefficients();

  Id tensor(mlir::Value value);
  Id constant(mlir::TypedAttr value);
  Id sum(Id a, Id b);
  Id product(Id a, Id b);
  Id negative(Id a);

  /// Returns the tensor, or null if the expression is not just a tensor.
  mlir::Value tensorOf(Id id) const { return nodes[id].tensor; }
  /// Returns whether the expression reads no tensor.
  bool isConstant(Id id) const;
  /// Returns the operand of a negative, or `id` of any other expression.
  Id magnitude(Id id) const {
    return nodes[id].kind == Kind::Negative ? nodes[id].a : id;
  }
  /// Adds the tensors that an expression reads.
  void collectTensors(Id id, llvm::SmallVectorImpl<mlir::Value> &tensors) const;
  /// Emits an expression of type `type`. `elements` maps tensors to their
  /// elements.
  mlir::Value
  build(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, Id id,
        const llvm::DenseMap<mlir::Value, mlir::Value> &elements) const;

private:
  enum class Kind { Zero, One, Constant, Tensor, Sum, Product, Negative };
  struct Node {
    Kind kind = Kind::Zero;
    Id a = 0, b = 0;
    mlir::Value tensor = {};
    mlir::TypedAttr constant = {};
  };
  Id add(const Node &node);

  std::vector<Node> nodes;
  std::map<std::tuple<Kind, Id, Id, const void *, const void *>, Id> ids;
};

} // namespace brew::passes
