//===- Arena.h - Page-aligned, zeroed memory --------------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace brew::runtime {

/// Zero-initialised memory straight from the system, aligned to a cache line;
/// to 2 MiB, and advised for huge pages, when it is that large. Movable, owned.
class Arena {
public:
  Arena() = default;
  /// Throws Error (3) naming `purpose` and the size when there is no memory.
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

/// Memory and swap of this machine, in bytes.
std::uint64_t machineMemory();
/// "512 bytes", "3.2 MiB": sizes in messages.
std::string describeBytes(std::uint64_t bytes);

} // namespace brew::runtime
