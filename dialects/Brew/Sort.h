//===- Sort.h - Sorting by loop nests ---------------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/NestBuilder.h"

namespace brew::dialects {

/// Builds a stable sort of `keys` along the last dimension: the `count` largest
/// elements (all, if there are fewer), largest first, NaN last, and an i32
/// tensor of their original positions.
///
/// Uses a merge sort, with one nest for each doubling of the sorted runs. Every
/// element of a nest's result finds its source by binary search, so that
/// targets can divide the work in any way. Runs are truncated to `count`
/// elements.
std::pair<mlir::Value, mlir::Value> buildSortDescending(mlir::OpBuilder &b,
                                                        mlir::Location loc,
                                                        mlir::Value keys,
                                                        int64_t count);

} // namespace brew::dialects
