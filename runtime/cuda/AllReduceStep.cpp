//===- AllReduceStep.cpp - An all-reduce step on a GPU --------------------===//
#include "runtime/cuda/AllReduceStep.h"

#include "plan/Contract.h"

namespace brew::runtime::cuda {

AllReduceStep::AllReduceStep(
    const plan::Manifest &manifest, const plan::Step &step,
    const std::function<CUdeviceptr(std::uint32_t)> &address, Nccl *library)
    : isStart(step.all_reduce().kind() == plan::AllReduceCall::START),
      isStatistic(step.all_reduce().statistic()), nccl(library) {
  if (!isStart)
    return;
  const int count = step.operands_size() / 2; // of sources and of sums
  for (int i = 0; i < count; ++i) {
    const std::uint32_t index = step.operands(count + i).buffer_index();
    const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
    const CUdeviceptr target = address(index);
    if (const CUdeviceptr source = address(step.operands(i).buffer_index());
        source != target)
      copies.push_back({source, target, std::size_t(buffer.size())});
    sums.push_back(
        {target, std::size_t(buffer.size() / plan::elementSize(buffer.type())),
         buffer.type() == plan::F64});
  }
}

void AllReduceStep::run(const LaunchContext &context) {
  const DriverApi &api = context.device.api();
  for (const Copy &copy : copies)
    api.check(api.cuMemcpyDtoDAsync(copy.target, copy.source, copy.bytes,
                                    context.stream.get()),
              "copying gradients that are added up over GPUs");
  if (!nccl || (!isStatistic && !nccl->reducesInSteps()))
    return;
  if (isStart)
    nccl->startAllReduce(sums, context.stream);
  else
    nccl->waitForAllReduce(context.stream);
}

std::string AllReduceStep::describe() const {
  return nccl ? nccl->name() : "one rank";
}

} // namespace brew::runtime::cuda
