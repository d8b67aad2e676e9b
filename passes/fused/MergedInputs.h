//===- MergedInputs.h - Inputs of nests that become one -----------*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::passes {

/// Inputs of a nest that is made of others, each tensor that is read through
/// the same map once.
struct MergedInputs {
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::AffineMap> maps;

  /// Adds the inputs of `nest`; returns where each of them is.
  llvm::SmallVector<unsigned> add(mlir::linalg::GenericOp nest) {
    llvm::SmallVector<unsigned> places;
    for (mlir::OpOperand *input : nest.getDpsInputOperands()) {
      const mlir::AffineMap map = nest.getMatchingIndexingMap(input);
      unsigned at = 0;
      while (at < values.size() &&
             (values[at] != input->get() || maps[at] != map))
        ++at;
      if (at == values.size()) {
        values.push_back(input->get());
        maps.push_back(map);
      }
      places.push_back(at);
    }
    return places;
  }
};

} // namespace brew::passes
