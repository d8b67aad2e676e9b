//===- VerifyPhases.cpp - What each phase of the brew dialect promises
//-----===//
#include "dialects/Brew/layers/Shape.h"
#include "dialects/Brew/layers/Solver.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace brew {
#define GEN_PASS_DEF_VERIFYIMPORT
#define GEN_PASS_DEF_VERIFYGRAPH
#define GEN_PASS_DEF_VERIFYFUSED
#include "passes/Passes.h.inc"
} // namespace brew

using namespace mlir;
using namespace brew::ir;

namespace {

bool isSink(Operation *op) {
  return isa<StoreParamOp, StoreGradientOp, StoreStateOp, StoreAllGradientsOp,
             OutputOp, KeepOp, CheckLabelsOp>(op);
}
bool isRead(Operation *op) {
  return isa<ParamValueOp, ParamGradientOp, ParamStateOp, AllGradientsOp,
             SolverScalarOp>(op);
}

struct VerifyImport : brew::impl::VerifyImportBase<VerifyImport> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>())
      for (Operation &op : program.getBody().front())
        if (!isa<FeedOp, ShapeInterface>(op) && !isRead(&op) && !isSink(&op)) {
          op.emitError("phase import: this operation is no layer");
          return signalPassFailure();
        }
  }
};

struct VerifyGraph : brew::impl::VerifyGraphBase<VerifyGraph> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) {
      for (Type type : op->getResultTypes())
        if (auto shaped = dyn_cast<ShapedType>(type))
          if (!shaped.hasRank() || !shaped.hasStaticShape()) {
            op->emitError("phase graph: a value has no static shape");
            return WalkResult::interrupt();
          }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

/// What is joined and cut shares the whole's memory, and nothing that does not
/// follow strides reads or writes a part.
LogicalResult checkParts(Operation *op) {
  auto check = [&](Value part, Value whole) -> LogicalResult {
    if (part.getType() == partOf(tensorOf(whole), shapeOf(part)))
      return success();
    return op->emitError("phase fused: a part does not have the strides of the "
                         "whole");
  };
  if (auto cut = dyn_cast<CutOp>(op))
    return check(cut.getY(), cut.getX());
  if (auto join = dyn_cast<JoinOp>(op)) {
    for (Value x : join.getXs())
      if (failed(check(x, join.getY())))
        return failure();
    return success();
  }
  if (isa<KernelOp, KeepOp, OutputOp>(op))
    return success();
  for (Value value : llvm::concat<Value>(llvm::to_vector(op->getOperands()),
                                         SmallVector<Value>(op->getResults())))
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      if (isPart(type))
        return op->emitError("phase fused: this operation does not follow the "
                             "strides of a part");
  return success();
}

struct VerifyFused : brew::impl::VerifyFusedBase<VerifyFused> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>())
      for (Operation &op : program.getBody().front()) {
        if (!isa<FeedOp, KernelOp, LibraryInterface, ReinterpretOp, JoinOp,
                 CutOp>(op) &&
            !isRead(&op) && !isSink(&op)) {
          op.emitError("phase fused: this operation is neither a vendor call "
                       "nor part of a kernel");
          return signalPassFailure();
        }
        if (failed(checkParts(&op)))
          return signalPassFailure();
      }
  }
};

} // namespace
