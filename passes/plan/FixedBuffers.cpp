//===- FixedBuffers.cpp - Buffers outside the transient arena -------------===//
#include "passes/plan/FixedBuffers.h"

#include "dialects/Brew/layers/solver/Solver.h"
#include "passes/analysis/MemoryPlanner.h"
#include "passes/analysis/ValueStorage.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace brew;
using namespace brew::passes;
using namespace brew::dialects;
using dialects::plan::ArenaKind;

ConstantOffsets::ConstantOffsets(ModuleOp module) {
  module.walk([&](ConstantOp constant) {
    if (!byValue.try_emplace(constant.getValue(), size).second)
      return;
    size += llvm::alignTo(bytesOf(tensorTypeOf(constant.getResult())),
                          kBufferAlignment);
  });
}

/// Returns the buffer of all gradients or, if `sums`, of their sums over
/// batches. The sums follow the solver's state and are initially zero.
FixedBuffer FixedBuffers::allGradients(bool sums) const {
  if (sums)
    return {ArenaKind::State, offsets.slots * offsets.size, "gradient sums"};
  return {ArenaKind::Gradients, 0, "gradients"};
}

std::optional<FixedBuffer> FixedBuffers::readBy(Operation *op) const {
  if (auto read = dyn_cast<ParamValueOp>(op))
    return FixedBuffer{ArenaKind::Parameters,
                       offsets.bySymbol.lookup(read.getParamAttr().getAttr()),
                       read.getParam().str()};
  if (auto read = dyn_cast<ParamGradientOp>(op))
    return FixedBuffer{ArenaKind::Gradients,
                       offsets.bySymbol.lookup(read.getParamAttr().getAttr()),
                       read.getParam().str() + ".gradient"};
  if (auto read = dyn_cast<ParamStateOp>(op))
    return FixedBuffer{
        ArenaKind::State,
        static_cast<int64_t>(read.getSlot()) * offsets.size +
            offsets.bySymbol.lookup(read.getParamAttr().getAttr()),
        read.getParam().str() + ".history" + std::to_string(read.getSlot())};
  if (auto read = dyn_cast<AllGradientsOp>(op))
    return allGradients(read.getAccumulated());
  if (auto read = dyn_cast<SolverScalarOp>(op))
    return FixedBuffer{ArenaKind::Scalars,
                       static_cast<int64_t>(read.getScalar()) *
                           brew::passes::kBufferAlignment,
                       stringifySolverScalar(read.getScalar()).str()};
  if (auto constant = dyn_cast<ConstantOp>(op))
    return FixedBuffer{ArenaKind::Constants,
                       constants.byValue.lookup(constant.getValue()),
                       constant.getName().str()};
  assert(!op->hasTrait<IsPersistentRead>() && "a read without a buffer");
  return std::nullopt;
}

std::optional<FixedBuffer> FixedBuffers::storedBy(Operation *op) const {
  if (auto store = dyn_cast<StoreParamOp>(op))
    return FixedBuffer{ArenaKind::Parameters,
                       offsets.bySymbol.lookup(store.getParamAttr().getAttr()),
                       store.getParam().str()};
  if (auto store = dyn_cast<StoreGradientOp>(op))
    return FixedBuffer{ArenaKind::Gradients,
                       offsets.bySymbol.lookup(store.getParamAttr().getAttr()),
                       store.getParam().str() + ".gradient"};
  if (auto store = dyn_cast<StoreStateOp>(op))
    return FixedBuffer{
        ArenaKind::State,
        static_cast<int64_t>(store.getSlot()) * offsets.size +
            offsets.bySymbol.lookup(store.getParamAttr().getAttr()),
        store.getParam().str() + ".history" + std::to_string(store.getSlot())};
  if (auto store = dyn_cast<StoreAllGradientsOp>(op))
    return allGradients(store.getAccumulated());
  assert(!op->hasTrait<IsStore>() && "a store without a buffer");
  return std::nullopt;
}
