//===- OrderedProgram.h - Ordering problem of a program ---------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "passes/plan/StepOrder.h"

#include <optional>

namespace brew::passes {

/// The steps of a program as an ordering problem, with the values that they
/// read and write.
class OrderedProgram {
public:
  explicit OrderedProgram(dialects::ProgramOp program);

  OrderProblem problem;

  /// Returns the operation of each step.
  llvm::ArrayRef<mlir::Operation *> operations() const { return steps; }
  /// Sets the size of values outside the transient arena to 0. `isOutsideArena`
  /// receives the value that owns the memory.
  void excludeValues(llvm::function_ref<bool(mlir::Value)> isOutsideArena);
  /// Returns an order with the steps of the forward pass, and their
  /// dependencies, before all others.
  std::vector<unsigned> forwardFirstOrder() const;
  /// Applies an order of the steps. Moves each other operation before the first
  /// step that reads its results, or to the end.
  void applyOrder(llvm::ArrayRef<unsigned> order);

private:
  void appendWithProducers(mlir::Operation *op);
  unsigned valueNumberOf(mlir::Value value);
  void addStep(mlir::Operation *op);
  void addInPlacePairs(mlir::Operation *op, OrderedStep &step);
  void addSink(mlir::Operation *op);

  mlir::Block &block;
  llvm::SmallVector<mlir::Operation *> steps;
  llvm::DenseMap<mlir::Value, unsigned> values;
  llvm::SmallPtrSet<mlir::Operation *, 32> appended;
  std::optional<unsigned> lastStepWithEffects;
};

} // namespace brew::passes
