//===- ParameterOffsets.cpp - Parameter offsets in arenas -----------------===//
#include "passes/analysis/ParameterOffsets.h"

#include "passes/analysis/MemoryPlanner.h"
#include "passes/analysis/ValueStorage.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace brew::dialects;

/// Minimal bytes of a large parameter; biases and normalization parameters are
/// smaller.
constexpr int64_t kLargeBytes = 16 * 1024;

brew::passes::ParameterOffsets::ParameterOffsets(ModuleOp module) {
  for (const bool areLarge : {true, false})
    for (auto param : module.getOps<ParamOp>()) {
      const int64_t bytes = bytesOf(cast<RankedTensorType>(param.getType()));
      if ((bytes >= kLargeBytes) != areLarge)
        continue;
      bySymbol[param.getSymNameAttr()] = size;
      size += llvm::alignTo(bytes, kBufferAlignment);
    }
  module.walk([&](StoreStateOp store) {
    slots = std::max<int64_t>(slots, store.getSlot() + 1);
  });
}
