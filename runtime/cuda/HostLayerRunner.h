//===- HostLayerRunner.h - A GPU's step that the host computes -----*- C++ -*-===//
#pragma once

#include "runtime/cuda/Device.h"
#include "runtime/host_layers/HostLayerStep.h"

#include <memory>
#include <vector>

namespace brew::runtime::cuda {

/// Copies what a host layer reads to the host, waits, calls it, and starts
/// copies of what it wrote.
class HostLayerRunner {
public:
  /// `addresses`: of the operands' buffers. `memory` may serve other steps of
  /// the same stream too; it grows when it is first needed.
  HostLayerRunner(HostLayerStep step, std::vector<CUdeviceptr> addresses,
               std::shared_ptr<PinnedMemory> memory);

  void run(const Device &device, const Stream &stream);

private:
  HostLayerStep step;
  std::vector<CUdeviceptr> addresses;
  std::shared_ptr<PinnedMemory> memory;
  std::vector<std::uint64_t> offsets; ///< of each operand in `memory`
  std::uint64_t size = 0;
};

} // namespace brew::runtime::cuda
