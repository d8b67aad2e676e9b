//===- StepBuilder.h - Creation of the steps of GPU programs ----*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cuda/AllReduceStep.h"
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
#include <utility>
#include <vector>

namespace brew::runtime::cuda {

/// A library call and the candidate that runs it.
class ChosenCall : public CudaStep {
public:
  explicit ChosenCall(std::unique_ptr<VendorCall> call)
      : call(std::move(call)) {}

  void run(const LaunchContext &context) override {
    call->run(candidate, context);
  }
  std::uint64_t scratchBytes() const override {
    return call->scratchBytes(candidate);
  }
  std::string describe() const override { return call->describe(candidate); }

  const std::unique_ptr<VendorCall> call;
  int candidate = 0;
};

/// A library call of a program, its step in the plan and its description, which
/// is a part of the step if the call is in a loop.
struct ProgramCall {
  int program, step;
  const plan::Step *description;
  ChosenCall *chosen; ///< one of the built steps
};

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

  std::vector<std::unique_ptr<CudaStep>> build(int program);
  /// Returns the library calls of all built programs.
  const std::vector<ProgramCall> &calls() const { return builtCalls; }

private:
  std::unique_ptr<CudaStep> build(int program, int index);
  std::unique_ptr<VendorCall> makeCall(const plan::Step &step,
                                       const std::string &where);
  std::unique_ptr<ChosenCall> makeChosen(const plan::Step &call, int program,
                                         int index, const std::string &where);
  std::unique_ptr<CudaStep> makeLoop(const plan::Step &step, int program,
                                     int index, const std::string &where);
  KernelLaunch makeLaunch(std::uint32_t kernelIndex,
                          const std::vector<std::uint32_t> &buffers) const;
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
  std::vector<ProgramCall> builtCalls;
  // The libraries must outlive the calls.
  std::unique_ptr<VendorLibrary> vendorLibrary;
  std::unique_ptr<CublasLt> cublasLtLibrary;
};

} // namespace brew::runtime::cuda
