//===- LoopMemory.cpp - Memory of the values of a loop --------------------===//
#include "passes/plan/LoopMemory.h"

#include "dialects/Brew/KernelAnalysis.h"
#include "passes/analysis/ValueStorage.h"

using namespace mlir;
using namespace brew::dialects;
using brew::passes::LoopMemory;

static int64_t bytesOfElements(Value value, int64_t count) {
  return count * (tensorTypeOf(value).getElementTypeBitWidth() / 8);
}

static LoopMemory itemOf(LoopOp loop, Value sequence) {
  const int64_t bytes =
      bytesOfElements(sequence, memoryStrides(tensorTypeOf(sequence))[0]);
  const int64_t last = (static_cast<int64_t>(loop.getIterations()) - 1) * bytes;
  return loop.getReverse() ? LoopMemory{sequence, last, -bytes}
                           : LoopMemory{sequence, 0, bytes};
}

/// Returns the memory of a value that is no view.
static std::optional<LoopMemory> findBase(LoopOp loop, Value base) {
  const size_t sequences = loop.getSequences().size(),
               invariants = loop.getInvariants().size();
  if (auto argument = dyn_cast<BlockArgument>(base)) {
    const unsigned number = argument.getArgNumber();
    if (number < sequences)
      return itemOf(loop, loop.getSequences()[number]);
    if (number < sequences + invariants)
      return LoopMemory{loop.getInvariants()[number - sequences]};
    return LoopMemory{loop.getCarried()[number - sequences - invariants]};
  }
  const auto values =
      cast<YieldOp>(loop.getBody().front().getTerminator()).getValues();
  const auto position = llvm::find(values, base);
  if (position == values.end())
    return std::nullopt;
  Value result = loop->getResult(position - values.begin());
  return llvm::is_contained(loop.getStacked(), result) ? itemOf(loop, result)
                                                       : LoopMemory{result};
}

std::optional<LoopMemory> brew::passes::findLoopMemory(LoopOp loop,
                                                       Value value) {
  const Storage storage = storageOf(value);
  std::optional<LoopMemory> found = findBase(loop, storage.base);
  if (found)
    found->offset += bytesOfElements(value, storage.offset);
  return found;
}

FailureOr<SmallVector<int64_t>>
brew::passes::findInPlace(KernelOp kernel, ArrayRef<LoopMemory> memory) {
  const size_t inputs = kernel.getInputs().size();
  SmallVector<int64_t> inPlace;
  for (size_t result = 0; result < kernel.getNumResults(); ++result) {
    inPlace.push_back(-1);
    const LoopMemory &written = memory[inputs + result];
    for (size_t input = 0; input < inputs; ++input) {
      if (memory[input].full != written.full ||
          memory[input].offset != written.offset)
        continue;
      if (!mayShareBuffer(kernel, input, result))
        return kernel.emitError("phase plan: this kernel overwrites a carried "
                                "value that it reads in another order");
      inPlace.back() = static_cast<int64_t>(input);
    }
  }
  return inPlace;
}
