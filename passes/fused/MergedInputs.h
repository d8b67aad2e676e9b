//===- MergedInputs.h - Merged inputs of several nests ----------*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::passes {

/// Merged inputs of several nests: each pair of tensor and map appears once.
struct MergedInputs {
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::AffineMap> maps;

  /// Adds the inputs of `nest`. Returns the position of each of them.
  llvm::SmallVector<unsigned> add(mlir::linalg::GenericOp nest) {
    llvm::SmallVector<unsigned> positions;
    for (mlir::OpOperand *input : nest.getDpsInputOperands()) {
      const mlir::AffineMap map = nest.getMatchingIndexingMap(input);
      unsigned position = 0;
      while (position < values.size() &&
             (values[position] != input->get() || maps[position] != map))
        ++position;
      if (position == values.size()) {
        values.push_back(input->get());
        maps.push_back(map);
      }
      positions.push_back(position);
    }
    return positions;
  }
};

} // namespace brew::passes
