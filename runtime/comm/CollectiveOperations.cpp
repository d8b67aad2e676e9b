//===- CollectiveOperations.cpp - Collective operations of ranks ----------===//

#include "runtime/comm/CollectiveOperations.h"

#include <algorithm>
#include <climits>

namespace brew::runtime::comm {
namespace {

/// Maximum number of elements in one operation: transports count elements in an
/// int.
constexpr std::size_t kMaxElements = std::size_t(1) << 28;

/// Splits buffers that are too long for one operation.
std::vector<ReductionBuffer>
splitLongBuffers(const std::vector<ReductionBuffer> &buffers) {
  std::vector<ReductionBuffer> result;
  for (ReductionBuffer buffer : buffers)
    while (buffer.count > 0) {
      ReductionBuffer chunk = buffer;
      chunk.count = std::min(buffer.count, kMaxElements);
      result.push_back(chunk);
      buffer.count -= chunk.count;
      buffer.data += chunk.count * (buffer.isDouble ? 8 : 4);
    }
  return result;
}

BrewCommType typeOf(const ReductionBuffer &buffer) {
  return buffer.isDouble ? BREW_COMM_F64 : BREW_COMM_F32;
}

std::string describeSum(std::uint32_t bucket) {
  return "the sum of bucket " + std::to_string(bucket);
}

/// Sums `ranks` adjacent slices of `count` elements, starting from zero as the
/// accumulation of iter_size does.
template <typename Value>
void sumInRankOrder(Value *target, const Value *slices, int ranks,
                    std::size_t count) {
  std::fill_n(target, count, Value(0));
  for (int rank = 0; rank < ranks; ++rank, slices += count)
    for (std::size_t i = 0; i < count; ++i)
      target[i] += slices[i];
}

} // namespace

void check(const BrewCommPlugin &plugin, const char *failure) {
  if (failure)
    throw unavailable(std::string(plugin.name) + ": " + failure);
}

TransportAllReduce::TransportAllReduce(std::uint32_t bucketNumber,
                                       std::vector<ReductionBuffer> allBuffers)
    : bucket(bucketNumber), buffers(splitLongBuffers(allBuffers)) {}

bool TransportAllReduce::startNext(const BrewCommPlugin &plugin) {
  if (next == buffers.size())
    return false;
  const ReductionBuffer &buffer = buffers[next++];
  check(plugin, plugin.allReduce(buffer.data, buffer.count, typeOf(buffer)));
  return true;
}

std::string TransportAllReduce::describe() const { return describeSum(bucket); }

OrderedAllReduce::OrderedAllReduce(std::uint32_t bucketNumber,
                                   std::vector<ReductionBuffer> allBuffers,
                                   int ownRank, int rankCount)
    : bucket(bucketNumber), buffers(splitLongBuffers(allBuffers)),
      rank(ownRank), ranks(rankCount) {}

bool OrderedAllReduce::startNext(const BrewCommPlugin &plugin) {
  if (hasExchanged) {
    const ReductionBuffer &buffer = buffers[next];
    const auto ownRank = static_cast<std::size_t>(rank);
    const auto count = static_cast<std::size_t>(counts[ownRank]);
    const auto offset = static_cast<std::size_t>(offsets[ownRank]);
    if (buffer.isDouble)
      sumInRankOrder(reinterpret_cast<double *>(buffer.data) + offset,
                     received.data(), ranks, count);
    else
      sumInRankOrder(reinterpret_cast<float *>(buffer.data) + offset,
                     reinterpret_cast<const float *>(received.data()), ranks,
                     count);
    hasExchanged = false;
    ++next;
    check(plugin, plugin.allGather(buffer.data, counts.data(), offsets.data(),
                                   typeOf(buffer)));
    return true;
  }
  if (next == buffers.size())
    return false;
  const ReductionBuffer &buffer = buffers[next];
  counts.clear();
  offsets.clear();
  for (int r = 0; r < ranks; ++r) {
    const auto sliceBegin = [&](int number) {
      return static_cast<int>(buffer.count * static_cast<std::size_t>(number) /
                              static_cast<std::size_t>(ranks));
    };
    offsets.push_back(sliceBegin(r));
    counts.push_back(sliceBegin(r + 1) - sliceBegin(r));
  }
  const int ownCount = counts[static_cast<std::size_t>(rank)];
  received.resize(static_cast<std::size_t>(ownCount) *
                  static_cast<std::size_t>(ranks));
  hasExchanged = true;
  check(plugin, plugin.allToAll(buffer.data, counts.data(), offsets.data(),
                                received.data(), ownCount, typeOf(buffer)));
  return true;
}

std::string OrderedAllReduce::describe() const { return describeSum(bucket); }

Bf16AllReduce::Bf16AllReduce(std::uint32_t bucketNumber,
                             std::vector<ReductionBuffer> allBuffers,
                             int ownRank, int rankCount)
    : bucket(bucketNumber), buffers(splitLongBuffers(allBuffers)),
      rank(ownRank), ranks(rankCount) {}

void Bf16AllReduce::round(const ReductionBuffer &buffer) {
  const auto *values = reinterpret_cast<const float *>(buffer.data);
  rounded.resize(buffer.count);
  for (std::size_t i = 0; i < buffer.count; ++i)
    rounded[i] = caffe::BFloat16(values[i]);
  counts.clear();
  offsets.clear();
  const int size = sizeof(caffe::BFloat16);
  for (int r = 0; r < ranks; ++r) {
    const auto sliceBegin = [&](int number) {
      return static_cast<int>(buffer.count * static_cast<std::size_t>(number) /
                              static_cast<std::size_t>(ranks)) *
             size;
    };
    offsets.push_back(sliceBegin(r));
    counts.push_back(sliceBegin(r + 1) - sliceBegin(r));
  }
  received.resize(static_cast<std::size_t>(
      counts[static_cast<std::size_t>(rank)] / size * ranks));
}

void Bf16AllReduce::sumSlices() {
  const auto ownRank = static_cast<std::size_t>(rank);
  const std::size_t count =
      static_cast<std::size_t>(counts[ownRank]) / sizeof(caffe::BFloat16);
  caffe::BFloat16 *target =
      rounded.data() +
      static_cast<std::size_t>(offsets[ownRank]) / sizeof(caffe::BFloat16);
  for (std::size_t i = 0; i < count; ++i) {
    float sum = 0;
    for (int r = 0; r < ranks; ++r)
      sum += float(received[static_cast<std::size_t>(r) * count + i]);
    target[i] = caffe::BFloat16(sum);
  }
}

void Bf16AllReduce::widen(const ReductionBuffer &buffer) const {
  auto *values = reinterpret_cast<float *>(buffer.data);
  for (std::size_t i = 0; i < buffer.count; ++i)
    values[i] = float(rounded[i]);
}

bool Bf16AllReduce::startNext(const BrewCommPlugin &plugin) {
  if (stage == Widen) {
    widen(buffers[next++]);
    stage = Exchange;
  }
  if (next == buffers.size())
    return false;
  if (stage == Exchange) {
    round(buffers[next]);
    check(plugin, plugin.allToAll(rounded.data(), counts.data(), offsets.data(),
                                  received.data(),
                                  counts[static_cast<std::size_t>(rank)],
                                  BREW_COMM_BYTE));
    stage = AllGather;
    return true;
  }
  sumSlices();
  check(plugin, plugin.allGather(rounded.data(), counts.data(), offsets.data(),
                                 BREW_COMM_BYTE));
  stage = Widen;
  return true;
}

std::string Bf16AllReduce::describe() const { return describeSum(bucket); }

AllGatherSlices::AllGatherSlices(std::byte *first,
                                 std::vector<std::size_t> bounds)
    : data(first) {
  constexpr std::size_t unit = sizeof(double);
  for (std::size_t r = 0; r + 1 < bounds.size(); ++r) {
    offsets.push_back(static_cast<int>(bounds[r] / unit));
    counts.push_back(static_cast<int>((bounds[r + 1] - bounds[r]) / unit));
  }
}

bool AllGatherSlices::startNext(const BrewCommPlugin &plugin) {
  if (hasStarted)
    return false;
  hasStarted = true;
  check(plugin,
        plugin.allGather(data, counts.data(), offsets.data(), BREW_COMM_F64));
  return true;
}

bool Broadcast::startNext(const BrewCommPlugin &plugin) {
  if (remainingBytes == 0)
    return false;
  const std::size_t size = std::min(remainingBytes, kMaxElements);
  void *const chunk = data;
  data = static_cast<std::byte *>(data) + size;
  remainingBytes -= size;
  check(plugin, plugin.broadcast(chunk, size));
  return true;
}

AllGatherBlocks::AllGatherBlocks(Blocks values, int ranks, const char *name)
    : blocks(std::move(values)), description(name) {
  const std::size_t size = blocks->size() / static_cast<std::size_t>(ranks);
  if (blocks->size() > static_cast<std::size_t>(INT_MAX))
    throw unavailable(std::string(name) + " are too many bytes for one rank");
  for (int rank = 0; rank < ranks; ++rank) {
    counts.push_back(static_cast<int>(size));
    offsets.push_back(rank * static_cast<int>(size));
  }
}

bool AllGatherBlocks::startNext(const BrewCommPlugin &plugin) {
  if (hasStarted)
    return false;
  hasStarted = true;
  // The type only determines the element size: the transport copies the bytes.
  check(plugin, plugin.allGather(blocks->data(), counts.data(), offsets.data(),
                                 BREW_COMM_F64));
  return true;
}

} // namespace brew::runtime::comm
