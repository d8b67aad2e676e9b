//===- ElementwiseAdd.h - Sums of two tensors -----------------------*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::passes {

/// Whether `nest` adds two different tensors element by element and does
/// nothing else: a gradient's sum over two readers.
bool isElementwiseAdd(mlir::linalg::GenericOp nest);

} // namespace brew::passes
