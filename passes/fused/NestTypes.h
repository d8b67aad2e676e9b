//===- NestTypes.h - Changing the types of nests' results -------*- C++ -*-===//
#pragma once

#include "mlir/IR/Operation.h"

namespace brew::passes {

/// Gives a result another type of the same shape and element; what a nest
/// starts from follows.
void setResultType(mlir::OpResult result, mlir::Type type);

} // namespace brew::passes
