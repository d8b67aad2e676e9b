//===- NestCosts.h - Cost of loops on a GPU ---------------------*- C++ -*-===//
//
// Costs are rough cycles that only rank schedules: memory traffic, and latency
// of one lane.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/cuda/KernelSchedule.h"

namespace brew::compiler::cuda {

/// Estimates the cost of a kernel's nests on one GPU.
class NestCosts {
public:
  NestCosts(const Kernel &kernel, dialects::target::GpuAttr gpu)
      : kernel(kernel), gpu(gpu),
        elementsPerCycle(static_cast<double>(gpu.getBytesPerCycle()) / 4) {}

  struct Cost {
    double traffic = 0; ///< four-byte elements
    double latency = 0; ///< cycles
    Cost &operator+=(const Cost &other);
  };

  /// Returns the cost of a nest for one grid point with `lanes` lanes per
  /// value, each of which processes `pack` neighbouring iterations at once.
  Cost ofNest(const SubKernel &subKernel, const Nest &nest,
              const NestSchedule &inner, unsigned team, unsigned lanes,
              unsigned pack) const;
  /// Returns the cost for `threads` threads that take `columns` points
  /// together.
  Cost ofColumns(const SubKernel &subKernel, const Nest &nest,
                 const NestSchedule &inner, unsigned columns,
                 unsigned threads) const;
  /// Returns the time of a sub-kernel with `team` threads and the given cost
  /// per point.
  double timeOf(const Cost &cost, int64_t points, unsigned team) const;
  /// Returns the time of one block that processes all points,
  /// `concurrentPoints` of them at once.
  double timeAlone(const Cost &cost, int64_t points,
                   int64_t concurrentPoints) const;

private:
  double ofIteration(const SubKernel &subKernel, const Nest &nest,
                     std::optional<unsigned> loop) const;

  const Kernel &kernel;
  dialects::target::GpuAttr gpu;
  double elementsPerCycle; ///< four-byte elements from memory per cycle
};

} // namespace brew::compiler::cuda
