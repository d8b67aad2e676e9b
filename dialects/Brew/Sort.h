//===- Sort.h - Sorting in generic forms ------------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/NestBuilder.h"

namespace brew::ir {

/// The elements of `keys` along its last dimension, largest first, equal ones
/// in their order; and an i32 tensor that says where each was. Keys are no NaN.
///
/// A merge sort: one nest for each doubling of the sorted runs, in which every
/// element of the result finds its source by binary search, so that targets
/// divide the work as they like.
std::pair<mlir::Value, mlir::Value>
buildSortDescending(mlir::OpBuilder &b, mlir::Location loc, mlir::Value keys);

} // namespace brew::ir
