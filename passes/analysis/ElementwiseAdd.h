//===- ElementwiseAdd.h - Elementwise sum of two tensors --------*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::passes {

/// Returns whether `nest` is the elementwise sum of two different tensors, such
/// as the sum of a gradient over two readers.
bool isElementwiseAdd(mlir::linalg::GenericOp nest);

} // namespace brew::passes
