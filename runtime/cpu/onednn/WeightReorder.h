//===- WeightReorder.h - Weights between two layouts ------------*- C++ -*-===//
//
// In training the weights of convolutions lie in the plan's layout, where the
// solver, snapshots and other ranks find them, and oneDNN's kernels read and
// write them in blocks of their own. Every step brings them there and their
// gradients back. oneDNN's reorders between these layouts move 3 to 8 GB/s;
// these move the same bits by tiles that are turned in registers.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cpu/Threads.h"

#include <cstddef>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

namespace brew::runtime {

class WeightReorder {
public:
  /// Nothing where one of them is no layout that this knows: weights [A,B,H,W]
  /// in memory by rows of B, and blocks of A, of A and B, or of pairs.
  static std::optional<WeightReorder> between(const dnnl::memory::desc &from,
                                              const dnnl::memory::desc &to);

  void run(const Threads &workers, const std::byte *from, std::byte *to) const;

private:
  /// How units of a matrix [rows, columns] lie in blocks.
  enum class Form {
    Transposed,     ///< rows are side by side
    Interleaved ///< pairs of rows are, column by column
  };

  bool describe(const dnnl::memory::desc &plain,
                const dnnl::memory::desc &blocked);
  template <typename Unit>
  void transpose(std::int64_t begin, std::int64_t end, const std::byte *from,
            std::byte *to) const;
  void interleave(std::int64_t begin, std::int64_t end, const std::byte *from,
                  std::byte *to) const;
  template <typename Unit>
  void transposeEdge(Unit *plain, Unit *blocked, std::int64_t row,
               std::int64_t column) const;
  std::int64_t blockedColumn(std::int64_t column) const {
    return column / columnBlock * columnBlockStride +
           column % columnBlock * columnStride;
  }

  Form form = Form::Transposed;
  bool packs = true; ///< from plain to blocks, not back
  std::size_t unitBytes = 4;
  /// Of the matrix; and with the zeros that fill the last blocks.
  std::int64_t rows = 0, columns = 0, paddedRows = 0, paddedColumns = 0;
  /// Matrices, one for each place of a window; strides of all are in units.
  std::int64_t height = 1, width = 1;
  std::int64_t plainHeightStride = 0, plainWidthStride = 0;
  std::int64_t blockedHeightStride = 0, blockedWidthStride = 0;
  std::int64_t plainRowStride = 0;
  std::int64_t rowBlock = 1, rowBlockStride = 0;
  std::int64_t columnBlock = 1, columnBlockStride = 0, columnStride = 0;
};

} // namespace brew::runtime
