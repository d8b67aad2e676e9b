//===- PropagateStoredParams.cpp - Forwarding of stored parameters --------===//
#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "passes/Passes.h"

#include "mlir/IR/Builders.h"

namespace brew::passes {
#define GEN_PASS_DEF_PROPAGATESTOREDPARAMS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

struct PropagateStoredParams
    : brew::passes::impl::PropagateStoredParamsBase<PropagateStoredParams> {
  /// Replaces a read by the stored value.
  static void replaceRead(ParamValueOp read, Value stored) {
    // PERMISSIVE sharing: the layers may see different shapes.
    if (stored.getType() != read.getType()) {
      OpBuilder b(read);
      stored = ReinterpretOp::create(b, read.getLoc(), read.getType(), stored);
    }
    read.replaceAllUsesWith(stored);
    read.erase();
  }

  void runOnOperation() override {
    ProgramOp program = getOperation();
    llvm::DenseMap<StringAttr, StoreParamOp> lastStores;
    for (Operation &op :
         llvm::make_early_inc_range(program.getBody().front())) {
      if (auto read = dyn_cast<ParamValueOp>(op)) {
        if (StoreParamOp store =
                lastStores.lookup(read.getParamAttr().getAttr()))
          replaceRead(read, store.getValue());
      } else if (auto store = dyn_cast<StoreParamOp>(op)) {
        StoreParamOp &lastStore = lastStores[store.getParamAttr().getAttr()];
        if (lastStore)
          lastStore.erase();
        lastStore = store;
      }
    }
  }
};

} // namespace
