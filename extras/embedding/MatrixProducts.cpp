//===- MatrixProducts.cpp - Products of float matrices --------------------===//

#include "extras/embedding/MatrixProducts.h"

#include "support/Error.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cmath>

namespace brew::embedding {
namespace {

/// If the largest value is from 2^-30 to 2^30, floats can represent sums of
/// 2^60 squares, and the squares of differences in the last digit.
constexpr int kPlainExponent = 30;

/// Returns the power of two that scales the largest value to about 1, or 1 if
/// its exponent is at most kPlainExponent.
double scaleFor(double largest) {
  int exponent = 0;
  std::frexp(largest, &exponent); // the exponent of 0 is 0
  return std::abs(exponent) <= kPlainExponent ? 1 : std::ldexp(1, -exponent);
}

} // namespace

void multiply(bool transposeA, bool transposeB, std::int64_t m, std::int64_t n,
              std::int64_t k, const float *a, std::int64_t strideA,
              const float *b, std::int64_t strideB, float *c,
              std::int64_t strideC) {
  const dnnl_status_t status =
      dnnl_sgemm(transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', m, n, k, 1, a,
                 strideA, b, strideB, 0, c, strideC);
  if (status == dnnl_out_of_memory)
    throw unavailable("out of memory");
  if (status != dnnl_success)
    throw Error(ExitStatus::Bug, "oneDNN rejects a matrix product (status " +
                                     std::to_string(status) + ")");
}

Matrix centred(const float *values, std::int64_t rows, std::int64_t columns) {
  const auto width = static_cast<std::size_t>(columns);
  std::vector<double> mean(width);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < width; ++i)
      mean[i] += values[static_cast<std::size_t>(row) * width + i];
  for (double &value : mean)
    value /= static_cast<double>(rows);
  Matrix result{rows, columns,
                std::vector<float>(static_cast<std::size_t>(rows) * width)};
  double largest = 0;
  for (std::size_t i = 0; i < result.values.size(); ++i)
    largest = std::max(largest, std::abs(values[i] - mean[i % width]));
  result.scale = scaleFor(largest);
  for (std::size_t i = 0; i < result.values.size(); ++i)
    result.values[i] =
        static_cast<float>((values[i] - mean[i % width]) * result.scale);
  return result;
}

/// Rows of one product.
static constexpr std::int64_t kBlockRows = 512;

void HostRowProducts::project(const std::vector<float> &directions,
                              std::int64_t count, std::vector<float> &scores) {
  scores.resize(static_cast<std::size_t>(features.rows * count));
  parallelForBlocks(threads, features.rows, kBlockRows,
                    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                      multiply(false, false, end - begin, count,
                               features.columns, features.row(begin),
                               features.columns, directions.data(), count,
                               &scores[begin * count], count);
                    });
}

void HostRowProducts::projectTransposed(const std::vector<float> &scores,
                                        std::int64_t count,
                                        std::vector<double> &result) {
  const std::int64_t size = features.columns * count;
  const std::int64_t blocks = (features.rows - 1) / kBlockRows + 1;
  std::vector<float> blockSums(static_cast<std::size_t>(blocks * size));
  parallelForBlocks(
      threads, features.rows, kBlockRows,
      [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
        multiply(true, false, features.columns, count, end - begin,
                 features.row(begin), features.columns, &scores[begin * count],
                 count, &blockSums[block * size], count);
      });
  result.assign(static_cast<std::size_t>(size), 0);
  for (std::int64_t block = 0; block < blocks; ++block)
    for (std::int64_t i = 0; i < size; ++i)
      result[i] += blockSums[block * size + i];
}

} // namespace brew::embedding
