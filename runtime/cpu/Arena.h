//===- Arena.h - Page-aligned, zeroed memory --------------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace brew::runtime {

/// Zero-initialised memory mapped from the system. Aligned to pages, or, from
/// 2 MiB, to 2 MiB with advice for huge pages. Movable, owns its memory.
class Arena {
public:
  Arena() = default;
  /// Throws Error (3) that names `purpose` and the size if memory is exhausted.
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

/// Returns the bytes of memory and swap of this machine.
std::uint64_t machineMemory();
/// Returns a size for messages: "512 bytes", "3.2 MiB".
std::string describeBytes(std::uint64_t bytes);

} // namespace brew::runtime
