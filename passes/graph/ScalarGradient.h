//===- ScalarGradient.h - Derivatives of scalar expressions -----*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

namespace brew::passes {

/// Builds the gradient of an elementwise layer with respect to operand `number`
/// by differentiating the layer's scalar expression. The gradient of a
/// broadcast operand is summed over the broadcast dimensions.
mlir::FailureOr<mlir::Value>
buildScalarGradient(mlir::OpBuilder &b, dialects::ScalarBodyInterface op,
                    unsigned number, mlir::Value resultGradient);

} // namespace brew::passes
