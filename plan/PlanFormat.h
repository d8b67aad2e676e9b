//===- PlanFormat.h - Fixed header of a plan file ---------------*- C++ -*-===//
//
// A plan is this header, the manifest (plan.proto, serialized), then segments
// aligned to 64 bytes. All integers are little-endian. Shared by the writer
// (compiler/) and the reader (plan/PlanFile.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/Contract.h"

#include <cstdint>

namespace brew::plan {

inline constexpr char kMagic[8] = {'B', 'R', 'E', 'W', 'P', 'L', 'A', 'N'};
/// Raised whenever an older reader would misread a newer plan; a reader takes
/// its own number alone. docs/plan-format.md says what may be added without.
inline constexpr std::uint32_t kFormatVersion = 4;

struct Header {
  char magic[8];
  std::uint32_t formatVersion;
  /// zlib's crc32 of every byte after the header.
  std::uint32_t checksum;
  std::uint64_t fileSize;
  std::uint64_t manifestOffset;
  std::uint64_t manifestSize;
  std::uint8_t reserved[24];
};
static_assert(sizeof(Header) == 64, "the header is one cache line");

} // namespace brew::plan
