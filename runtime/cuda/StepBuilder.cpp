//===- StepBuilder.cpp - Creation of the steps of GPU programs ------------===//
#include "runtime/cuda/StepBuilder.h"

#include "runtime/cuda/CallWithAlternative.h"
#include "runtime/cuda/LoopStep.h"
#include "runtime/executor/Backend.h"
#include "support/Error.h"

#include <algorithm>

namespace brew::runtime::cuda {

VendorLibrary &StepBuilder::vendor() {
  if (!vendorLibrary)
    vendorLibrary = std::make_unique<VendorLibrary>(libraryPaths.vendorTable);
  return *vendorLibrary;
}

CublasLt &StepBuilder::cublasLt() {
  if (!cublasLtLibrary)
    cublasLtLibrary = std::make_unique<CublasLt>(libraryPaths.cublasLt);
  return *cublasLtLibrary;
}

DeviceBuffer StepBuilder::deviceBuffer(std::uint32_t index) const {
  return {&plan.manifest().buffers(static_cast<int>(index)), address(index)};
}

std::vector<std::unique_ptr<CudaStep>> StepBuilder::build(int program) {
  std::vector<std::unique_ptr<CudaStep>> steps;
  for (int i = 0; i < plan.manifest().programs(program).steps_size(); ++i)
    steps.push_back(build(program, i));
  return steps;
}

CallBuffers StepBuilder::callBuffers(const plan::Step &step) const {
  const plan::CallOperands indices = plan::callOperands(step);
  return {deviceBuffer(indices.x), deviceBuffer(indices.w),
          indices.b ? deviceBuffer(*indices.b) : DeviceBuffer(),
          deviceBuffer(indices.y)};
}

KernelLaunch
StepBuilder::makeLaunch(std::uint32_t kernelIndex,
                        const std::vector<std::uint32_t> &buffers) const {
  const plan::Kernel &kernel =
      plan.manifest().kernels(static_cast<int>(kernelIndex));
  KernelLaunch result;
  result.function = modules.function(kernelIndex);
  result.blocks = kernel.blocks();
  result.threads = kernel.threads();
  result.symbol = kernel.symbol();
  for (std::uint32_t index : buffers)
    result.arguments.push_back(address(index));
  if (kernel.stages() > 1)
    configureStages(kernel.stages(), result);
  return result;
}

/// Puts all stages into one cooperative launch of as many blocks as are
/// resident at once. With NCCL, stages are launched separately: a cooperative
/// launch would leave no room for NCCL's concurrent kernels.
void StepBuilder::configureStages(std::uint32_t stages,
                                  KernelLaunch &launch) const {
  launch.stages = stages;
  const unsigned resident =
      device.supportsCooperativeLaunch() && !nccl
          ? device.residentBlocks(launch.function, launch.threads)
          : 0;
  launch.cooperative = resident > 0;
  if (launch.cooperative)
    launch.blocks = std::min(launch.blocks, resident);
}

std::unique_ptr<VendorCall> StepBuilder::makeCall(const plan::Step &step,
                                                  const std::string &where) {
  const CallBuffers buffers = callBuffers(step);
  if (step.has_inner_product())
    return makeInnerProduct(device, cublasLt(), step.inner_product(), buffers,
                            options, where);
  auto convolution =
      makeConvolution(vendor(), step.convolution(), buffers, options, where);
  if (!step.has_generated_alternative())
    return convolution;
  return std::make_unique<CallWithAlternative>(
      std::move(convolution),
      makeLaunch(step.generated_alternative().kernel_index(),
                 plan::alternativeArguments(step)),
      plan.manifest().producer() + " for " + plan.manifest().target().archs(0));
}

std::unique_ptr<ChosenCall> StepBuilder::makeChosen(const plan::Step &call,
                                                    int program, int index,
                                                    const std::string &where) {
  auto result = std::make_unique<ChosenCall>(makeCall(call, where));
  builtCalls.push_back({program, index, &call, result.get()});
  return result;
}

std::unique_ptr<CudaStep> StepBuilder::makeLoop(const plan::Step &step,
                                                int program, int index,
                                                const std::string &where) {
  const plan::Loop &loop = step.loop();
  auto result = std::make_unique<CudaLoopStep>(loop);
  addLoopSteps(
      plan.manifest(), loop, *result,
      [&](const plan::Step &call) {
        return makeChosen(call, program, index, where);
      },
      [&](std::uint32_t kernel, const std::vector<std::uint32_t> &buffers) {
        return std::make_unique<KernelLaunch>(makeLaunch(kernel, buffers));
      });
  return result;
}

std::unique_ptr<CudaStep> StepBuilder::build(int program, int index) {
  const plan::Manifest &manifest = plan.manifest();
  const plan::Step &step = manifest.programs(program).steps(index);
  const std::string where =
      describeStep(plan, manifest.programs(program), index);
  switch (step.action_case()) {
  case plan::Step::kLaunch:
    return std::make_unique<KernelLaunch>(makeLaunch(
        step.launch().kernel_index(), plan::kernelArguments(manifest, step)));
  case plan::Step::kConvolution:
  case plan::Step::kInnerProduct:
    return makeChosen(step, program, index, where);
  case plan::Step::kLoop:
    return makeLoop(step, program, index, where);
  case plan::Step::kCopy: {
    const DeviceBuffer source = deviceBuffer(step.operands(0).buffer_index());
    const DeviceBuffer target = deviceBuffer(step.operands(1).buffer_index());
    return std::make_unique<StridedTransfer>(StridedTransfer::copy(
        *source.buffer, source.address, *target.buffer, target.address, where));
  }
  case plan::Step::kHost: {
    HostLayerStep host(manifest, program, step, hostLayers);
    std::vector<CUdeviceptr> addresses;
    for (const plan::HostOperand &operand : host.operands())
      addresses.push_back(address(operand.index));
    return std::make_unique<HostLayerRunner>(std::move(host),
                                             std::move(addresses), hostMemory);
  }
  case plan::Step::kAllReduce:
    return std::make_unique<AllReduceStep>(manifest, step, address, nccl);
  case plan::Step::ACTION_NOT_SET:
    break;
  }
  throw Error(ExitStatus::Bug, where + ": unknown action");
}

void KernelLaunch::run(const LaunchContext &context) {
  std::vector<void *> pointers;
  for (CUdeviceptr &argument : arguments)
    pointers.push_back(&argument);
  const DriverApi &api = context.device.api();
  auto check = [&](CUresult result) {
    api.check(result, "starting kernel '" + symbol + "'");
  };
  auto launchKernel = [&] {
    check(api.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0,
                             context.stream.get(), pointers.data(), nullptr));
  };
  if (stages == 0)
    return launchKernel();
  unsigned long long stageMask = (1ull << stages) - 1;
  pointers.push_back(&stageMask);
  if (cooperative) {
    const CUresult result =
        api.cuLaunchCooperativeKernel(function, blocks, 1, 1, threads, 1, 1, 0,
                                      context.stream.get(), pointers.data());
    // Other processes may occupy part of the device. Then launch stage by
    // stage.
    if (result != CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE &&
        result != CUDA_ERROR_NOT_SUPPORTED)
      return check(result);
  }
  for (unsigned stage = 0; stage < stages; ++stage) {
    stageMask = 1ull << stage;
    launchKernel();
  }
}

} // namespace brew::runtime::cuda
