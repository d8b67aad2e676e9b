//===- HostLayerRunner.cpp - A host layer in a GPU program ----------------===//
#include "runtime/cuda/HostLayerRunner.h"

#include "runtime/executor/Backend.h"

namespace brew::runtime::cuda {

HostLayerRunner::HostLayerRunner(HostLayerStep hostStep,
                                 std::vector<CUdeviceptr> operandAddresses,
                                 std::shared_ptr<PinnedMemory> pinned)
    : step(std::move(hostStep)), addresses(std::move(operandAddresses)),
      memory(std::move(pinned)) {
  for (const plan::HostOperand &operand : step.operands()) {
    offsets.push_back(size);
    size += (operand.buffer->size() + plan::kAlignment - 1) / plan::kAlignment *
            plan::kAlignment;
  }
}

void HostLayerRunner::run(const LaunchContext &context) {
  const Stream &stream = context.stream;
  const DriverApi &api = context.device.api();
  const std::string purpose =
      "computing layer '" + step.layer() + "' on the host";
  if (memory->size() < size) {
    stream.synchronize(purpose); // copies of the previous step use the memory
    *memory = PinnedMemory(context.device, size);
  }
  std::vector<std::byte *> hostOperands;
  for (std::uint64_t offset : offsets)
    hostOperands.push_back(memory->data() + offset);
  auto copyToHost = [&](std::size_t i) {
    api.check(api.cuMemcpyDtoHAsync(hostOperands[i], addresses[i],
                                    step.operands()[i].buffer->size(),
                                    stream.get()),
              purpose);
  };
  for (std::size_t i = 0; i < hostOperands.size(); ++i)
    if (!step.operands()[i].isWritten)
      copyToHost(i);
  // Besides the copies above, this waits for copies of an earlier step, which
  // may still read the memory.
  stream.synchronize(purpose);
  step.compute(hostOperands);
  context.device
      .makeCurrent(); // the layer may have changed the current context
  for (std::size_t i = 0; i < hostOperands.size(); ++i) {
    const plan::HostOperand &operand = step.operands()[i];
    if (!operand.isWritten)
      continue;
    // Gaps contain elements of other buffers, possibly of the other tops.
    if (!isDense(*operand.buffer)) {
      copyToHost(i);
      stream.synchronize(purpose);
    }
    step.store(i, hostOperands[i]);
    api.check(api.cuMemcpyHtoDAsync(addresses[i], hostOperands[i],
                                    operand.buffer->size(), stream.get()),
              purpose);
  }
}

} // namespace brew::runtime::cuda
