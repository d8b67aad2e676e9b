//===- MemoryPlanner.cpp - Offsets for values with lifetimes --------------===//
#include "passes/analysis/MemoryPlanner.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>

namespace {

using brew::passes::aligned;
using brew::passes::LiveValue;

/// Attempts at a better placement, and pairs of values to look at for it.
constexpr int64_t kMostTries = 400, kMostPairs = 100'000'000;

bool overlapInTime(const LiveValue &x, const LiveValue &y) {
  return x.first <= y.last && y.first <= x.last;
}

/// Places the values in the given order, each into the smallest gap that the
/// ones placed before leave it; returns the extent.
int64_t place(std::vector<LiveValue> &values,
              const std::vector<size_t> &order) {
  std::vector<size_t> placed; // sorted by offset
  int64_t extent = 0;
  for (size_t index : order) {
    LiveValue &value = values[index];
    int64_t size = aligned(value.size);
    int64_t end = 0, best = -1, bestGap = 0;
    for (size_t other : placed) {
      const LiveValue &neighbour = values[other];
      if (!overlapInTime(value, neighbour))
        continue;
      int64_t gap = neighbour.offset - end;
      if (gap >= size && (best < 0 || gap < bestGap)) {
        best = end;
        bestGap = gap;
      }
      end = std::max(end, neighbour.offset + aligned(neighbour.size));
    }
    value.offset = best >= 0 ? best : end;
    extent = std::max(extent, value.offset + size);
    auto position = std::upper_bound(placed.begin(), placed.end(), value.offset,
                                     [&](int64_t offset, size_t other) {
                                       return offset < values[other].offset;
                                     });
    placed.insert(position, index);
  }
  return extent;
}

} // namespace

int64_t brew::passes::arenaLowerBound(const std::vector<LiveValue> &values) {
  std::map<int64_t, int64_t> changes;
  for (const LiveValue &value : values) {
    changes[value.first] += aligned(value.size);
    changes[value.last + 1] -= aligned(value.size);
  }
  int64_t live = 0, peak = 0;
  for (auto [step, change] : changes) {
    live += change;
    peak = std::max(peak, live);
  }
  return peak;
}

/// Moves what lies at the top of the arena to the front of the order, again and
/// again, as long as that is cheap, and keeps the best placement in `values`.
/// Returns its extent. The numbers are the same in every run.
static int64_t improve(std::vector<LiveValue> &values,
                       std::vector<size_t> order, int64_t best, int64_t bound) {
  const auto pairs = static_cast<int64_t>(values.size() * values.size());
  const int64_t tries = std::min(kMostTries, kMostPairs / (pairs + 1));
  std::vector<LiveValue> moved = values;
  std::minstd_rand random(1);
  int64_t extent = best;
  for (int64_t i = 0; i < tries && best > bound; ++i) {
    auto top = std::find_if(order.begin(), order.end(), [&](size_t value) {
      return moved[value].offset + aligned(moved[value].size) == extent;
    });
    // Further and further to the front, or a little: both get out of a rut.
    const auto place =
        static_cast<size_t>(random()) % (top - order.begin() + 1);
    std::rotate(order.begin() + static_cast<int64_t>(i % 2 ? place : 0), top,
                top + 1);
    extent = ::place(moved, order);
    if (extent < best) {
      best = extent;
      values = moved;
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
  std::vector<LiveValue> bestPlacement;
  std::vector<size_t> bestOrder;
  for (const Key &key : keys) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) {
      return key(values[x]) < key(values[y]);
    });
    int64_t extent = place(values, order);
    if (best < 0 || extent < best) {
      best = extent;
      bestPlacement = values;
      bestOrder = order;
    }
    if (best == bound)
      break;
  }
  values = std::move(bestPlacement);
  return improve(values, std::move(bestOrder), std::max<int64_t>(best, 0),
                 bound);
}
