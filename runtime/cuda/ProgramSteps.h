//===- ProgramSteps.h - A program made ready for a GPU ----------*- C++ -*-===//
#pragma once

#include "runtime/cuda/CallTuner.h"
#include "runtime/cuda/CublasLt.h"
#include "runtime/cuda/Device.h"
#include "runtime/cuda/Libraries.h"
#include "runtime/cuda/Modules.h"
#include "runtime/cuda/StridedTransfer.h"
#include "runtime/cuda/VendorCall.h"
#include "runtime/cuda/VendorLibrary.h"
#include "runtime/plan/PlanFile.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace brew::runtime::cuda {

struct KernelLaunch {
  CUfunction function = nullptr;
  unsigned blocks = 1, threads = 1;
  std::vector<CUdeviceptr> arguments;
  std::string symbol;
};

struct ChosenCall {
  std::unique_ptr<VendorCall> call;
  int candidate = 0;
};

using DeviceStep = std::variant<KernelLaunch, ChosenCall, StridedTransfer>;

/// Turns the steps of a plan into what the device executes. Libraries are
/// opened when the first call needs them.
class StepBuilder {
public:
  using Address = std::function<CUdeviceptr(std::uint32_t buffer)>;

  StepBuilder(const Device &device, const plan::PlanFile &plan,
              const Modules &modules, const Libraries &names,
              CallOptions options, Address address)
      : device(device), plan(plan), modules(modules), names(names),
        options(options), address(std::move(address)) {}

  std::vector<DeviceStep> build(const plan::Program &program);

private:
  DeviceStep build(const plan::Step &step, const std::string &where);
  DeviceBuffer bound(std::uint32_t index) const;
  VendorLibrary &vendor();
  CublasLt &cublasLt();

  const Device &device;
  const plan::PlanFile &plan;
  const Modules &modules;
  const Libraries names;
  CallOptions options;
  Address address;
  // Calls refer to their library.
  std::unique_ptr<VendorLibrary> vendorLibrary;
  std::unique_ptr<CublasLt> products;
};

/// Enqueues a step; `workspace` serves its call.
void enqueue(const DeviceStep &step, const Device &device,
             CUdeviceptr workspace, const Stream &stream);

/// "kernel", "copy", "zero" or a library's engine.
std::string describe(const DeviceStep &step);

} // namespace brew::runtime::cuda
