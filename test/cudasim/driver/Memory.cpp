//===- Memory.cpp - Allocations of device and pinned host memory ----------===//
//
// Fresh memory is filled with one bits, a NaN in every floating-point type, so
// that reads of unwritten values show in the results.
//
//===----------------------------------------------------------------------===//
#include "../engine/Engine.h"
#include "Driver.h"

#include <cstdlib>
#include <cstring>
#include <map>

namespace cudasim {

namespace {

/// Live allocations by address.
class AllocationMap {
public:
  void add(const void *address, std::uint64_t bytes) {
    blocks[toNumber(address)] = bytes;
  }
  /// Returns the allocation that contains the address, or null.
  const std::pair<const std::uint64_t, std::uint64_t> *
  find(std::uint64_t address) const {
    auto after = blocks.upper_bound(address);
    if (after == blocks.begin())
      return nullptr;
    auto found = std::prev(after);
    return address < found->first + found->second ? &*found : nullptr;
  }
  bool contains(std::uint64_t address, std::uint64_t bytes) const {
    const auto *block = find(address);
    return block && bytes <= block->first + block->second - address;
  }
  /// Removes the allocation that begins at `address`. Returns its size, or 0 if
  /// no allocation begins there.
  std::uint64_t remove(const void *address) {
    auto found = blocks.find(toNumber(address));
    if (found == blocks.end())
      return 0;
    std::uint64_t bytes = found->second;
    blocks.erase(found);
    return bytes;
  }

private:
  static std::uint64_t toNumber(const void *address) {
    return reinterpret_cast<std::uint64_t>(address);
  }
  std::map<std::uint64_t, std::uint64_t> blocks;
};

AllocationMap deviceAllocations, pinnedAllocations;
std::uint64_t usedBytes;

std::uint64_t deviceBytes() {
  return environmentNumber("CUDASIM_MEMORY", std::uint64_t(16) << 30);
}

/// The alignment that cuMemAlloc guarantees; more than any vector access needs.
constexpr std::size_t kAlignment = 256;
constexpr int kPoison = 0xff;

void *allocate(std::size_t bytes) {
  void *memory = nullptr;
  if (posix_memalign(&memory, kAlignment, bytes) != 0)
    return nullptr;
  std::memset(memory, kPoison, bytes);
  return memory;
}

} // namespace

bool isDeviceRange(const void *address, std::uint64_t bytes) {
  return bytes == 0 || deviceAllocations.contains(
                           reinterpret_cast<std::uint64_t>(address), bytes);
}

void requireDeviceRange(DevicePointer address, std::uint64_t bytes,
                        const char *purpose) {
  if (bytes == 0 || deviceAllocations.contains(address, bytes))
    return;
  const auto *block = deviceAllocations.find(address);
  if (!block)
    reportLaunchFinding("%s: %llu bytes at 0x%llx, where nothing is allocated",
                        purpose, static_cast<unsigned long long>(bytes),
                        address);
  reportLaunchFinding(
      "%s: %llu bytes at offset %llu of an allocation of %llu bytes", purpose,
      static_cast<unsigned long long>(bytes), address - block->first,
      static_cast<unsigned long long>(block->second));
}

bool isPinned(const void *address, std::uint64_t bytes) {
  return pinnedAllocations.contains(reinterpret_cast<std::uint64_t>(address),
                                    bytes);
}

void cudasim_require_range(const void *address, std::uint64_t bytes,
                           const char *purpose) {
  requireDeviceRange(reinterpret_cast<DevicePointer>(address), bytes, purpose);
}

using Lock = std::lock_guard<std::recursive_mutex>;

CUDASIM_API int cuDeviceTotalMem_v2(std::size_t *bytes, int ordinal) {
  if (ordinal != 0)
    return InvalidDevice;
  *bytes = deviceBytes();
  return Success;
}

CUDASIM_API int cuMemGetInfo_v2(std::size_t *freeBytes,
                                std::size_t *totalBytes) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  *totalBytes = deviceBytes();
  *freeBytes = deviceBytes() - usedBytes;
  return Success;
}

CUDASIM_API int cuMemAlloc_v2(DevicePointer *address, std::size_t bytes) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  if (bytes == 0)
    return InvalidValue;
  // Captures forbid allocations.
  if (Result error = synchronizeAll())
    return error;
  void *memory = bytes <= deviceBytes() - usedBytes ? allocate(bytes) : nullptr;
  if (!memory)
    return OutOfMemory;
  deviceAllocations.add(memory, bytes);
  usedBytes += bytes;
  *address = reinterpret_cast<DevicePointer>(memory);
  return Success;
}

CUDASIM_API int cuMemFree_v2(DevicePointer address) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  if (Result error = synchronizeAll())
    return error;
  void *memory = reinterpret_cast<void *>(address);
  std::uint64_t bytes = deviceAllocations.remove(memory);
  if (bytes == 0)
    return InvalidValue;
  usedBytes -= bytes;
  std::free(memory);
  return Success;
}

CUDASIM_API int cuMemHostAlloc(void **address, std::size_t bytes,
                               unsigned flags) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  if (bytes == 0)
    return InvalidValue;
  if (Result error = requireNoCapture())
    return error;
  void *memory = allocate(bytes);
  if (!memory)
    return OutOfMemory;
  pinnedAllocations.add(memory, bytes);
  *address = memory;
  return Success;
}

CUDASIM_API int cuMemFreeHost(void *address) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  if (Result error = synchronizeAll())
    return error;
  if (pinnedAllocations.remove(address) == 0)
    return InvalidValue;
  std::free(address);
  return Success;
}

} // namespace cudasim
