//===- ValueStorage.h - Values in the bytes of others -------------*- C++ -*-===//
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace brew::passes {

/// Bytes that a tensor's elements take side by side; those of i1 are bits.
int64_t bytesOf(mlir::RankedTensorType type);

/// Whether `op` is a step of a plan: a kernel or a call.
bool isStep(mlir::Operation *op);

/// What `value` is another shape of, through all such views.
mlir::Value stripReshapes(mlir::Value value);

/// Where a value lies: in the bytes of `owner`, `offset` elements behind its
/// first.
struct Place {
  mlir::Value owner;
  int64_t offset = 0;
};

/// Through all views, cuts and joins.
Place storageOf(mlir::Value value);

/// Whether `value` is a feed's that nobody writes anew for every run: its bytes
/// stay its own all the time.
bool isSetOnce(mlir::Value value);

} // namespace brew::passes
