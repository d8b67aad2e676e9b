//===- StepSequence.h - Steps that run again and again ----------*- C++ -*-===//
#pragma once

#include "runtime/cuda/ProgramSteps.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// Steps of one or several programs, in order. Their first run enqueues them
/// one by one, so that libraries load what they need; from the second on they
/// are one CUDA graph, or, where the host computes some of them, one for each
/// segment between those.
class StepSequence {
public:
  /// The steps stay where they are, and outlive it.
  void add(DeviceStep &step);

  /// `warn` is told, once, why steps cannot be a graph and are enqueued one by
  /// one.
  void run(const Device &device, CUdeviceptr workspace, const Stream &stream,
           const std::function<void(const std::string &)> &warn);

  /// Kernels, copies and clears in its graphs.
  std::size_t graphNodes() const;

private:
  struct GraphSegment {
    std::vector<DeviceStep *> steps;
    DeviceStep *host = nullptr; ///< behind them; null at the end
    std::uint64_t runs = 0;
    Graph graph;
  };
  std::vector<GraphSegment> segments;
  bool capturable = true;
};

} // namespace brew::runtime::cuda
