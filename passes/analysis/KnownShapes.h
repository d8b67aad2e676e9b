//===- KnownShapes.h - Requirement of passes behind shape inference -*- C++ -*//
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace brew::passes {

/// Fails, with an error at the first operation below `root` that has a result
/// without a static shape. Passes that call shapeOf() need it, because tools
/// may run them on IR of an earlier phase.
inline mlir::LogicalResult requireShapes(mlir::Operation *root) {
  const mlir::WalkResult result = root->walk([](mlir::Operation *op) {
    for (mlir::Type type : op->getResultTypes())
      if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(type);
          shaped && (!shaped.hasRank() || !shaped.hasStaticShape())) {
        op->emitError("this value has no static shape: brew-infer-shapes runs "
                      "before this pass");
        return mlir::WalkResult::interrupt();
      }
    return mlir::WalkResult::advance();
  });
  return mlir::failure(result.wasInterrupted());
}

} // namespace brew::passes
