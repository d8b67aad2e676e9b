//===- ParameterPlaces.cpp - Where parameters lie in their arenas ---------===//
#include "passes/ParameterPlaces.h"

#include "passes/MemoryPlanner.h"
#include "passes/ValuePlace.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace brew::ir;

brew::ParameterPlaces::ParameterPlaces(ModuleOp module) {
  for (auto param : module.getOps<ParamOp>()) {
    auto type = cast<RankedTensorType>(param.getType());
    offsets[param.getSymNameAttr()] = size;
    size += llvm::alignTo(bytesOf(type), kBufferAlignment);
  }
  module.walk([&](StoreStateOp store) {
    slots = std::max<int64_t>(slots, store.getSlot() + 1);
  });
}
