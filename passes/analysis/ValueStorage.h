//===- ValueStorage.h - Storage of values -----------------------*- C++ -*-===//
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace brew::passes {

/// Returns the size of a tensor of that type in bytes. Elements of i1 are
/// stored as bits, in complete 32-bit words.
int64_t bytesOf(mlir::RankedTensorType type);

/// Returns whether `op` becomes a step of a plan (a kernel, a call or an
/// all-reduce).
bool isStep(mlir::Operation *op);

/// Returns the value that `value` reshapes: follows brew.reinterpret to its
/// source.
mlir::Value stripReshapes(mlir::Value value);

/// Storage of a value: `offset` elements after the first one of `base`.
struct Storage {
  mlir::Value base;
  int64_t offset = 0;
};

/// Returns the storage of `value` through all views, slices and concatenations.
Storage storageOf(mlir::Value value);

/// Returns whether `value` is a data-layer top that is not refilled for every
/// run, so that its bytes must not be reused.
bool isSetOnce(mlir::Value value);

} // namespace brew::passes
