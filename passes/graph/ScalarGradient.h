//===- ScalarGradient.h - Derivatives of scalar expressions -----*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

namespace brew::passes {

/// The gradient of an elementwise layer by operand `number`, given that of its
/// result. It is derived from the layer's expression; a broadcast operand's is
/// summed over the elements it was spread to.
mlir::FailureOr<mlir::Value>
buildScalarGradient(mlir::OpBuilder &b, dialects::ScalarBodyInterface op,
                    unsigned number, mlir::Value resultGradient);

} // namespace brew::passes
