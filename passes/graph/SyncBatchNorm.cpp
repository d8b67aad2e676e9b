//===- SyncBatchNorm.cpp - Batch statistics over all ranks ----------------===//
#include "dialects/Brew/layers/normalization/Normalization.h"
#include "passes/Passes.h"

namespace brew::passes {
#define GEN_PASS_DEF_SYNCBATCHNORM
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

struct SyncBatchNorm : brew::passes::impl::SyncBatchNormBase<SyncBatchNorm> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    // Only rank 0 runs test programs.
    if (program.getNetPhase() == NetPhase::Train)
      program.walk([](BatchNormOp norm) { norm.setSynchronized(true); });
  }
};

} // namespace
