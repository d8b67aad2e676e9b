//===- EmitKernelsCost.h - What a nest costs on a CPU -----------*- C++ -*-===//
//
// Costs are rough cycles of a machine with 16-lane vectors. They only need to
// rank: contiguous vectors before gathers, registers before memory.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/kernels/KernelModel.h"

namespace brew::compiler {

/// Elements of a vector.
constexpr int64_t kLanes = 16;
/// A row of accumulators that LLVM keeps in registers.
constexpr int64_t kRegisterRow = 128;

/// Iterations of all reductions together.
int64_t windowOf(const Nest &nest);

/// Whether a reduction innermost is worth a row of partial sums: LLVM would add
/// up a vector's lanes each time the loop ends.
bool hasPartialSums(const Nest &nest, unsigned loop);

/// Cost of one iteration on average with `loop` innermost and vectorised.
double iterationCost(const Nest &nest, unsigned loop);

/// Cost of a nest whose loops from `outer` on run by themselves; sets the best
/// innermost loop.
double rowsCost(const Nest &nest, unsigned outer,
                std::optional<unsigned> &innermost);

} // namespace brew::compiler
