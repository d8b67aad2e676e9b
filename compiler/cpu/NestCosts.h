//===- NestCosts.h - What a nest costs on a CPU -----------*- C++ -*-===//
//
// Costs are rough cycles. They only need to rank: contiguous vectors before
// gathers, registers before memory.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/kernels/KernelModel.h"
#include "dialects/Target/TargetDialect.h"

namespace brew::compiler::cpu {

/// A row of accumulators that stays in registers, or else next to them: where
/// these are few, shorter rows (with AVX2) proved slower.
constexpr int64_t kRegisterRow = 128;

/// Iterations of all reductions jammedIndices.
int64_t reductionIterations(const Nest &nest);

/// What nests cost on one processor.
class NestCosts {
public:
  explicit NestCosts(dialects::target::CpuAttr cpu)
      : cpu(cpu), lanes(cpu.lanes()) {}

  /// Whether a reduction innermost is worth a row of partial sums: LLVM would
  /// add up a vector's lanes each time the loop ends.
  bool hasPartialSums(const Nest &nest, unsigned loop) const;
  /// Cost of one iteration on average with `loop` innermost and vectorised.
  double iterationCost(const Nest &nest, unsigned loop) const;
  /// Cost of a nest whose loops from `outer` on run by themselves; sets the
  /// best innermost loop.
  double rowsCost(const Nest &nest, unsigned outer,
                  std::optional<unsigned> &innermost) const;

  const dialects::target::CpuAttr cpu;
  const int64_t lanes; ///< elements of a vector

private:
  double accessCost(std::optional<int64_t> step, mlir::Type element) const;
};

} // namespace brew::compiler::cpu
