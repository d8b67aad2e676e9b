//===- HostLayerRunner.h - A host layer in a GPU program --------*- C++ -*-===//
#pragma once

#include "runtime/cuda/CudaStep.h"
#include "runtime/host_layers/HostLayerStep.h"

#include <memory>
#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// Copies the inputs of a host layer to the host, waits for them, calls the
/// layer, and enqueues copies of its outputs to the device.
class HostLayerRunner : public CudaStep {
public:
  /// `addresses` are the device addresses of the operands. `memory` may be
  /// shared by steps of the same stream; the first run grows it.
  HostLayerRunner(HostLayerStep step, std::vector<CUdeviceptr> addresses,
                  std::shared_ptr<PinnedMemory> memory);

  void run(const LaunchContext &context) override;
  std::string describe() const override { return "host"; }
  bool isHostLayer() const override { return true; }

private:
  HostLayerStep step;
  std::vector<CUdeviceptr> addresses;
  std::shared_ptr<PinnedMemory> memory;
  std::vector<std::uint64_t> offsets; ///< offset of each operand in `memory`
  std::uint64_t size = 0;
};

} // namespace brew::runtime::cuda
