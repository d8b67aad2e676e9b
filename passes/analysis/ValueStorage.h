//===- ValueStorage.h - Storage of values -----------------------*- C++ -*-===//
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace brew::passes {

/// Returns the bytes of a dense tensor of that type; elements of i1 are bits.
int64_t bytesOf(mlir::RankedTensorType type);

/// Returns whether `op` is a step of a plan: a kernel or a call.
bool isStep(mlir::Operation *op);

/// Returns the source of `value` through all reshaping views
/// (brew.reinterpret).
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
