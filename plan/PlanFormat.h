//===- PlanFormat.h - Fixed header of a plan file ---------------*- C++ -*-===//
//
// A plan consists of this header, the manifest (plan.proto, serialized) and the
// segments, each aligned to 64 bytes. All integers are little-endian.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/Contract.h"

#include <cstdint>

namespace brew::plan {

inline constexpr char kMagic[8] = {'B', 'R', 'E', 'W', 'P', 'L', 'A', 'N'};
/// Incremented whenever an older reader would misread a newer plan. A reader
/// accepts only its own number. docs/plan-format.md lists the additions that do
/// not need a new number.
inline constexpr std::uint32_t kFormatVersion = 7;

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
