//===- NestCosts.h - Cost of a nest on a CPU --------------------*- C++ -*-===//
//
// Costs are rough cycles that only rank schedules: contiguous vectors before
// gathers, registers before memory.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/kernels/KernelModel.h"
#include "dialects/Target/TargetDialect.h"

namespace brew::compiler::cpu {

/// Maximum number of accumulators in a row that stays in registers or in the L1
/// cache. Shorter rows for processors with few registers (AVX2) were slower in
/// measurements.
constexpr int64_t kRegisterRow = 128;

/// Estimates the cost of nests on one processor.
class NestCosts {
public:
  explicit NestCosts(dialects::target::CpuAttr cpu)
      : cpu(cpu), lanes(cpu.lanes()) {}

  /// Returns whether an innermost reduction should accumulate a row of partial
  /// sums. Without them, LLVM would sum a vector's lanes each time the loop
  /// ends.
  bool hasPartialSums(const Nest &nest, unsigned loop) const;
  /// Returns the average cost of an iteration if `loop` is innermost and
  /// vectorised.
  double iterationCost(const Nest &nest, unsigned loop) const;
  /// Returns the cost of a nest whose loops from `outer` on run separately;
  /// sets the best innermost loop.
  double rowsCost(const Nest &nest, unsigned outer,
                  std::optional<unsigned> &innermost) const;

  const dialects::target::CpuAttr cpu;
  const int64_t lanes; ///< elements per vector

private:
  double accessCost(std::optional<int64_t> step, mlir::Type element) const;
};

} // namespace brew::compiler::cpu
