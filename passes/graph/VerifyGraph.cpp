//===- VerifyGraph.cpp - Verifier of phase graph --------------------------===//
#include "dialects/Brew/layers/recurrent/Recurrent.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "passes/Passes.h"

namespace brew::passes {
#define GEN_PASS_DEF_VERIFYGRAPH
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

struct VerifyGraph : brew::passes::impl::VerifyGraphBase<VerifyGraph> {
  /// Checks that every learnable parameter that a training program reads has a
  /// gradient and, if there is an update program, that every gradient has an
  /// update.
  LogicalResult checkLearning() {
    SymbolTable symbols(getOperation());
    bool hasUpdate = false;
    llvm::DenseSet<StringAttr> updated;
    for (auto program : getOperation().getOps<ProgramOp>()) {
      if (program.getRole() != ProgramRole::Update)
        continue;
      hasUpdate = true;
      program.walk([&](StoreParamOp store) {
        updated.insert(store.getParamAttr().getAttr());
      });
    }
    for (auto program : getOperation().getOps<ProgramOp>()) {
      if (!program.getDifferentiate())
        continue;
      llvm::DenseSet<StringAttr> stored;
      program.walk([&](StoreGradientOp store) {
        stored.insert(store.getParamAttr().getAttr());
      });
      for (auto read : program.getOps<ParamValueOp>()) {
        StringAttr name = read.getParamAttr().getAttr();
        auto param = symbols.lookup<ParamOp>(name);
        if (!param)
          return read.emitError("phase graph: there is no parameter ")
                 << read.getParamAttr();
        if (!param.getLrMult().isZero() && !stored.contains(name))
          return read.emitError("phase graph: parameter ")
                 << read.getParamAttr() << " is learnable but has no gradient";
        if (hasUpdate && stored.contains(name) && !updated.contains(name))
          return read.emitError("phase graph: parameter ")
                 << read.getParamAttr() << " has a gradient but no update";
      }
    }
    return success();
  }

  void runOnOperation() override {
    if (failed(checkLearning()))
      return signalPassFailure();
    WalkResult result = getOperation().walk([](Operation *op) {
      if (isa<SplitOp, LSTMOp, RNNOp, RunCountOp>(op)) {
        op->emitError("phase graph: this layer should have been replaced");
        return WalkResult::interrupt();
      }
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

} // namespace
