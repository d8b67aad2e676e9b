//===- InputStaging.cpp - Asynchronous upload of an input -----------------===//
#include "runtime/cuda/InputStaging.h"

#include <cstring>

namespace brew::runtime::cuda {

/// Inputs of at most this many bytes have no staging buffer.
static constexpr std::uint64_t kMaxDirectBytes = 64 << 10;

static constexpr char kPurpose[] = "memory for the next batch on the GPU";

InputStaging::InputStaging(const Device &gpu, CUdeviceptr buffer,
                           std::uint64_t bytes)
    : device(gpu), target(buffer), size(bytes),
      consume([this](CUdeviceptr staged, const Stream &compute) {
        device.api().check(
            device.api().cuMemcpyDtoDAsync(target, staged, size, compute.get()),
            "copying a batch on the GPU");
      }),
      staging(gpu, bytes <= kMaxDirectBytes ? 0 : bytes, kPurpose),
      consumed(gpu) {
  allocateSlots();
}

InputStaging::InputStaging(const Device &gpu, std::uint64_t bytes, Consume use)
    : device(gpu), size(bytes), consume(std::move(use)),
      staging(gpu, bytes, kPurpose), consumed(gpu) {
  allocateSlots();
}

void InputStaging::allocateSlots() {
  for (int i = 0; i < 2; ++i)
    slots.push_back({PinnedMemory(device, size), Event(device)});
}

void InputStaging::stage(const std::byte *bytes, const Stream &copies,
                         const Threads &workers) {
  const Slot &slot = slots[nextSlot];
  slot.copied.synchronize("waiting for a batch to reach the GPU");
  // Use several threads: a single core copies no faster than the link to the
  // device.
  constexpr std::int64_t kBytesPerThread = 1 << 20;
  workers.parallelFor(static_cast<std::int64_t>(size), kBytesPerThread,
                      [&](std::int64_t begin, std::int64_t end) {
                        std::memcpy(slot.memory.data() + begin, bytes + begin,
                                    static_cast<std::size_t>(end - begin));
                      });
  hasPendingBatch = true;
  if (isDirect())
    return;
  copies.wait(consumed);
  device.api().check(device.api().cuMemcpyHtoDAsync(staging.address(),
                                                    slot.memory.data(), size,
                                                    copies.get()),
                     "copying a batch to the GPU");
  slot.copied.record(copies);
}

void InputStaging::commit(const Stream &compute) {
  if (!hasPendingBatch)
    return;
  hasPendingBatch = false;
  const Slot &slot = slots[nextSlot];
  nextSlot = 1 - nextSlot;
  if (isDirect()) {
    device.api().check(device.api().cuMemcpyHtoDAsync(
                           target, slot.memory.data(), size, compute.get()),
                       "copying a batch to the GPU");
    slot.copied.record(compute);
    return;
  }
  compute.wait(slot.copied);
  consume(staging.address(), compute);
  consumed.record(compute);
}

} // namespace brew::runtime::cuda
