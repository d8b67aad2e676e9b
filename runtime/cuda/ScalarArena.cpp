//===- ScalarArena.cpp - Asynchronous upload of solver scalars ------------===//
#include "runtime/cuda/ScalarArena.h"

#include <cstring>

namespace brew::runtime::cuda {

void ScalarArena::write(std::uint64_t offset, const void *bytes,
                        std::size_t size) {
  std::byte *current = image.data() + offset;
  changed |= std::memcmp(current, bytes, size) != 0;
  std::memcpy(current, bytes, size);
}

void ScalarArena::flush(const Stream &stream) {
  if (!changed)
    return;
  const std::string purpose = "copying the solver's numbers to the GPU";
  changed = false;
  while (slots.size() < 2)
    slots.push_back({PinnedMemory(device, image.size()), Event(device)});
  Slot &slot = slots[next];
  next = 1 - next;
  slot.copied.synchronize(purpose);
  std::memcpy(slot.memory.data(), image.data(), image.size());
  device.api().check(device.api().cuMemcpyHtoDAsync(target, slot.memory.data(),
                                                    image.size(), stream.get()),
                     purpose);
  slot.copied.record(stream);
}

} // namespace brew::runtime::cuda
