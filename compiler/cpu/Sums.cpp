//===- Sums.cpp - Sums of a nest's iterations -----------------------------===//

#include "compiler/cpu/Sums.h"

#include "compiler/kernels/KernelIndices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace brew::compiler::cpu {

/// Number of terms from which on a sum is long.
static constexpr int64_t kMinLongSum = 512;
/// Maximum number of terms of a block of a long sum. A loop that LLVM
/// vectorises has an accumulator for each lane, and adds the lanes up at the
/// end of each block.
static constexpr int64_t kVectorBlock = 4096, kScalarBlock = 128;

int64_t reductionIterations(const Nest &nest) {
  int64_t iterations = 1;
  for (const Loop &loop : nest.loops)
    if (loop.reduction)
      iterations *= loop.extent;
  return iterations;
}

bool sumsInAnyOrder(const Nest &nest) {
  linalg::GenericOp op = nest.op;
  return nest.reorderable &&
         llvm::none_of(
             op.getRegionOutputArgs().take_front(nest.outputs.size()),
             [](Value accumulator) { return accumulator.use_empty(); }) &&
         llvm::all_of(
             nest.body()->getTerminator()->getOperands(), [](Value value) {
               return isa_and_nonnull<arith::AddFOp>(value.getDefiningOp());
             });
}

bool hasLongSums(const Nest &nest) {
  return sumsInAnyOrder(nest) && reductionIterations(nest) >= kMinLongSum;
}

int64_t sumBlockLength(const Nest &nest, unsigned loop) {
  auto isContiguous = [](std::optional<int64_t> step) {
    return step && std::abs(*step) <= 1;
  };
  bool vectorises = llvm::all_of(nest.inputs, [&](const auto &input) {
    return !input || isContiguous(input->address.coefs[loop]);
  });
  for (const auto &[op, extract] : nest.extracts)
    vectorises &= isContiguous(extractStep(nest, op, extract, loop));
  return vectorises ? kVectorBlock : kScalarBlock;
}

} // namespace brew::compiler::cpu
