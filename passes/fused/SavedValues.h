//===- SavedValues.h - What a forward pass keeps for backward ---*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Target/Roofline.h"
#include "passes/fused/RematerializationChoice.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace brew::passes {

/// The values that `op`, with its regions, reads from outside of it.
llvm::SmallVector<mlir::Value> valuesReadBy(mlir::Operation *op);

/// The forward operations of a program in units that can be computed again, and
/// where in the program their results are needed. A unit is an operation, or a
/// brew.concat_view with all that makes its parts. Nests are nests still: what will
/// not leave a kernel counts as if it did.
class SavedValues {
public:
  SavedValues(dialects::ProgramOp program,
              const dialects::target::Roofline &roofline);

  /// Positions are those of operations in the program's block.
  RematerializationProblem problem;

  /// Where the backward pass begins; null: there is none.
  mlir::Operation *backward = nullptr;
  /// The operations of a unit, in order.
  llvm::ArrayRef<mlir::Operation *> operationsOf(unsigned unit) const {
    return operations[unit];
  }
  /// The step beside which a unit can be made again (see RematerializationUnit), and
  /// what must wait for it, in order.
  mlir::Operation *fusionStepOf(unsigned unit) const { return beside[unit]; }
  llvm::ArrayRef<mlir::Operation *> deferredFor(unsigned unit) const {
    return waiting[unit];
  }
  /// What all steps take by the roofline.
  double seconds = 0;
  /// The unit that a forward operation is in.
  std::optional<unsigned> unitOf(mlir::Operation *op) const;

private:
  void findBackward();
  void formUnits();
  void findUses();
  void finish(unsigned unit);
  void findFusionStep(unsigned unit);
  mlir::Operation *lastReader(mlir::Value x,
                              mlir::linalg::GenericOp maker) const;
  std::optional<llvm::SmallVector<mlir::Operation *>>
  deferrableUsersOf(mlir::Value y, mlir::Operation *until) const;
  dialects::target::Work countScalarOperations(mlir::Operation *op) const;
  int64_t bytesOf(mlir::Value owner) const;
  int64_t positionOf(mlir::Operation *op) const { return position.at(op); }
  bool isForward(mlir::Operation *op) const {
    return positionOf(op) < backwardPosition;
  }

  mlir::Block &block;
  const dialects::target::Roofline &roofline;
  int64_t backwardPosition = 0;
  llvm::DenseMap<mlir::Operation *, int64_t> position;
  std::vector<llvm::SmallVector<mlir::Operation *>> operations, waiting;
  std::vector<mlir::Operation *> beside;
  llvm::DenseMap<mlir::Operation *, unsigned> units;
};

} // namespace brew::passes
