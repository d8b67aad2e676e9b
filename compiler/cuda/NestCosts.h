//===- NestCosts.h - What loops cost on a GPU -------------------*- C++ -*-===//
//
// Costs are rough cycles. They only need to rank: what the memory system moves,
// and how long one lane takes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/cuda/KernelSchedule.h"

namespace brew::compiler::cuda {

class NestCosts {
public:
  NestCosts(const Kernel &kernel, dialects::target::GpuAttr gpu)
      : kernel(kernel), gpu(gpu),
        elementsPerCycle(static_cast<double>(gpu.getBytesPerCycle()) / 4) {}

  struct Cost {
    double traffic = 0, latency = 0;
    Cost &operator+=(const Cost &other);
  };

  /// The cost of a nest for one grid point with `lanes` lanes per value, each
  /// of which does `pack` neighbouring iterations at once.
  Cost ofNest(const SubKernel &subKernel, const Nest &nest, const NestSchedule &inner,
              unsigned team, unsigned lanes, unsigned pack) const;
  /// The same for `threads` threads that take `columns` points together.
  Cost ofColumns(const SubKernel &subKernel, const Nest &nest, const NestSchedule &inner,
                 unsigned columns, unsigned threads) const;
  /// Of a subKernel, all of whose points each have `team` threads and that cost.
  double timeOf(const Cost &cost, int64_t points, unsigned team) const;
  /// Of one block that does all points, some at a time.
  double timeAlone(const Cost &cost, int64_t points, int64_t atATime) const;

private:
  double ofIteration(const SubKernel &subKernel, const Nest &nest,
                     std::optional<unsigned> loop) const;

  const Kernel &kernel;
  dialects::target::GpuAttr gpu;
  double elementsPerCycle; ///< of four bytes that memory delivers
};

} // namespace brew::compiler::cuda
