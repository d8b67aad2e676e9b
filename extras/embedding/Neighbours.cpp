//===- Neighbours.cpp - Nearest neighbours of rows ------------------------===//

#include "extras/embedding/Neighbours.h"

#include "extras/embedding/Lanes.h"
#include "support/Error.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace brew::embedding {
namespace {

/// Block sizes of queries and candidates: their products fit in a core's cache.
constexpr std::int64_t kQueries = 128, kCandidates = 1024;
/// Queries between two calls of `step`.
constexpr std::int64_t kStepQueries = 8192;
/// Additional candidates, because rounding in products may change the order.
constexpr std::int64_t kExtraCandidates = 16;

using Candidate = std::pair<float, std::int32_t>; ///< distance, row

/// The nearest rows so far. Collects up to four times `count` candidates before
/// it drops all but the nearest `count`.
class Nearest {
public:
  void reset(std::size_t maxCount) {
    count = maxCount;
    limit = std::numeric_limits<float>::infinity();
    found.clear();
    found.reserve(4 * count);
  }
  float limit; ///< rows at this distance or farther are not needed
  void add(float distance, std::int32_t row) {
    found.push_back({distance, row});
    if (found.size() == 4 * count)
      shrink();
  }
  std::vector<Candidate> &finish() {
    shrink();
    return found;
  }

private:
  void shrink() {
    if (found.size() <= count)
      return;
    const auto last = found.begin() + static_cast<std::ptrdiff_t>(count) - 1;
    std::nth_element(found.begin(), last, found.end());
    limit = last->first;
    found.resize(count);
  }

  std::size_t count = 0;
  std::vector<Candidate> found;
};

/// Replaces the products of a query and candidates by their squared distances
/// minus the query's squared norm. Stores the minimum of every kLanes distances
/// in `minima`.
BREW_EMBED_INLINE void distancesBody(float *products, const float *squares,
                                     std::int64_t count, float *minima) {
  for (std::int64_t at = 0; at < count; at += kLanes) {
    float smallest = std::numeric_limits<float>::infinity();
    const std::int64_t end = at + kLanes < count ? at + kLanes : count;
    for (std::int64_t i = at; i < end; ++i) {
      products[i] = squares[i] - 2 * products[i];
      smallest = products[i] < smallest ? products[i] : smallest;
    }
    minima[at / kLanes] = smallest;
  }
}
BREW_EMBED_FOR_PROCESSORS(void, distances,
                          (float *products, const float *squares,
                           std::int64_t count, float *minima),
                          distancesBody, (products, squares, count, minima))

BREW_EMBED_INLINE float squaredDistanceBody(const float *a, const float *b,
                                            std::int64_t count) {
  Lanes sum = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Lanes difference = BREW_EMBED_LOAD(a + i) - BREW_EMBED_LOAD(b + i);
    sum += difference * difference;
  }
  float result = sumOf(sum);
  for (; i < count; ++i)
    result += (a[i] - b[i]) * (a[i] - b[i]);
  return result;
}
BREW_EMBED_FOR_PROCESSORS(float, squaredDistance,
                          (const float *a, const float *b, std::int64_t count),
                          squaredDistanceBody, (a, b, count))

/// The search for the neighbours of all rows.
class Search {
public:
  Search(const Matrix &matrix, std::int64_t count, Neighbours &result)
      : rows(matrix), neighbours(result),
        candidateCount(std::min(count + kExtraCandidates, matrix.rows - 1)) {
    squares.reserve(static_cast<std::size_t>(rows.rows));
    const std::vector<float> zeros(static_cast<std::size_t>(rows.columns));
    for (std::int64_t i = 0; i < rows.rows; ++i)
      squares.push_back(
          squaredDistance(rows.row(i), zeros.data(), rows.columns));
  }

  /// Finds the neighbours of at most kQueries rows.
  void find(std::int64_t begin, std::int64_t end) const {
    std::vector<float> products(kQueries * kCandidates);
    std::vector<float> minima(kCandidates / kLanes);
    std::vector<Nearest> nearest(static_cast<std::size_t>(end - begin));
    for (Nearest &query : nearest)
      query.reset(static_cast<std::size_t>(candidateCount));
    for (std::int64_t from = 0; from < rows.rows; from += kCandidates) {
      const std::int64_t size = std::min(kCandidates, rows.rows - from);
      multiply(false, true, end - begin, size, rows.columns, rows.row(begin),
               rows.columns, rows.row(from), rows.columns, products.data(),
               kCandidates);
      for (std::int64_t query = begin; query < end; ++query) {
        float *row = &products[(query - begin) * kCandidates];
        distances(row, &squares[from], size, minima.data());
        addNearest(query, row, minima.data(), from, size,
                   nearest[query - begin]);
      }
    }
    for (std::int64_t query = begin; query < end; ++query)
      store(query, nearest[query - begin].finish());
  }

private:
  void addNearest(std::int64_t query, const float *distance,
                  const float *minima, std::int64_t from, std::int64_t size,
                  Nearest &nearest) const {
    for (std::int64_t at = 0; at < size; at += kLanes) {
      if (!(minima[at / kLanes] < nearest.limit))
        continue;
      for (std::int64_t i = at; i < std::min(at + kLanes, size); ++i)
        if (distance[i] < nearest.limit && from + i != query)
          nearest.add(distance[i], static_cast<std::int32_t>(from + i));
    }
  }

  void store(std::int64_t query, std::vector<Candidate> &found) const {
    // Comparisons reject distances that are NaN or infinite.
    if (static_cast<std::int64_t>(found.size()) < neighbours.count)
      throw Error(ExitStatus::Bug, "distances of row " + std::to_string(query) +
                                       " are not finite");
    for (Candidate &candidate : found)
      candidate.first = squaredDistance(
          rows.row(query), rows.row(candidate.second), rows.columns);
    std::sort(found.begin(), found.end());
    for (std::int64_t i = 0; i < neighbours.count; ++i) {
      neighbours.squared[query * neighbours.count + i] = found[i].first;
      neighbours.rows[query * neighbours.count + i] = found[i].second;
    }
  }

  const Matrix &rows;
  Neighbours &neighbours;
  std::int64_t candidateCount;
  std::vector<float> squares;
};

} // namespace

Neighbours nearestNeighbours(const Matrix &rows, std::int64_t count,
                             const runtime::Threads &threads,
                             const std::function<void()> &step) {
  Neighbours result;
  result.count = count;
  result.rows.resize(static_cast<std::size_t>(rows.rows * count));
  result.squared.resize(result.rows.size());
  const Search search(rows, count, result);
  for (std::int64_t from = 0; from < rows.rows; from += kStepQueries) {
    step();
    parallelForBlocks(threads, std::min(kStepQueries, rows.rows - from),
                      kQueries,
                      [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                        search.find(from + begin, from + end);
                      });
  }
  return result;
}

} // namespace brew::embedding
