//===- ParameterPlaces.cpp - Where parameters lie in their arenas ---------===//
#include "passes/ParameterPlaces.h"

#include "passes/MemoryPlanner.h"
#include "passes/ValuePlace.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace brew::ir;

/// Bytes from which a parameter lies with the large ones: those of biases and
/// normalisations are smaller.
constexpr int64_t kLarge = 16 * 1024;

brew::ParameterPlaces::ParameterPlaces(ModuleOp module) {
  for (const bool areLarge : {true, false})
    for (auto param : module.getOps<ParamOp>()) {
      const int64_t bytes = bytesOf(cast<RankedTensorType>(param.getType()));
      if ((bytes >= kLarge) != areLarge)
        continue;
      offsets[param.getSymNameAttr()] = size;
      size += llvm::alignTo(bytes, kBufferAlignment);
    }
  module.walk([&](StoreStateOp store) {
    slots = std::max<int64_t>(slots, store.getSlot() + 1);
  });
}
