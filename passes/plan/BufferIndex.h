//===- BufferIndex.h - Index of buffers by address --------------*- C++ -*-===//
#pragma once

#include "dialects/Plan/PlanDialect.h"

#include <map>
#include <set>
#include <tuple>

namespace brew::passes {

/// Index of buffers by address range, for queries that do not look at every
/// buffer. Within a group, buffers are sorted by offset; a buffer that reaches
/// into a range begins at most the size of the group's largest before it. So
/// buffers are grouped by the logarithm of their size. The slices of a
/// concatenated blob interleave: the range of each one contains elements of all
/// the others. They are a group, which is also sorted by position in a row.
class BufferIndex {
public:
  /// Inserts a buffer; no-op if it is present.
  void insert(dialects::plan::BufferOp buffer);
  void erase(dialects::plan::BufferOp buffer);

  /// Returns all buffers that may have a byte in common with `buffer`, and
  /// possibly some near it.
  mlir::SmallVector<dialects::plan::BufferOp>
  buffersNear(dialects::plan::BufferOp buffer) const;

private:
  /// The arena, the name and offset of the base and the pitch if a buffer has
  /// rows, and the logarithm of the size.
  using Key = std::tuple<dialects::plan::ArenaKind, llvm::StringRef, int64_t,
                         int64_t, unsigned>;
  using Sorted = std::set<std::pair<int64_t, mlir::Operation *>>;
  struct Group {
    Sorted byOffset;
    Sorted byColumn;        ///< position in a row; empty without rows
    int64_t maxRowSize = 0; ///< of all buffers ever inserted
  };

  static Key keyOf(dialects::plan::BufferOp buffer);

  std::map<Key, Group> groups;
};

} // namespace brew::passes
