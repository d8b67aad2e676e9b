//===- NestTypes.h - Result types of nests ----------------------*- C++ -*-===//
#pragma once

#include "mlir/IR/Operation.h"

namespace brew::passes {

/// Changes the layout of a result. `type` has the same shape and element type.
/// Also changes the type of the initial value of a nest.
void setResultType(mlir::OpResult result, mlir::Type type);

} // namespace brew::passes
