//===- ProgramSteps.h - A program made ready for a GPU ----------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cuda/AllReduceStep.h"
#include "runtime/cuda/CallTuner.h"
#include "runtime/cuda/CublasLt.h"
#include "runtime/cuda/Device.h"
#include "runtime/cuda/HostLayerRunner.h"
#include "runtime/cuda/KernelLaunch.h"
#include "runtime/cuda/LibraryPaths.h"
#include "runtime/cuda/Modules.h"
#include "runtime/cuda/StridedTransfer.h"
#include "runtime/cuda/VendorCall.h"
#include "runtime/cuda/VendorLibrary.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace brew::runtime::cuda {

struct ChosenCall {
  std::unique_ptr<VendorCall> call;
  int candidate = 0;
};

using DeviceStep = std::variant<KernelLaunch, ChosenCall, StridedTransfer,
                                HostLayerRunner, AllReduceStep>;

/// Whether the host computes the step, which then cannot be part of a graph.
inline bool isHostLayer(const DeviceStep &step) {
  return std::holds_alternative<HostLayerRunner>(step);
}

/// Turns the steps of a plan into what the device executes. LibraryPaths are
/// opened when the first call needs them.
class StepBuilder {
public:
  using Address = std::function<CUdeviceptr(std::uint32_t buffer)>;

  StepBuilder(const Device &device, const plan::PlanFile &plan,
              const Modules &modules, const LibraryPaths &names,
              CallOptions options, HostLayers &hostLayers, Nccl *nccl,
              Address address)
      : device(device), plan(plan), modules(modules), names(names),
        options(options), hostLayers(hostLayers), nccl(nccl),
        address(std::move(address)) {}

  std::vector<DeviceStep> build(int program);

private:
  DeviceStep build(const plan::Step &step, int program,
                   const std::string &where);
  KernelLaunch launch(const plan::Launch &launch) const;
  void configureStages(std::uint32_t stages, KernelLaunch &launch) const;
  DeviceBuffer deviceBuffer(std::uint32_t index) const;
  VendorLibrary &vendor();
  CublasLt &cublasLt();

  const Device &device;
  const plan::PlanFile &plan;
  const Modules &modules;
  const LibraryPaths names;
  CallOptions options;
  HostLayers &hostLayers;
  Nccl *nccl; ///< may be null on one rank
  Address address;
  /// Steps of the host run one after the other: one place serves all.
  std::shared_ptr<PinnedMemory> hostMemory = std::make_shared<PinnedMemory>();
  // Calls refer to their library.
  std::unique_ptr<VendorLibrary> vendorLibrary;
  std::unique_ptr<CublasLt> products;
};

/// Enqueues a step; `workspace` serves its call. One of the host waits for all
/// before it, and is called; what it throws comes out.
void enqueue(DeviceStep &step, const Device &device, CUdeviceptr workspace,
             const Stream &stream);

/// "kernel", "copy", "zero", "host", a library's engine or "NCCL 2.27.3".
std::string describe(const DeviceStep &step);

} // namespace brew::runtime::cuda
