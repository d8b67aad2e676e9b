//===- VerifyPhases.cpp - What each phase of the brew dialect promises -----===//
#include "dialects/Brew/BrewDialect.h"
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
  return isa<StoreParamOp, StoreGradientOp, StoreStateOp, OutputOp, KeepOp,
             CheckLabelsOp>(op);
}
bool isRead(Operation *op) {
  return isa<ParamValueOp, ParamGradientOp, ParamStateOp, SolverScalarOp>(op);
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

struct VerifyFused : brew::impl::VerifyFusedBase<VerifyFused> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>())
      for (Operation &op : program.getBody().front())
        if (!isa<FeedOp, KernelOp, LibraryInterface, ReinterpretOp>(op) &&
            !isRead(&op) && !isSink(&op)) {
          op.emitError("phase fused: this operation is neither a vendor call "
                       "nor part of a kernel");
          return signalPassFailure();
        }
  }
};

} // namespace
