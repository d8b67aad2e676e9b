//===- ScalarArena.cpp - Asynchronous upload of solver scalars ------------===//
#include "runtime/cuda/ScalarArena.h"

#include <cstring>

namespace brew::runtime::cuda {

void ScalarArena::write(std::uint64_t offset, const void *bytes,
                        std::size_t size) {
  std::byte *current = hostCopy.data() + offset;
  hasChanges |= std::memcmp(current, bytes, size) != 0;
  std::memcpy(current, bytes, size);
}

void ScalarArena::flush(const Stream &stream) {
  if (!hasChanges)
    return;
  const std::string purpose = "copying the solver's numbers to the GPU";
  hasChanges = false;
  while (slots.size() < 2)
    slots.push_back({PinnedMemory(device, hostCopy.size()), Event(device)});
  Slot &slot = slots[nextSlot];
  nextSlot = 1 - nextSlot;
  slot.copied.synchronize(purpose);
  std::memcpy(slot.memory.data(), hostCopy.data(), hostCopy.size());
  device.api().check(device.api().cuMemcpyHtoDAsync(target, slot.memory.data(),
                                                    hostCopy.size(),
                                                    stream.get()),
                     purpose);
  slot.copied.record(stream);
}

} // namespace brew::runtime::cuda
