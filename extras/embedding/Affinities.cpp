//===- Affinities.cpp - Affinities of rows in t-SNE -----------------------===//

#include "extras/embedding/Affinities.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace brew::embedding {
namespace {

/// Maximum number of bisection steps. The entropy is unreachable if a row has
/// more neighbours at distance 0 than the perplexity.
constexpr int kMaxSteps = 200;
constexpr double kTolerance = 1e-5; ///< of the entropy

/// Computes p(j|i) for the neighbours j of one row i from their squared
/// distances, which are in ascending order.
void computeConditional(const float *squared, std::int64_t count,
                        double perplexity, double *p) {
  const double targetEntropy = std::log(perplexity);
  double precision = 1, low = 0, high = std::numeric_limits<double>::infinity();
  // Subtract the nearest distance, so that no sum is 0. Start with the inverse
  // mean as the precision, for very large or small distances.
  double mean = 0;
  for (std::int64_t j = 0; j < count; ++j)
    mean += (double(squared[j]) - squared[0]) / static_cast<double>(count);
  if (mean > 0)
    precision /= mean;
  for (int step = 0; step < kMaxSteps; ++step) {
    double sum = 0, weighted = 0;
    for (std::int64_t j = 0; j < count; ++j) {
      const double distance = double(squared[j]) - squared[0];
      p[j] = std::exp(-precision * distance);
      sum += p[j];
      weighted += p[j] * distance;
    }
    const double entropy = std::log(sum) + precision * weighted / sum;
    for (std::int64_t j = 0; j < count; ++j)
      p[j] /= sum;
    const double difference = entropy - targetEntropy;
    if (std::abs(difference) <= kTolerance)
      return;
    (difference > 0 ? low : high) = precision;
    precision = std::isinf(high) ? precision * 2 : (low + high) / 2;
  }
}

} // namespace

Affinities computeAffinities(const Neighbours &neighbours, double perplexity,
                             const runtime::Threads &threads) {
  const std::int64_t count = neighbours.count;
  const std::int64_t rows =
      static_cast<std::int64_t>(neighbours.rows.size()) / count;
  const double scale = 0.5 / static_cast<double>(rows);
  std::vector<float> conditionals(neighbours.rows.size());
  constexpr std::int64_t kGrain = 64;
  parallelForBlocks(threads, rows, kGrain,
                    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                      std::vector<double> p(static_cast<std::size_t>(count));
                      for (std::int64_t i = begin; i < end; ++i) {
                        computeConditional(&neighbours.squared[i * count],
                                           count, perplexity, p.data());
                        for (std::int64_t j = 0; j < count; ++j)
                          conditionals[i * count + j] =
                              static_cast<float>(p[j] * scale);
                      }
                    });

  // Build the transpose; its rows are sorted because they are filled in order.
  std::vector<std::int64_t> begins(static_cast<std::size_t>(rows) + 1);
  for (std::int32_t row : neighbours.rows)
    ++begins[row + 1];
  for (std::int64_t i = 0; i < rows; ++i)
    begins[i + 1] += begins[i];
  struct Entry {
    std::int32_t column;
    float value;
    bool operator<(const Entry &other) const { return column < other.column; }
  };
  std::vector<Entry> transposed(neighbours.rows.size());
  std::vector<std::int64_t> next(begins.begin(), begins.end() - 1);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = i * count; j < (i + 1) * count; ++j)
      transposed[next[neighbours.rows[j]]++] = {static_cast<std::int32_t>(i),
                                                conditionals[j]};

  Affinities result;
  result.begins.push_back(0);
  std::vector<Entry> row;
  for (std::int64_t i = 0; i < rows; ++i) {
    row.clear();
    for (std::int64_t j = i * count; j < (i + 1) * count; ++j)
      row.push_back({neighbours.rows[j], conditionals[j]});
    std::sort(row.begin(), row.end());
    const auto mergePoint = static_cast<std::ptrdiff_t>(row.size());
    row.insert(row.end(), transposed.begin() + begins[i],
               transposed.begin() + begins[i + 1]);
    std::inplace_merge(row.begin(), row.begin() + mergePoint, row.end());
    const std::size_t rowBegin = result.columns.size();
    for (const Entry &entry : row) {
      if (result.columns.size() > rowBegin &&
          result.columns.back() == entry.column) {
        result.values.back() += entry.value;
        continue;
      }
      result.columns.push_back(entry.column);
      result.values.push_back(entry.value);
    }
    while (result.columns.size() % kLanes) {
      result.columns.push_back(static_cast<std::int32_t>(i));
      result.values.push_back(0);
    }
    result.begins.push_back(static_cast<std::int64_t>(result.columns.size()));
  }
  return result;
}

} // namespace brew::embedding
