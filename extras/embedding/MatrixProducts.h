//===- MatrixProducts.h - Products of matrices of floats --------------*- C++ -*-===//
//
// oneDNN's, a block at a time and each block on one thread: what comes out does
// not depend on how many threads there are.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cpu/Threads.h"

#include <cstdint>
#include <vector>

namespace brew::embedding {

/// Rows of one length.
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<float> values; ///< row-major
  double scale = 1;          ///< the values are the caller's times it
  const float *row(std::int64_t index) const {
    return values.data() + index * columns;
  }
};

/// c (m x n) = a (m x k) times b (k x n), each perhaps given transposed; rows
/// of a, b and c are as long as they are where they lie. Inside of a
/// parallelFor, or under Threads(1).enter(). Error (70) if the library refuses.
void multiply(bool transposeA, bool transposeB, std::int64_t m, std::int64_t n,
              std::int64_t k, const float *a, std::int64_t strideA,
              const float *b, std::int64_t strideB, float *c,
              std::int64_t strideC);

/// Products of a matrix of rows that stays where it is.
class RowProducts {
public:
  virtual ~RowProducts() = default;
  /// scores (rows x count) = the rows times directions (columns x count).
  virtual void project(const std::vector<float> &directions, std::int64_t count,
                       std::vector<float> &scores) = 0;
  /// result (columns x count) = the rows, transposed, times scores (rows x
  /// count), summed over blocks of rows in double precision.
  virtual void sums(const std::vector<float> &scores, std::int64_t count,
                    std::vector<double> &result) = 0;
};

/// Those on the host. Rows and threads outlive it.
class HostRowProducts : public RowProducts {
public:
  HostRowProducts(const Matrix &rows, const runtime::Threads &threads)
      : features(rows), threads(threads) {}
  void project(const std::vector<float> &directions, std::int64_t count,
               std::vector<float> &scores) override;
  void sums(const std::vector<float> &scores, std::int64_t count,
            std::vector<double> &result) override;

private:
  const Matrix &features;
  const runtime::Threads &threads;
};

/// The rows less their mean. Where squares of what is left, or sums of them,
/// might overflow or vanish they are scaled by a power of two.
Matrix centred(const float *values, std::int64_t rows, std::int64_t columns);

/// Calls body(block, begin, end) for blocks of so many rows, in parallel, each
/// with the library's own threads off. The first that a body throws comes out.
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
    // A team of one runs on the caller, outside of a team.
    const runtime::Threads::Scope alone(1);
    try {
      for (std::int64_t at = begin; at < end; at += size)
        body(at / size, at, at + size < end ? at + size : end);
    } catch (...) { // of memory
      const std::lock_guard<std::mutex> lock(guard);
      if (!thrown)
        thrown = std::current_exception();
    }
  });
  if (thrown)
    std::rethrow_exception(thrown);
}

} // namespace brew::embedding
