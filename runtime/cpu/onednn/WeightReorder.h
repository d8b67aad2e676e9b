//===- WeightReorder.h - Reordering of weights between layouts --*- C++ -*-===//
//
// In training, the weights of convolutions have the plan's layout, which the
// solver, snapshots and other ranks use, while oneDNN's kernels use blocked
// layouts. Every step reorders the weights and their gradients. oneDNN's
// reorders between these layouts reach 3 to 8 GB/s; this class moves the same
// bits by tiles that are transposed in registers.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cpu/Threads.h"

#include <cstddef>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

namespace brew::runtime {

/// A copy of weights from a plain to a blocked layout or back.
class WeightReorder {
public:
  /// Supports weights [A,B,H,W] with contiguous rows of B, and blocks of A, of
  /// A and B, or of pairs. Returns nullopt for other layouts.
  static std::optional<WeightReorder> between(const dnnl::memory::desc &from,
                                              const dnnl::memory::desc &to);

  void run(const Threads &workers, const std::byte *from, std::byte *to) const;

private:
  /// The layout of the units of a matrix [rows, columns] in blocks.
  enum class Form {
    Transposed, ///< the units of a column are contiguous
    Interleaved ///< pairs of rows are interleaved column by column
  };

  bool initialise(const dnnl::memory::desc &plain,
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
  bool packs = true; ///< from plain to blocked; otherwise back
  std::size_t unitBytes = 4;
  /// The extents of the matrix, without and with the padding of the last
  /// blocks.
  std::int64_t rows = 0, columns = 0, paddedRows = 0, paddedColumns = 0;
  /// The extents of the window, in which each position has a matrix. All
  /// strides are in units.
  std::int64_t height = 1, width = 1;
  std::int64_t plainHeightStride = 0, plainWidthStride = 0;
  std::int64_t blockedHeightStride = 0, blockedWidthStride = 0;
  std::int64_t plainRowStride = 0;
  std::int64_t rowBlock = 1, rowBlockStride = 0;
  std::int64_t columnBlock = 1, columnBlockStride = 0, columnStride = 0;
};

} // namespace brew::runtime
