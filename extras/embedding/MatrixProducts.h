//===- MatrixProducts.h - Products of float matrices ------------*- C++ -*-===//
//
// Uses oneDNN for one block at a time, each on a single thread, so the results
// do not depend on the number of threads.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cpu/Threads.h"

#include <cstdint>
#include <vector>

namespace brew::embedding {

/// A dense row-major matrix.
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<float> values; ///< row-major
  double scale = 1;          ///< values = scale * the caller's values
  const float *row(std::int64_t index) const {
    return values.data() + index * columns;
  }
};

/// Computes c (m x n) = a (m x k) * b (k x n), where a and b may be stored
/// transposed. Strides are the lengths of rows in memory. Call it inside a
/// parallelFor or under Threads(1).enter(). Throws Error (70) if the library
/// fails.
void multiply(bool transposeA, bool transposeB, std::int64_t m, std::int64_t n,
              std::int64_t k, const float *a, std::int64_t strideA,
              const float *b, std::int64_t strideB, float *c,
              std::int64_t strideC);

/// Products with a fixed matrix of rows.
class RowProducts {
public:
  virtual ~RowProducts() = default;
  /// Computes scores (rows x count) = rows * directions (columns x count).
  virtual void project(const std::vector<float> &directions, std::int64_t count,
                       std::vector<float> &scores) = 0;
  /// Computes result (columns x count) = transposed rows * scores (rows x
  /// count). Blocks of rows are summed in double precision.
  virtual void projectTransposed(const std::vector<float> &scores,
                                 std::int64_t count,
                                 std::vector<double> &result) = 0;
};

/// Products on the host. `rows` and `threads` must outlive this object.
class HostRowProducts : public RowProducts {
public:
  HostRowProducts(const Matrix &rows, const runtime::Threads &threads)
      : features(rows), threads(threads) {}
  void project(const std::vector<float> &directions, std::int64_t count,
               std::vector<float> &scores) override;
  void projectTransposed(const std::vector<float> &scores, std::int64_t count,
                         std::vector<double> &result) override;

private:
  const Matrix &features;
  const runtime::Threads &threads;
};

/// Returns the rows minus their mean. Scales the result by a power of two if
/// squares or sums of squares might overflow or underflow.
Matrix centred(const float *values, std::int64_t rows, std::int64_t columns);

/// Calls body(block, begin, end) for blocks of `size` rows in parallel, with
/// the threads of oneDNN disabled. Rethrows the first exception of `body`.
template <typename Body>
void parallelForBlocks(const runtime::Threads &threads, std::int64_t rows,
                       std::int64_t size, const Body &body);

} // namespace brew::embedding

//===----------------------------------------------------------------------===//

#include <exception>
#include <mutex>

namespace brew::embedding {

template <typename Body>
void parallelForBlocks(const runtime::Threads &threads, std::int64_t rows,
                       std::int64_t size, const Body &body) {
  std::exception_ptr thrown;
  std::mutex guard;
  threads.parallelFor(rows, size, [&](std::int64_t begin, std::int64_t end) {
    // A team of one thread runs on the caller.
    const runtime::Threads::Scope singleThread(1);
    try {
      for (std::int64_t at = begin; at < end; at += size)
        body(at / size, at, at + size < end ? at + size : end);
    } catch (...) { // out of memory, or thrown by the body
      const std::lock_guard<std::mutex> lock(guard);
      if (!thrown)
        thrown = std::current_exception();
    }
  });
  if (thrown)
    std::rethrow_exception(thrown);
}

} // namespace brew::embedding
