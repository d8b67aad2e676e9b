//===- AllReduce.cpp - Step that sums over ranks --------------------------===//

#include "runtime/cpu/AllReduce.h"

#include "plan/Contract.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace brew::runtime {

AllReduce::AllReduce(const plan::Manifest &manifest, const plan::Step &step,
                     const std::function<std::byte *(std::uint32_t)> &address,
                     Communicator *communicator)
    : bucket(step.all_reduce().bucket()),
      isStart(step.all_reduce().kind() == plan::AllReduceCall::START),
      isStatistic(step.all_reduce().statistic()),
      asBf16(step.all_reduce().has_transfer_type()),
      communicator(communicator) {
  if (!isStart)
    return;
  std::vector<Buffer> operands;
  const int count = step.operands_size() / 2; // of sources and of sums
  for (int i = 0; i < count; ++i) {
    const std::uint32_t index = step.operands(count + i).buffer_index();
    const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
    std::byte *target = address(index);
    if (const std::byte *source = address(step.operands(i).buffer_index());
        source != target)
      copies.push_back({source, target, buffer.size()});
    const plan::Arena &arena =
        manifest.arenas(static_cast<int>(buffer.arena_index()));
    operands.push_back(
        {{target, std::size_t(buffer.size() / plan::elementSize(buffer.type())),
          buffer.type() == plan::F64},
         arena.kind() == plan::GRADIENTS});
  }
  coalesce(std::move(operands));
}

void AllReduce::coalesce(std::vector<Buffer> operands) {
  std::sort(operands.begin(), operands.end(),
            [](const Buffer &a, const Buffer &b) {
              return std::less<std::byte *>()(a.sum.data, b.sum.data);
            });
  bool isLastGradient = false;
  for (const Buffer &operand : operands) {
    const ReductionBuffer &sum = operand.sum;
    const std::size_t size = sum.isDouble ? sizeof(double) : sizeof(float);
    if (isLastGradient && operand.isGradient &&
        sum.isDouble == buffers.back().isDouble) {
      ReductionBuffer &last = buffers.back();
      const auto bytes = static_cast<std::size_t>(sum.data - last.data);
      if (bytes <= plan::alignUp(last.count * size)) {
        last.count = bytes / size + sum.count;
        continue;
      }
    }
    isLastGradient = operand.isGradient;
    buffers.push_back(sum);
  }
}

void AllReduce::run(const Threads &) {
  for (const Copy &copy : copies)
    std::memcpy(copy.target, copy.source, copy.bytes);
  if (!communicator || communicator->ranks() == 1 ||
      (!isStatistic && !communicator->reducesInSteps))
    return;
  if (isStart)
    communicator->startAllReduce(bucket, buffers, asBf16);
  else
    communicator->waitAllReduce(bucket);
}

std::string AllReduce::describe() const {
  return communicator ? communicator->transport() : "one rank";
}

} // namespace brew::runtime
