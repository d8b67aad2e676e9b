//===- Gemm.h - Matrix products for the simulated libraries -----*- C++ -*-===//
#ifndef CUDASIM_GEMM_H
#define CUDASIM_GEMM_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace cudasim {

/// Calls put(i, j, sum over p of a(i, p) * b(p, j)) for every i < m and j < n.
/// Sums are computed in T, in the order of p. The operands are packed into
/// panels, so that a and b are called once per element.
template <class T, class A, class B, class Put>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, A a, B b, Put put) {
  constexpr int kRows = 64 / sizeof(T), kColumns = 8;
  // A vector type, since the compiler would otherwise keep the sums in memory.
  using Column [[gnu::vector_size(64)]] = T;
  auto panels = [](std::int64_t count, int size) {
    return (count + size - 1) / size;
  };
  std::vector<T> packedA(
      static_cast<std::size_t>(panels(m, kRows) * kRows * k));
  std::vector<T> packedB(
      static_cast<std::size_t>(panels(n, kColumns) * kColumns * k));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t p = 0; p < k; ++p)
      packedA[static_cast<std::size_t>((i / kRows * k + p) * kRows +
                                       i % kRows)] = a(i, p);
  for (std::int64_t p = 0; p < k; ++p)
    for (std::int64_t j = 0; j < n; ++j)
      packedB[static_cast<std::size_t>((j / kColumns * k + p) * kColumns +
                                       j % kColumns)] = b(p, j);

  // Sums the terms in blocks, so that a block of all left panels stays in the
  // cache while the right panels are traversed. `partialSums` contains the
  // partial sums between blocks.
  constexpr std::int64_t kBlock = 256;
  std::vector<T> partialSums(static_cast<std::size_t>(
      k > kBlock ? panels(m, kRows) * kRows * panels(n, kColumns) * kColumns
                 : 0));
  for (std::int64_t begin = 0; begin == 0 || begin < k; begin += kBlock) {
    const std::int64_t end = std::min(begin + kBlock, k);
    for (std::int64_t jPanel = 0; jPanel < panels(n, kColumns); ++jPanel)
      for (std::int64_t iPanel = 0; iPanel < panels(m, kRows); ++iPanel) {
        const T *left = packedA.data() + (iPanel * k + begin) * kRows;
        const T *right = packedB.data() + (jPanel * k + begin) * kColumns;
        T *partial = partialSums.data() +
                     (jPanel * panels(m, kRows) + iPanel) * kRows * kColumns;
        Column sums[kColumns] = {};
        if (begin > 0)
          std::memcpy(sums, partial, sizeof(sums));
        for (std::int64_t p = begin; p < end;
             ++p, left += kRows, right += kColumns) {
          Column column;
          std::memcpy(&column, left, sizeof(column));
          for (int j = 0; j < kColumns; ++j)
            sums[j] += column * right[j];
        }
        if (end < k) {
          std::memcpy(partial, sums, sizeof(sums));
          continue;
        }
        std::int64_t iEnd = std::min<std::int64_t>(kRows, m - iPanel * kRows);
        std::int64_t jEnd =
            std::min<std::int64_t>(kColumns, n - jPanel * kColumns);
        for (std::int64_t j = 0; j < jEnd; ++j)
          for (std::int64_t i = 0; i < iEnd; ++i)
            put(iPanel * kRows + i, jPanel * kColumns + j, sums[j][i]);
      }
  }
}

} // namespace cudasim

#endif // CUDASIM_GEMM_H
