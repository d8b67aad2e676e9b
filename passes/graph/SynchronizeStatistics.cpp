//===- SynchronizeStatistics.cpp - Batches of all ranks -------------------===//
#include "dialects/Brew/layers/normalization/Normalization.h"
#include "passes/Passes.h"

namespace brew::passes {
#define GEN_PASS_DEF_SYNCHRONIZESTATISTICS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

struct SynchronizeStatistics
    : brew::passes::impl::SynchronizeStatisticsBase<SynchronizeStatistics> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>())
      // Rank 0 alone tests.
      if (program.getNetPhase() == NetPhase::Train)
        program.walk([](BatchNormOp norm) { norm.setSynchronized(true); });
  }
};

} // namespace
