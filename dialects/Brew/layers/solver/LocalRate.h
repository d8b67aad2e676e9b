//===- LocalRate.h - Learning rates of single parameters --------*- C++ -*-===//
#pragma once

#include "dialects/Brew/layers/solver/Solver.h"

#include "mlir/IR/Builders.h"

namespace brew::dialects {

/// Builds the nests that compute the learning rate of an update with
/// `local_rate`. Returns a scalar tensor.
mlir::Value buildLocalRate(SGDUpdateOp update, mlir::OpBuilder &b);

} // namespace brew::dialects
