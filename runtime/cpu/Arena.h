//===- Arena.h - Page-aligned, zeroed memory --------------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace brew::runtime {

/// Zero-initialised memory mapped from the system. It is aligned to pages; from
/// 2 MiB on, it is aligned to 2 MiB and the system is advised to use huge
/// pages.
class Arena {
public:
  Arena() = default;
  /// If memory is exhausted, throws an Error (3) that names `purpose` and the
  /// size.
  Arena(std::uint64_t size, const std::string &purpose);
  Arena(Arena &&other) noexcept;
  Arena &operator=(Arena &&other) noexcept;
  ~Arena();

  std::byte *data() const { return first; }
  std::uint64_t size() const { return bytes; }

private:
  void *mapping = nullptr;
  std::uint64_t mappedBytes = 0;
  std::byte *first = nullptr;
  std::uint64_t bytes = 0;
};

/// Returns the size of memory and swap of this machine, in bytes.
std::uint64_t machineMemory();
/// Returns a size for messages: "512 bytes", "3.2 MiB".
std::string describeBytes(std::uint64_t bytes);

} // namespace brew::runtime
