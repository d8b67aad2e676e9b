//===- MemoryPlanner.cpp - Offline arena allocation -----------------------===//
#include "passes/analysis/MemoryPlanner.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>

namespace {

using brew::passes::alignUp;
using brew::passes::LiveValue;

/// Limits of the improvement: attempts, and pairs of values compared.
constexpr int64_t kMaxAttempts = 400, kMaxPairs = 100'000'000;

bool overlapInTime(const LiveValue &x, const LiveValue &y) {
  return x.first <= y.last && y.first <= x.last;
}

/// Assigns offsets in the given order, each in the smallest sufficient gap.
/// Returns the size of the arena.
int64_t assignOffsets(std::vector<LiveValue> &values,
                      const std::vector<size_t> &order) {
  std::vector<size_t> assigned; // sorted by offset
  int64_t extent = 0;
  for (size_t index : order) {
    LiveValue &value = values[index];
    int64_t size = alignUp(value.size);
    int64_t end = 0, best = -1, bestGap = 0;
    for (size_t other : assigned) {
      const LiveValue &neighbor = values[other];
      if (!overlapInTime(value, neighbor))
        continue;
      int64_t gap = neighbor.offset - end;
      if (gap >= size && (best < 0 || gap < bestGap)) {
        best = end;
        bestGap = gap;
      }
      end = std::max(end, neighbor.offset + alignUp(neighbor.size));
    }
    value.offset = best >= 0 ? best : end;
    extent = std::max(extent, value.offset + size);
    auto position =
        std::upper_bound(assigned.begin(), assigned.end(), value.offset,
                         [&](int64_t offset, size_t other) {
                           return offset < values[other].offset;
                         });
    assigned.insert(position, index);
  }
  return extent;
}

} // namespace

int64_t brew::passes::arenaLowerBound(const std::vector<LiveValue> &values) {
  std::map<int64_t, int64_t> changes;
  for (const LiveValue &value : values) {
    changes[value.first] += alignUp(value.size);
    changes[value.last + 1] -= alignUp(value.size);
  }
  int64_t live = 0, peak = 0;
  for (auto [step, change] : changes) {
    live += change;
    peak = std::max(peak, live);
  }
  return peak;
}

/// Improves the offsets in `values`: repeatedly moves the value at the top of
/// the arena towards the front of the order, and keeps the best result. Returns
/// the size of the arena. Deterministic: the random numbers have a fixed seed.
static int64_t improveOffsets(std::vector<LiveValue> &values,
                              std::vector<size_t> order, int64_t best,
                              int64_t bound) {
  const auto pairs = static_cast<int64_t>(values.size() * values.size());
  const int64_t attempts = std::min(kMaxAttempts, kMaxPairs / (pairs + 1));
  std::vector<LiveValue> candidate = values;
  std::minstd_rand random(1);
  int64_t extent = best;
  for (int64_t i = 0; i < attempts && best > bound; ++i) {
    auto top = std::find_if(order.begin(), order.end(), [&](size_t value) {
      return candidate[value].offset + alignUp(candidate[value].size) == extent;
    });
    // Alternate between the very front and a random position, to escape local
    // minima.
    const auto target =
        static_cast<size_t>(random()) % (top - order.begin() + 1);
    std::rotate(order.begin() + static_cast<int64_t>(i % 2 ? target : 0), top,
                top + 1);
    extent = ::assignOffsets(candidate, order);
    if (extent < best) {
      best = extent;
      values = candidate;
    }
  }
  return best;
}

int64_t brew::passes::allocateArena(std::vector<LiveValue> &values) {
  using Key = std::function<std::pair<int64_t, int64_t>(const LiveValue &)>;
  auto span = [](const LiveValue &v) { return v.last - v.first + 1; };
  const Key keys[] = {
      [&](const LiveValue &v) { return std::pair(-v.size, -span(v)); },
      [&](const LiveValue &v) { return std::pair(-v.size * span(v), v.first); },
      [&](const LiveValue &v) { return std::pair(-span(v), -v.size); },
      [&](const LiveValue &v) { return std::pair(v.first, -v.size); },
      [&](const LiveValue &v) { return std::pair(-v.last, -v.size); },
  };
  int64_t bound = arenaLowerBound(values), best = -1;
  std::vector<LiveValue> bestOffsets;
  std::vector<size_t> bestOrder;
  for (const Key &key : keys) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) {
      return key(values[x]) < key(values[y]);
    });
    int64_t extent = assignOffsets(values, order);
    if (best < 0 || extent < best) {
      best = extent;
      bestOffsets = values;
      bestOrder = order;
    }
    if (best == bound)
      break;
  }
  values = std::move(bestOffsets);
  return improveOffsets(values, std::move(bestOrder),
                        std::max<int64_t>(best, 0), bound);
}
