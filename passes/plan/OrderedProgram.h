//===- OrderedProgram.h - A program as memory sees its order ----*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "passes/plan/StepOrder.h"

#include <optional>

namespace brew::passes {

/// A program's steps, as far as memory needs to know them: in their order, with
/// what they read and write.
class OrderedProgram {
public:
  explicit OrderedProgram(dialects::ProgramOp program);

  OrderProblem problem;

  /// The operation of each step.
  llvm::ArrayRef<mlir::Operation *> operations() const { return steps; }
  /// Takes the bytes of values from the problem that take none of the transient
  /// arena, as `isElsewhere` says of what owns them.
  void excludeValues(llvm::function_ref<bool(mlir::Value)> isElsewhere);
  /// The steps of the forward pass, with what they need, before all others.
  std::vector<unsigned> forwardFirst() const;
  /// Puts the steps in that order, and what is no step before the first one
  /// that reads it, or at the end.
  void arrange(llvm::ArrayRef<unsigned> order);

private:
  void append(mlir::Operation *op);
  unsigned valueOf(mlir::Value value);
  void addStep(mlir::Operation *op);
  void addInPlacePairs(mlir::Operation *op, OrderedStep &step);
  void addSink(mlir::Operation *op);

  mlir::Block &block;
  llvm::SmallVector<mlir::Operation *> steps;
  llvm::DenseMap<mlir::Value, unsigned> values;
  llvm::SmallPtrSet<mlir::Operation *, 32> appended;
  std::optional<unsigned> lastEffect;
};

} // namespace brew::passes
