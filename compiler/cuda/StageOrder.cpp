//===- StageOrder.cpp - Order of the stages of a kernel -------------------===//
#include "compiler/cuda/StageOrder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace brew::compiler::cuda {

static void markNestAccesses(const Nest &nest,
                             MutableArrayRef<KernelArgument> arguments) {
  auto markRead = [&](const Source &source) {
    if (source.kind == Source::Kind::Argument)
      arguments[source.argument].read = true;
  };
  for (const std::optional<Access> &input : nest.inputs)
    if (input)
      markRead(input->source);
  for (const auto &entry : nest.extracts)
    markRead(entry.second.source);
  for (const Output &output : nest.outputs) {
    if (output.initial)
      markRead(output.initial->source);
    for (unsigned argument : output.arguments) {
      arguments[argument].written = true;
      // Later nests may read the output from this buffer.
      arguments[argument].read |= output.readLater;
    }
  }
  for (const Output &store : nest.perIterationStores)
    for (unsigned argument : store.arguments)
      arguments[argument].written = true;
}

void markAccesses(ArrayRef<SubKernel> subKernels,
                  MutableArrayRef<KernelArgument> arguments) {
  for (const SubKernel &subKernel : subKernels)
    for (const Nest &nest : subKernel.nests)
      markNestAccesses(nest, arguments);
}

static void clearAccesses(MutableArrayRef<KernelArgument> arguments) {
  for (KernelArgument &argument : arguments)
    argument.read = argument.written = false;
}

/// Returns whether the accesses of two stages include the same bytes, written
/// by one of them.
static bool mustBeOrdered(ArrayRef<KernelArgument> first,
                          ArrayRef<KernelArgument> second) {
  for (auto [i, a] : llvm::enumerate(first))
    for (auto [j, b] : llvm::enumerate(second))
      if ((i == j || (a.aliased && b.aliased)) &&
          ((a.written && (b.read || b.written)) || (a.read && b.written)))
        return true;
  return false;
}

StageOrder::StageOrder(const std::vector<KernelArgument> &arguments)
    : accesses(arguments) {
  clearAccesses(accesses);
}

bool StageOrder::beginStage(ArrayRef<SubKernel> subKernels) {
  std::vector<KernelArgument> own = accesses;
  clearAccesses(own);
  markAccesses(subKernels, own);
  const bool mustWait = mustBeOrdered(accesses, own);
  if (mustWait) {
    clearAccesses(accesses);
    turnsBefore = 0;
  }
  markAccesses(subKernels, accesses);
  return mustWait;
}

std::string StageOrder::turnsOf(const SubKernelSchedule &first, int64_t turns) {
  const bool descends = first.columns == 1 && turns > 1;
  std::string block = "blockIdx.x";
  if (turnsBefore > 0)
    block = "(blockIdx.x + gridDim.x - " + std::to_string(turnsBefore) +
            "u % gridDim.x) % gridDim.x";
  turnsBefore += turns;
  return "for (unsigned turn = " +
         (descends ? std::to_string(turns - 1) + "u - " : "") + block +
         "; turn < " + std::to_string(turns) + "u; turn " +
         (descends ? "-" : "+") + "= gridDim.x)";
}

} // namespace brew::compiler::cuda
