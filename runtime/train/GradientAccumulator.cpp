//===- GradientAccumulator.cpp - Gradient sum over batches ----------------===//

#include "runtime/train/GradientAccumulator.h"

#include "plan/Contract.h"

namespace brew::runtime {
namespace {

template <typename Element>
void addTo(std::byte *target, const std::byte *source, std::size_t bytes) {
  auto *to = reinterpret_cast<Element *>(target);
  auto *from = reinterpret_cast<const Element *>(source);
  for (std::size_t i = 0; i < bytes / sizeof(Element); ++i)
    to[i] += from[i];
}

void addTyped(plan::DataType type, std::byte *target, const std::byte *source,
              std::size_t bytes) {
  if (type == plan::F64)
    addTo<double>(target, source, bytes);
  else
    addTo<float>(target, source, bytes);
}

} // namespace

GradientAccumulator::GradientAccumulator(Executor &planExecutor)
    : executor(planExecutor),
      addProgram(executor.findProgram(plan::programs::kAccumulate)),
      finishProgram(executor.findProgram(plan::programs::kCollect)) {
  // Accumulation needs both programs.
  if (addProgram < 0 || finishProgram < 0)
    addProgram = finishProgram = -1;
}

void GradientAccumulator::createHostSums() {
  if (!hostSums.empty())
    return;
  const plan::Manifest &manifest = executor.manifest();
  std::size_t offset = 0;
  for (const plan::Parameter &parameter : manifest.parameters()) {
    if (!parameter.has_gradient_buffer_index())
      continue;
    const std::uint32_t index = parameter.gradient_buffer_index();
    const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
    const std::size_t bytes = buffer.size();
    hostSums.push_back({index, buffer.type(), bytes, offset});
    offset += plan::alignUp(bytes);
  }
  sumBytes.resize(offset);
}

void GradientAccumulator::add() {
  if (addProgram >= 0) {
    executor.run(addProgram);
    started = true;
    return;
  }
  createHostSums();
  for (const HostSum &hostSum : hostSums) {
    std::byte *sum = sumBytes.data() + hostSum.offset;
    if (!started) {
      executor.download(hostSum.buffer, sum);
      continue;
    }
    executor.read(hostSum.buffer, [&](const std::byte *gradient) {
      addTyped(hostSum.type, sum, gradient, hostSum.bytes);
    });
  }
  started = true;
}

void GradientAccumulator::finish() {
  if (!started)
    return;
  started = false;
  if (finishProgram >= 0)
    return executor.run(finishProgram);
  for (const HostSum &hostSum : hostSums) {
    // Addition commutes exactly: the order of the operands does not matter.
    executor.modify(hostSum.buffer, [&](std::byte *gradient) {
      addTyped(hostSum.type, gradient, sumBytes.data() + hostSum.offset,
               hostSum.bytes);
    });
  }
}

void GradientAccumulator::discard() {
  // Clears the plan's own sum by moving it to the gradients, which are unused.
  if (started && finishProgram >= 0)
    executor.run(finishProgram);
  started = false;
}

} // namespace brew::runtime
