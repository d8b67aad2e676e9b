//===- Sort.h - Sorting in generic forms ------------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/NestBuilder.h"

namespace brew::dialects {

/// The first `most` elements of `keys` along its last dimension, largest first,
/// equal ones in their order, NaN last; and an i32 tensor that says where each
/// was. With fewer elements than `most`, all.
///
/// A merge sort: one nest for each doubling of the sorted runs, in which every
/// element of the result finds its source by binary search, so that targets
/// divide the work as they like. Of runs longer than `most` the rest is left
/// out.
std::pair<mlir::Value, mlir::Value> buildSortDescending(mlir::OpBuilder &b,
                                                        mlir::Location loc,
                                                        mlir::Value keys,
                                                        int64_t most);

} // namespace brew::dialects
