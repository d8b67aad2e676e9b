//===- PlanMutator.cpp - Mutations of plans -------------------------------===//
#include "PlanMutator.h"

#include "plan/PlanFormat.h"
#include "plan/PlanWriter.h"

#include <algorithm>
#include <cstring>

namespace brew::test {

using plan::Header;

std::string withFittingHeader(std::string bytes) {
  if (bytes.size() < sizeof(Header))
    return bytes;
  std::uint64_t size = bytes.size();
  std::memcpy(bytes.data(), plan::kMagic, sizeof plan::kMagic);
  std::memcpy(bytes.data() + offsetof(Header, fileSize), &size, sizeof size);
  plan::updateChecksum(bytes);
  return bytes;
}

std::string mutatePlan(const std::string &original, std::mt19937_64 &random) {
  std::string bytes = original;
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  auto below = [&](std::size_t limit) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(limit, 1));
  };
  // The reader interprets only the manifest; segments are opaque to it.
  std::size_t begin = header.manifestOffset, size = header.manifestSize;
  auto position = [&] { return begin + below(size); };
  for (std::size_t change = 0, changes = 1 + below(4); change < changes;
       ++change) {
    switch (below(6)) {
    case 0:
      bytes[position()] ^= static_cast<char>(1 << below(8));
      break;
    case 1:
      bytes[position()] = static_cast<char>(random());
      break;
    case 2: // the largest varint of this length
      for (std::size_t i = position(), n = 1 + below(9);
           n-- > 0 && i < begin + size; ++i)
        bytes[i] = static_cast<char>(n == 0 ? 0x7f : 0xff);
      break;
    case 3: { // a range of the manifest over another one
      std::size_t from = position(), to = position();
      std::size_t n =
          std::min(1 + below(24), begin + size - std::max(from, to));
      std::memmove(&bytes[to], &bytes[from], n);
      break;
    }
    case 4: { // a header field
      std::size_t field = offsetof(Header, manifestOffset) + below(16);
      bytes[field] = static_cast<char>(random());
      break;
    }
    case 5: // zeros
      bytes[position()] = 0;
      break;
    }
  }
  return withFittingHeader(std::move(bytes));
}

} // namespace brew::test
