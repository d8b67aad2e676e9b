//===- SavedValues.h - Values saved for the backward pass -------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Target/Roofline.h"
#include "passes/fused/RematerializationChoice.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace brew::passes {

/// Returns the values that `op` and its regions read from outside.
llvm::SmallVector<mlir::Value> valuesReadBy(mlir::Operation *op);

/// The forward operations of a program as units of rematerialization, with the
/// uses of their results. A unit is an operation, or a brew.concat_view with
/// the producers of its operands. Kernels are not formed yet: a value that will
/// stay inside a kernel counts as stored.
class SavedValues {
public:
  SavedValues(dialects::ProgramOp program,
              const dialects::target::Roofline &roofline);

  /// The problem to solve. Positions number the operations of the program's
  /// block.
  RematerializationProblem problem;

  /// First operation of the backward pass; null if there is none.
  mlir::Operation *backwardBegin = nullptr;
  /// Returns the operations of a unit, in order.
  llvm::ArrayRef<mlir::Operation *> operationsOf(unsigned unit) const {
    return operations[unit];
  }
  /// Returns the step next to which a unit can be recomputed (see
  /// RematerializationUnit), and the operations that must be deferred until
  /// after it, in order.
  mlir::Operation *fusionStepOf(unsigned unit) const {
    return fusionSteps[unit];
  }
  llvm::ArrayRef<mlir::Operation *> deferredOperationsOf(unsigned unit) const {
    return deferred[unit];
  }
  /// Time of all steps by the roofline model.
  double seconds = 0;
  /// Returns the unit that contains a forward operation.
  std::optional<unsigned> unitOf(mlir::Operation *op) const;

private:
  void findBackward();
  void formUnits();
  void findUses();
  void describeUnit(unsigned unit);
  void findFusionStep(unsigned unit);
  mlir::Operation *lastReader(mlir::Value x,
                              mlir::linalg::GenericOp producer) const;
  std::optional<llvm::SmallVector<mlir::Operation *>>
  deferrableUsersOf(mlir::Value y, mlir::Operation *until) const;
  dialects::target::Work workOf(mlir::Operation *op) const;
  int64_t bytesOf(mlir::Value owner) const;
  int64_t positionOf(mlir::Operation *op) const { return position.at(op); }
  bool isForward(mlir::Operation *op) const {
    return positionOf(op) < backwardPosition;
  }

  mlir::Block &block;
  const dialects::target::Roofline &roofline;
  int64_t backwardPosition = 0;
  llvm::DenseMap<mlir::Operation *, int64_t> position;
  std::vector<llvm::SmallVector<mlir::Operation *>> operations, deferred;
  std::vector<mlir::Operation *> fusionSteps;
  llvm::DenseMap<mlir::Operation *, unsigned> units;
};

} // namespace brew::passes
