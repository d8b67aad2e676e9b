//===- VerifyImport.cpp - Verifier of phase import ------------------------===//
#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/LayerDiagnostics.h"
#include "dialects/Brew/Origin.h"
#include "passes/Passes.h"
#include "passes/analysis/Sinks.h"

namespace brew::passes {
#define GEN_PASS_DEF_VERIFYIMPORT
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Returns the parameter that an operation reads or stores, or null.
FlatSymbolRefAttr paramOf(Operation *op) {
  return op->hasTrait<IsPersistentRead>() || op->hasTrait<IsSink>()
             ? op->getAttrOfType<FlatSymbolRefAttr>("param")
             : FlatSymbolRefAttr();
}

struct VerifyImport : brew::passes::impl::VerifyImportBase<VerifyImport> {
  LogicalResult check(Operation *op, const SymbolTable &symbols) {
    if (!isa<ShapeInterface>(op) && !brew::passes::isInputOrSink(op))
      return op->emitError("phase import: this operation is not a layer");
    if (Origin::of(op).isBackward || isa<StoreGradientOp>(op))
      return op->emitError("phase import: there are no gradients yet");
    if (!op->hasTrait<IsInput>() && !isa<ConstantOp>(op) &&
        !llvm::all_of(op->getResultTypes(), llvm::IsaPred<UnrankedTensorType>))
      return op->emitError("phase import: shapes are not known yet");
    if (!prototxtLocation(op->getLoc()))
      return op->emitError("phase import: this operation has no location in a "
                           "prototxt");
    if (auto param = paramOf(op);
        param && !symbols.lookup<ParamOp>(param.getAttr()))
      return op->emitError("phase import: there is no parameter ") << param;
    return success();
  }

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<ProgramOp>())
      for (Operation &op : program.getBody().front())
        if (failed(check(&op, symbols)))
          return signalPassFailure();
  }
};

} // namespace
