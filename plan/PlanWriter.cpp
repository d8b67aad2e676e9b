//===- PlanWriter.cpp - Serialization of plans ----------------------------===//
#include "plan/PlanWriter.h"

#include "plan/PlanValidator.h"
#include "support/Error.h"

#include <cstring>
#include <zlib.h>

namespace brew::plan {

/// Assigns the offsets of the segments after a manifest of `manifestSize` bytes
/// and returns the size of the file.
static std::uint64_t
assignSegmentOffsets(Manifest &manifest, std::uint64_t manifestSize,
                     const std::vector<std::string> &bytes) {
  std::uint64_t end = sizeof(Header) + manifestSize;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Segment &segment = *manifest.mutable_segments(static_cast<int>(i));
    segment.set_offset(alignUp(end));
    segment.set_size(bytes[i].size());
    end = segment.offset() + segment.size();
  }
  return end;
}

std::string serializePlan(Manifest manifest,
                          const std::vector<std::string> &segmentBytes) {
  if (static_cast<std::size_t>(manifest.segments_size()) != segmentBytes.size())
    throw Error(ExitStatus::Bug, "the manifest lists " +
                                     std::to_string(manifest.segments_size()) +
                                     " segments, but " +
                                     std::to_string(segmentBytes.size()) +
                                     " were given");
  // Offsets are variable-length integers, so they affect the size of the
  // manifest. Larger offsets never reduce it, so the loop terminates.
  std::uint64_t manifestSize = 0, fileSize = 0;
  for (;;) {
    fileSize = assignSegmentOffsets(manifest, manifestSize, segmentBytes);
    std::uint64_t size = manifest.ByteSizeLong();
    if (size <= manifestSize)
      break;
    manifestSize = size;
  }
  manifestSize = manifest.ByteSizeLong();
  if (manifestSize > 0x7fffffffu)
    throw Error(ExitStatus::Bug, "the plan's manifest exceeds 2 GiB");
  try {
    validateManifest(manifest, {sizeof(Header) + manifestSize, fileSize},
                     "the compiled plan");
  } catch (const Error &error) {
    throw Error(ExitStatus::Bug, error.what());
  }

  std::string bytes(fileSize, '\0');
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.formatVersion = kFormatVersion;
  header.fileSize = fileSize;
  header.manifestOffset = sizeof(Header);
  header.manifestSize = manifestSize;
  std::memcpy(bytes.data(), &header, sizeof header);
  manifest.SerializeToArray(bytes.data() + sizeof(Header),
                            static_cast<int>(manifestSize));
  for (std::size_t i = 0; i < segmentBytes.size(); ++i)
    std::memcpy(bytes.data() + manifest.segments(static_cast<int>(i)).offset(),
                segmentBytes[i].data(), segmentBytes[i].size());
  updateChecksum(bytes);
  return bytes;
}

void updateChecksum(std::string &bytes) {
  if (bytes.size() < sizeof(Header))
    throw Error(ExitStatus::Bug, "a plan is at least one header long");
  auto checksum = static_cast<std::uint32_t>(
      crc32_z(crc32_z(0, nullptr, 0),
              reinterpret_cast<const Bytef *>(bytes.data()) + sizeof(Header),
              bytes.size() - sizeof(Header)));
  std::memcpy(bytes.data() + offsetof(Header, checksum), &checksum,
              sizeof checksum);
}

} // namespace brew::plan
