//===- FiniteScan.cpp - Search for NaN and Inf in buffers -----------------===//

#include "runtime/train/watch/FiniteScan.h"

#include "caffe/weights/BufferLayout.h"
#include "caffe/weights/Float16.h"

#include <atomic>
#include <cmath>
#include <cstring>

namespace brew::runtime {
namespace {

/// Minimum elements per thread.
constexpr std::int64_t kGrain = 1 << 16;

/// Returns whether any number has an exponent of all ones, i.e. is NaN or Inf.
/// Compares integers: the loop vectorises, and no floating-point option of the
/// compiler can remove the check.
template <typename Bits, Bits kExponent>
bool hasNonFinite(const std::byte *bytes, std::int64_t count) {
  Bits found = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, bytes + i * static_cast<std::int64_t>(sizeof bits),
                sizeof bits);
    found |= static_cast<Bits>((bits & kExponent) == kExponent);
  }
  return found != 0;
}

bool hasNonFinite(plan::DataType type, const std::byte *bytes,
                  std::int64_t count) {
  switch (type) {
  case plan::F32:
    return hasNonFinite<std::uint32_t, 0x7f800000u>(bytes, count);
  case plan::F64:
    return hasNonFinite<std::uint64_t, 0x7ff0000000000000u>(bytes, count);
  case plan::BF16:
    return hasNonFinite<std::uint16_t, 0x7f80u>(bytes, count);
  case plan::F16:
    return hasNonFinite<std::uint16_t, 0x7c00u>(bytes, count);
  case plan::I32:
  case plan::U8:
    break;
  }
  return false;
}

std::int64_t elementBytes(plan::DataType type) {
  switch (type) {
  case plan::F64:
    return 8;
  case plan::F32:
  case plan::I32:
    return 4;
  case plan::BF16:
  case plan::F16:
    return 2;
  case plan::U8:
    break;
  }
  return 1;
}

double readElement(plan::DataType type, const std::byte *bytes) {
  auto read = [&](auto value) {
    std::memcpy(&value, bytes, sizeof value);
    return static_cast<double>(value);
  };
  switch (type) {
  case plan::F32:
    return read(float());
  case plan::F64:
    return read(double());
  case plan::BF16:
    return read(caffe::BFloat16());
  case plan::F16:
    return read(caffe::Float16());
  case plan::I32:
  case plan::U8:
    break;
  }
  return 0;
}

} // namespace

bool allFinite(const plan::Buffer &buffer, const std::byte *bytes,
               const Threads &threads) {
  const std::int64_t count = plan::elementCount(buffer);
  const std::int64_t size = elementBytes(buffer.type());
  // Without gaps, the order of elements does not matter.
  if (static_cast<std::int64_t>(buffer.size()) != count * size)
    return !firstNonFinite(buffer, bytes);
  std::atomic<bool> found{false};
  threads.parallelFor(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    if (hasNonFinite(buffer.type(), bytes + begin * size, end - begin))
      found.store(true, std::memory_order_relaxed);
  });
  return !found;
}

std::optional<NonFinite> firstNonFinite(const plan::Buffer &buffer,
                                        const std::byte *bytes) {
  if (buffer.type() == plan::I32 || buffer.type() == plan::U8)
    return {};
  const std::int64_t size = elementBytes(buffer.type());
  const caffe::ElementOrder order(buffer);
  std::optional<NonFinite> found;
  order.forEachRun(0, order.count(),
                   [&](std::int64_t first, std::int64_t position,
                       std::int64_t length, std::int64_t step) {
                     for (std::int64_t i = 0; !found && i < length; ++i) {
                       const double value = readElement(
                           buffer.type(), bytes + (position + i * step) * size);
                       if (!std::isfinite(value))
                         found = {first + i, value};
                     }
                   });
  return found;
}

} // namespace brew::runtime
