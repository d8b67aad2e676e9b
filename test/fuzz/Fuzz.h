//===- Fuzz.h - Common functions of fuzz entries ----------------*- C++ -*-===//
//
// A fuzz entry passes an input to the readers of untrusted data. Each reader
// must accept the input or throw an Error about it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "support/Error.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace brew::fuzz {

inline std::string_view textOf(const std::uint8_t *data, std::size_t size) {
  return {reinterpret_cast<const char *>(data), size};
}

/// Writes the input to a file in memory. Returns the path of the file.
inline std::string fileOf(const std::uint8_t *data, std::size_t size) {
  static const int fd = memfd_create("input", 0);
  if (fd < 0 || ftruncate(fd, 0) != 0 ||
      pwrite(fd, data, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  return "/proc/self/fd/" + std::to_string(fd);
}

/// Aborts if `read` throws anything but an error about its input.
template <typename Read> void attempt(Read &&read) {
  try {
    read();
  } catch (const Error &error) {
    if (error.status() != ExitStatus::BadInput)
      std::abort();
  }
}

} // namespace brew::fuzz
