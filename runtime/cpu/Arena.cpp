//===- Arena.cpp - Page-aligned, zeroed memory ----------------------------===//
#include "runtime/cpu/Arena.h"

#include "support/Error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <utility>

namespace brew::runtime {

static constexpr std::uint64_t kHugePage = std::uint64_t(2) << 20;

Arena::Arena(std::uint64_t size, const std::string &purpose) : bytes(size) {
  if (size == 0)
    return;
  // The system aligns mappings to small pages only: map one more huge page and
  // start at the first boundary. Untouched pages cost nothing.
  bool usesHugePages = size >= kHugePage;
  mappedBytes = size + (usesHugePages ? kHugePage : 0);
  mapping = mmap(nullptr, mappedBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    int error = errno;
    mapping = nullptr;
    throw unavailable("not enough memory for " + purpose + ": " +
                      describeBytes(size) + " cannot be allocated (" +
                      std::strerror(error) + ")");
  }
  auto address = reinterpret_cast<std::uintptr_t>(mapping);
  if (usesHugePages)
    address = (address + kHugePage - 1) / kHugePage * kHugePage;
  first = reinterpret_cast<std::byte *>(address);
  if (usesHugePages) // only advice: runs also work without huge pages
    madvise(first, size, MADV_HUGEPAGE);
}

Arena::Arena(Arena &&other) noexcept
    : mapping(std::exchange(other.mapping, nullptr)),
      mappedBytes(std::exchange(other.mappedBytes, 0)),
      first(std::exchange(other.first, nullptr)),
      bytes(std::exchange(other.bytes, 0)) {}

Arena &Arena::operator=(Arena &&other) noexcept {
  std::swap(mapping, other.mapping);
  std::swap(mappedBytes, other.mappedBytes);
  std::swap(first, other.first);
  std::swap(bytes, other.bytes);
  return *this;
}

Arena::~Arena() {
  if (mapping)
    munmap(mapping, mappedBytes);
}

std::uint64_t machineMemory() {
  struct sysinfo info;
  if (sysinfo(&info) != 0)
    return ~std::uint64_t(0);
  return (std::uint64_t(info.totalram) + info.totalswap) * info.mem_unit;
}

std::string describeBytes(std::uint64_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + " bytes";
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  int unit = 0;
  for (; value >= 1024 && unit < 5; ++unit)
    value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", value, units[unit]);
  return text;
}

} // namespace brew::runtime
