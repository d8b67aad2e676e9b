//===- MemoryReuse.cpp - Reuse of gradient memory -------------------------===//
#include "passes/plan/MemoryReuse.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

using brew::passes::alignUp;
using brew::passes::LiveValue;
using brew::passes::ReusableRange;

namespace {

/// Limits of the local search: attempts, and pairs of values compared in all of
/// them.
constexpr int64_t kMaxAttempts = 200, kMaxPairs = 100'000'000;

constexpr int64_t kAlways = std::numeric_limits<int64_t>::min(),
                  kForever = std::numeric_limits<int64_t>::max();

/// Bytes that are used at steps first..last.
struct UsedBytes {
  int64_t begin, end, first, last;
};

/// Returns the bytes that cannot be reused, sorted by begin: bytes outside the
/// ranges at all steps, bytes inside a range from its first use on.
std::vector<UsedBytes> usedBytesOf(std::vector<ReusableRange> ranges) {
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const ReusableRange &a, const ReusableRange &b) {
                     return a.offset < b.offset;
                   });
  std::vector<UsedBytes> result;
  int64_t end = 0;
  for (const ReusableRange &range : ranges) {
    if (range.offset > end)
      result.push_back({end, range.offset, kAlways, kForever});
    end = range.offset + range.size;
    result.push_back({range.offset, end, range.until, kForever});
  }
  result.push_back({end, kForever, kAlways, kForever});
  return result;
}

/// Returns the offset of the smallest sufficient gap during the lifetime of
/// `value`, or -1.
int64_t smallestGap(const std::vector<UsedBytes> &used,
                    const LiveValue &value) {
  int64_t end = 0, best = -1, bestGap = 0;
  for (const UsedBytes &other : used) {
    if (value.first > other.last || other.first > value.last)
      continue;
    const int64_t gap = other.begin - end;
    if (gap >= value.size && (best < 0 || gap < bestGap)) {
      best = end;
      bestGap = gap;
    }
    if (other.end == kForever)
      break;
    end = std::max(end, alignUp(other.end));
  }
  return best;
}

/// Live bytes at each step.
class LiveBytesProfile {
public:
  explicit LiveBytesProfile(const std::vector<LiveValue> &values) {
    add(values, 1);
  }

  /// Adds values, or subtracts them if `sign` is -1.
  void add(const std::vector<LiveValue> &values, int64_t sign) {
    for (const LiveValue &value : values)
      add(value, sign);
  }
  void add(const LiveValue &value, int64_t sign) {
    if (value.last + 2 > static_cast<int64_t>(changes.size()))
      changes.resize(static_cast<size_t>(value.last + 2));
    changes[static_cast<size_t>(value.first)] += sign * alignUp(value.size);
    changes[static_cast<size_t>(value.last + 1)] -= sign * alignUp(value.size);
  }
  std::vector<int64_t> bytes() const {
    std::vector<int64_t> result(changes.size());
    std::partial_sum(changes.begin(), changes.end(), result.begin());
    return result;
  }

private:
  std::vector<int64_t> changes = {0};
};

/// Returns the size of a value times the number of steps that it is live.
int64_t areaOf(const LiveValue &value) {
  return value.size * (value.last - value.first + 1);
}

/// Offsets for one order of the values, with the peak and area of the values
/// that did not fit.
struct Outcome {
  std::vector<int64_t> offsets;
  int64_t peakBytes = kForever, peakStep = 0, area = kForever;

  bool isWorseThan(const Outcome &other) const {
    return std::pair(peakBytes, area) > std::pair(other.peakBytes, other.area);
  }
};

/// Searches for the order of the values whose greedy assignment leaves the
/// lowest peak.
class OrderSearch {
public:
  OrderSearch(const std::vector<LiveValue> &values,
              const std::vector<LiveValue> &others,
              const std::vector<ReusableRange> &ranges)
      : values(values), used(usedBytesOf(ranges)), all(others) {
    all.add(values, 1);
  }

  std::vector<int64_t> run() {
    const std::vector<int64_t> nearPeak = stepsNearPeak();
    auto area = [&](size_t i) { return areaOf(values[i]); };
    using Key = std::function<std::pair<int64_t, int64_t>(size_t)>;
    const Key keys[] = {
        [&](size_t i) { return std::pair(area(i), int64_t(0)); },
        [&](size_t i) {
          return std::pair(values[i].size * nearPeak[i], area(i));
        },
        [&](size_t i) { return std::pair(values[i].size, area(i)); },
    };
    Outcome best;
    std::vector<size_t> bestOrder;
    for (const Key &key : keys) {
      std::vector<size_t> order(values.size());
      std::iota(order.begin(), order.end(), size_t(0));
      std::stable_sort(order.begin(), order.end(),
                       [&](size_t a, size_t b) { return key(a) > key(b); });
      Outcome outcome = assign(order);
      if (best.isWorseThan(outcome)) {
        best = std::move(outcome);
        bestOrder = std::move(order);
      }
    }
    return improve(std::move(best), std::move(bestOrder));
  }

private:
  /// Assigns values in the given order, each to the smallest sufficient gap if
  /// there is one.
  Outcome assign(const std::vector<size_t> &order) const {
    Outcome outcome;
    outcome.offsets.assign(values.size(), -1);
    outcome.area = 0;
    std::vector<UsedBytes> current = used;
    LiveBytesProfile unassigned = all;
    for (size_t index : order) {
      const LiveValue &value = values[index];
      const int64_t offset = outcome.offsets[index] =
          smallestGap(current, value);
      if (offset < 0) {
        outcome.area += areaOf(value);
        continue;
      }
      unassigned.add(value, -1);
      auto insertionPoint =
          std::upper_bound(current.begin(), current.end(), offset,
                           [](int64_t begin, const UsedBytes &other) {
                             return begin < other.begin;
                           });
      current.insert(insertionPoint,
                     {offset, offset + value.size, value.first, value.last});
    }
    const std::vector<int64_t> bytes = unassigned.bytes();
    const auto peak = std::max_element(bytes.begin(), bytes.end());
    outcome.peakBytes = *peak;
    outcome.peakStep = peak - bytes.begin();
    return outcome;
  }

  /// Improves an order: repeatedly moves a value that did not fit and is live
  /// at the peak towards the front. Deterministic: the random numbers have a
  /// fixed seed.
  std::vector<int64_t> improve(Outcome best, std::vector<size_t> order) const {
    const auto pairs =
        static_cast<int64_t>(values.size() * (values.size() + used.size()));
    const int64_t attempts = std::min(kMaxAttempts, kMaxPairs / (pairs + 1));
    std::minstd_rand random(1);
    for (int64_t i = 0; i < attempts; ++i) {
      std::vector<size_t> unassigned; // positions in the order
      for (size_t position = 0; position < order.size(); ++position)
        if (const LiveValue &value = values[order[position]];
            best.offsets[order[position]] < 0 && value.first <= best.peakStep &&
            best.peakStep <= value.last)
          unassigned.push_back(position);
      if (unassigned.empty())
        break;
      const size_t from = unassigned[random() % unassigned.size()],
                   to = random() % (from + 1);
      std::vector<size_t> changed = order;
      std::rotate(changed.begin() + static_cast<int64_t>(to),
                  changed.begin() + static_cast<int64_t>(from),
                  changed.begin() + static_cast<int64_t>(from) + 1);
      Outcome outcome = assign(changed);
      // Accept ties, to escape plateaus.
      if (outcome.isWorseThan(best))
        continue;
      best = std::move(outcome);
      order = std::move(changed);
    }
    return best.offsets;
  }

  /// Returns for each value the number of its steps with nearly as many live
  /// bytes as at the peak.
  std::vector<int64_t> stepsNearPeak() const {
    const std::vector<int64_t> bytes = all.bytes();
    const int64_t peak = *std::max_element(bytes.begin(), bytes.end());
    std::vector<int64_t> nearPeakBefore(bytes.size() + 1), result;
    for (size_t step = 0; step < bytes.size(); ++step)
      nearPeakBefore[step + 1] =
          nearPeakBefore[step] + (bytes[step] >= peak - peak / 16);
    for (const LiveValue &value : values)
      result.push_back(nearPeakBefore[static_cast<size_t>(value.last + 1)] -
                       nearPeakBefore[static_cast<size_t>(value.first)]);
    return result;
  }

  const std::vector<LiveValue> &values;
  const std::vector<UsedBytes> used;
  LiveBytesProfile all;
};

} // namespace

std::vector<int64_t>
brew::passes::assignReusedOffsets(const std::vector<LiveValue> &values,
                                  const std::vector<LiveValue> &others,
                                  const std::vector<ReusableRange> &ranges) {
  if (ranges.empty())
    return std::vector<int64_t>(values.size(), -1);
  return OrderSearch(values, others, ranges).run();
}
