//===- ChannelSums.h - Values of a nest as sums per channel -----*- C++ -*-===//
#pragma once

#include "passes/fused/Coefficients.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace brew::passes {

/// The values of a nest's body as sums of elements times coefficients, which
/// are expressions of the numbers per channel that the nest reads.
class ChannelSums {
public:
  using Id = Coefficients::Id;

  ChannelSums(mlir::linalg::GenericOp nest, Coefficients &coefficients)
      : nest(nest), coefficients(coefficients) {}

  /// Erases unused operations of the body and determines the sums. Returns
  /// whether they need fewer tensors than the nest reads.
  bool analyse();

  /// Returns the coefficients that the nest needs.
  llvm::ArrayRef<Id> neededIds() const { return needed.getArrayRef(); }

  /// Replaces the nest by one that computes the sums. It reads `tensors`, one
  /// for each needed coefficient.
  void rebuild(mlir::RewriterBase &rewriter,
               llvm::ArrayRef<mlir::Value> tensors);

private:
  /// A value of the body with one number per channel.
  struct Number {
    mlir::Value value, tensor;
  };
  /// A sum of elements times coefficients, and a coefficient.
  struct Sum {
    llvm::SmallVector<std::pair<mlir::Value, Id>, 2> terms;
    Id constant = Coefficients::kZero;
  };

  /// Returns the numbers that the body reads through each map.
  llvm::MapVector<mlir::AffineMap, llvm::SmallVector<Number>> numbers();
  /// Chooses the map of most numbers. Returns false if there are too few, or if
  /// no nest computes one of them: then another kernel would have to compute
  /// the coefficients.
  bool chooseChannels();
  /// Returns whether the body loads elements of 16 bits.
  bool readsNarrowElements();
  /// Erases unused operations, whose operands would need coefficients.
  void eraseDeadOperations();

  Sum sumOf(mlir::Value value);
  /// Returns a + b, or nullopt if their terms must not change their order.
  std::optional<Sum> added(Sum a, const Sum &b);
  Sum scaled(Sum sum, Id factor);
  Sum negated(Sum sum);
  /// Returns the result of an operation as a sum, if it is one.
  std::optional<Sum> sumOfResult(mlir::Operation &op);
  void addOperation(mlir::Operation &op);
  /// Records the coefficients of a value that the body must compute.
  void need(mlir::Value value);
  void needCoefficient(Id id);

  void buildBody(mlir::OpBuilder &b);
  /// Emits the sum of a value, once.
  void compute(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value);
  mlir::Value coefficientValue(mlir::OpBuilder &b, mlir::Location loc, Id id);

  mlir::linalg::GenericOp nest;
  Coefficients &coefficients;
  mlir::AffineMap channelMap;
  mlir::Type elementType;
  llvm::SmallVector<mlir::Value> channelValues;
  llvm::SmallSetVector<mlir::Value, 8> channelTensors;
  llvm::DenseMap<mlir::Value, Sum> sums;
  llvm::SmallSetVector<Id, 8> needed;
  mlir::IRMapping newValues;
  llvm::DenseMap<Id, mlir::Value> elements; ///< of needed coefficients
};

} // namespace brew::passes
