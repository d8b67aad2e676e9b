//===- ScalarGradient.h - Derivatives of scalar expressions -----*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

namespace brew::passes {

/// Builds the gradient of an elementwise layer with respect to operand
/// `operandNumber` by differentiating the layer's scalar expression. The
/// gradient of a broadcast operand is summed over the broadcast dimensions.
/// Reports an error and fails if an operation of the expression has no
/// derivative rule, or if the derivative reads more than 256 operands.
mlir::FailureOr<mlir::Value>
buildScalarGradient(mlir::OpBuilder &b, dialects::ScalarBodyInterface op,
                    unsigned operandNumber, mlir::Value resultGradient);

} // namespace brew::passes
