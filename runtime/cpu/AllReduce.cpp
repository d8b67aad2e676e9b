//===- AllReduce.cpp - Step that sums over ranks --------------------------===//

#include "runtime/cpu/AllReduce.h"

#include "plan/Contract.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace brew::runtime {

AllReduce::AllReduce(const plan::Manifest &manifest,
                     const plan::AllReduceCall &call,
                     const std::function<std::byte *(std::uint32_t)> &address,
                     Communicator *communicator)
    : bucket(call.bucket()), starts(call.kind() == plan::AllReduceCall::START),
      isStatistic(call.statistic()), asBf16(call.has_transfer_type()),
      ranks(communicator) {
  if (!starts)
    return;
  std::vector<Buffer> found;
  for (int i = 0; i < call.buffer_indices_size(); ++i) {
    const std::uint32_t index = call.buffer_indices(i);
    const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
    std::byte *target = address(index);
    if (const std::byte *source = address(call.source_buffer_indices(i));
        source != target)
      copies.push_back({source, target, buffer.size()});
    const plan::Arena &arena =
        manifest.arenas(static_cast<int>(buffer.arena_index()));
    found.push_back(
        {{target, std::size_t(buffer.size() / plan::elementSize(buffer.type())),
          buffer.type() == plan::F64},
         arena.kind() == plan::GRADIENTS});
  }
  coalesce(std::move(found));
}

void AllReduce::coalesce(std::vector<Buffer> found) {
  std::sort(found.begin(), found.end(), [](const Buffer &a, const Buffer &b) {
    return std::less<std::byte *>()(a.sum.data, b.sum.data);
  });
  bool lastIsGradient = false;
  for (const Buffer &piece : found) {
    const ReductionBuffer &sum = piece.sum;
    const std::size_t size = sum.isDouble ? sizeof(double) : sizeof(float);
    if (lastIsGradient && piece.isGradient &&
        sum.isDouble == buffers.back().isDouble) {
      ReductionBuffer &last = buffers.back();
      const auto bytes = static_cast<std::size_t>(sum.data - last.data);
      if (bytes <= plan::alignUp(last.count * size)) {
        last.count = bytes / size + sum.count;
        continue;
      }
    }
    lastIsGradient = piece.isGradient;
    buffers.push_back(sum);
  }
}

void AllReduce::run() const {
  for (const Copy &copy : copies)
    std::memcpy(copy.target, copy.source, copy.bytes);
  if (!ranks || ranks->ranks() == 1 || (!isStatistic && !ranks->reducesInSteps))
    return;
  if (starts)
    ranks->startAllReduce(bucket, buffers, asBf16);
  else
    ranks->waitAllReduce(bucket);
}

std::string AllReduce::implementation() const {
  return ranks ? ranks->transport() : "one rank";
}

} // namespace brew::runtime
