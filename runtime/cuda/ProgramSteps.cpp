//===- ProgramSteps.cpp - Executable steps of a GPU program ---------------===//
#include "runtime/cuda/ProgramSteps.h"

#include "runtime/cuda/CallWithAlternative.h"
#include "runtime/executor/Backend.h"
#include "support/Error.h"

#include <algorithm>

namespace brew::runtime::cuda {

namespace {

template <typename... Cases> struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases> Overloaded(Cases...) -> Overloaded<Cases...>;

} // namespace

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

std::vector<DeviceStep> StepBuilder::build(int index) {
  const plan::Program &program = plan.manifest().programs(index);
  std::vector<DeviceStep> steps;
  for (int i = 0; i < program.steps_size(); ++i)
    steps.push_back(
        build(program.steps(i), index, describeStep(plan, program, i)));
  return steps;
}

StepBuilder::CallBuffers
StepBuilder::callBuffers(const plan::Step &step) const {
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

DeviceStep StepBuilder::build(const plan::Step &step, int program,
                              const std::string &where) {
  switch (step.action_case()) {
  case plan::Step::kLaunch:
    return makeLaunch(step.launch().kernel_index(),
                      plan::kernelArguments(plan.manifest(), step));
  case plan::Step::kConvolution: {
    const plan::ConvolutionCall &call = step.convolution();
    const CallBuffers buffers = callBuffers(step);
    auto convolution = makeConvolution(vendor(), call, buffers.x, buffers.w,
                                       buffers.b, buffers.y, options, where);
    if (step.has_generated_alternative())
      convolution = std::make_unique<CallWithAlternative>(
          std::move(convolution),
          makeLaunch(step.generated_alternative().kernel_index(),
                     plan::alternativeArguments(step)),
          device,
          plan.manifest().producer() + " for " +
              plan.manifest().target().archs(0));
    return ChosenCall{std::move(convolution), 0};
  }
  case plan::Step::kInnerProduct: {
    const plan::InnerProductCall &call = step.inner_product();
    const CallBuffers buffers = callBuffers(step);
    return ChosenCall{makeInnerProduct(device, cublasLt(), call, buffers.x,
                                       buffers.w, buffers.b, buffers.y, options,
                                       where),
                      0};
  }
  case plan::Step::kCopy: {
    const DeviceBuffer source = deviceBuffer(step.operands(0).buffer_index());
    const DeviceBuffer target = deviceBuffer(step.operands(1).buffer_index());
    return StridedTransfer::copy(*source.buffer, source.address, *target.buffer,
                                 target.address, where);
  }
  case plan::Step::kHost: {
    HostLayerStep host(plan.manifest(), program, step, hostLayers);
    std::vector<CUdeviceptr> addresses;
    for (const plan::HostOperand &operand : host.operands())
      addresses.push_back(address(operand.index));
    return HostLayerRunner(std::move(host), std::move(addresses), hostMemory);
  }
  case plan::Step::kAllReduce:
    return AllReduceStep(plan.manifest(), step, address, nccl);
  case plan::Step::ACTION_NOT_SET:
    break;
  }
  throw Error(ExitStatus::Bug, where + ": unknown action");
}

void KernelLaunch::enqueue(const Device &device, const Stream &stream) const {
  std::vector<void *> pointers;
  for (const CUdeviceptr &argument : arguments)
    pointers.push_back(const_cast<CUdeviceptr *>(&argument));
  const DriverApi &api = device.api();
  auto check = [&](CUresult result) {
    api.check(result, "starting kernel '" + symbol + "'");
  };
  auto launchKernel = [&] {
    check(api.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0,
                             stream.get(), pointers.data(), nullptr));
  };
  if (stages == 0)
    return launchKernel();
  unsigned long long stageMask = (1ull << stages) - 1;
  pointers.push_back(&stageMask);
  if (cooperative) {
    const CUresult result =
        api.cuLaunchCooperativeKernel(function, blocks, 1, 1, threads, 1, 1, 0,
                                      stream.get(), pointers.data());
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

void enqueue(DeviceStep &step, const Device &device, CUdeviceptr workspace,
             const Stream &stream) {
  std::visit(
      Overloaded{
          [&](const KernelLaunch &launch) { launch.enqueue(device, stream); },
          [&](const ChosenCall &chosen) {
            chosen.call->run(chosen.candidate, workspace, stream);
          },
          [&](const StridedTransfer &transfer) {
            transfer.enqueue(device, stream);
          },
          [&](HostLayerRunner &hostLayer) { hostLayer.run(device, stream); },
          [&](const AllReduceStep &reduce) { reduce.enqueue(device, stream); }},
      step);
}

std::string describe(const DeviceStep &step) {
  return std::visit(
      Overloaded{
          [](const KernelLaunch &) { return std::string("kernel"); },
          [](const ChosenCall &chosen) {
            return chosen.call->describe(chosen.candidate);
          },
          [](const StridedTransfer &) { return std::string("copy"); },
          [](const HostLayerRunner &) { return std::string("host"); },
          [](const AllReduceStep &reduce) { return reduce.implementation(); }},
      step);
}

} // namespace brew::runtime::cuda
