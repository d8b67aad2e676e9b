//===- StepSequence.h - Repeated steps as CUDA graphs -----------*- C++ -*-===//
#pragma once

#include "runtime/cuda/CudaStep.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// Steps of one or several programs, in order. The first run enqueues them one
/// by one, so that libraries load their code. Later runs launch one CUDA graph,
/// or one graph for each segment between host layers.
class StepSequence {
public:
  /// Appends a step. It must outlive the sequence and stay at the same address.
  void add(CudaStep &step);

  /// Runs the steps. If they cannot be captured, calls `warn` once with the
  /// reason and enqueues them one by one from then on.
  void run(const LaunchContext &context,
           const std::function<void(const std::string &)> &warn);

  /// Returns the number of nodes of all graphs: kernels, copies and fills.
  std::size_t graphNodes() const;

private:
  struct GraphSegment {
    std::vector<CudaStep *> steps;
    CudaStep *hostLayer =
        nullptr; ///< the host layer after them; null at the end
    std::uint64_t runs = 0;
    Graph graph;
  };
  std::vector<GraphSegment> segments;
  bool isCapturable = true;
};

} // namespace brew::runtime::cuda
