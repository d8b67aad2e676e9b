//===- ProgramSteps.h - Executable steps of a GPU program -------*- C++ -*-===//
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

/// A library call and the candidate that runs it.
struct ChosenCall {
  std::unique_ptr<VendorCall> call;
  int candidate = 0;
};

/// A step of a program with resolved kernels and addresses.
using DeviceStep = std::variant<KernelLaunch, ChosenCall, StridedTransfer,
                                HostLayerRunner, AllReduceStep>;

/// Returns whether the host computes the step. Such a step cannot be part of a
/// CUDA graph.
inline bool isHostLayer(const DeviceStep &step) {
  return std::holds_alternative<HostLayerRunner>(step);
}

/// Converts the steps of a plan to device steps. Opens each library when the
/// first call needs it.
class StepBuilder {
public:
  using Address = std::function<CUdeviceptr(std::uint32_t buffer)>;

  StepBuilder(const Device &device, const plan::PlanFile &plan,
              const Modules &modules, const LibraryPaths &libraryPaths,
              CallOptions options, HostLayers &hostLayers, Nccl *nccl,
              Address address)
      : device(device), plan(plan), modules(modules),
        libraryPaths(libraryPaths), options(options), hostLayers(hostLayers),
        nccl(nccl), address(std::move(address)) {}

  std::vector<DeviceStep> build(int program);

private:
  DeviceStep build(const plan::Step &step, int program,
                   const std::string &where);
  KernelLaunch makeLaunch(std::uint32_t kernelIndex,
                          const std::vector<std::uint32_t> &buffers) const;
  /// The operands of a library call; `b` is null without a bias.
  struct CallBuffers {
    DeviceBuffer x, w, b, y;
  };
  CallBuffers callBuffers(const plan::Step &step) const;
  void configureStages(std::uint32_t stages, KernelLaunch &launch) const;
  DeviceBuffer deviceBuffer(std::uint32_t index) const;
  VendorLibrary &vendor();
  CublasLt &cublasLt();

  const Device &device;
  const plan::PlanFile &plan;
  const Modules &modules;
  const LibraryPaths libraryPaths;
  CallOptions options;
  HostLayers &hostLayers;
  Nccl *nccl; ///< may be null on one rank
  Address address;
  /// Shared by all host layers, which run one after the other.
  std::shared_ptr<PinnedMemory> hostMemory = std::make_shared<PinnedMemory>();
  // The libraries must outlive the calls.
  std::unique_ptr<VendorLibrary> vendorLibrary;
  std::unique_ptr<CublasLt> cublasLtLibrary;
};

/// Enqueues a step. `workspace` is the scratch memory of a library call. A host
/// layer runs at once, after all work before it; its exceptions propagate.
void enqueue(DeviceStep &step, const Device &device, CUdeviceptr workspace,
             const Stream &stream);

/// Returns "kernel", "copy", "host", the name of a library call's
/// candidate, the name of NCCL, or "one rank".
std::string describe(const DeviceStep &step);

} // namespace brew::runtime::cuda
