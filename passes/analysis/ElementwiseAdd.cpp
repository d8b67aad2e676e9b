//===- ElementwiseAdd.cpp - Elementwise sum of two tensors ----------------===//
#include "passes/analysis/ElementwiseAdd.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

bool brew::passes::isElementwiseAdd(linalg::GenericOp nest) {
  Block &body = *nest.getBody();
  if (nest.getNumDpsInputs() != 2 || nest->getNumResults() != 1 ||
      nest.getNumReductionLoops() > 0 || !llvm::hasNItems(body, 2) ||
      !llvm::all_of(nest.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return false;
  auto add = dyn_cast<arith::AddFOp>(body.front());
  return add && body.getTerminator()->getOperand(0) == add.getResult() &&
         add.getLhs() != add.getRhs() &&
         llvm::all_of(add->getOperands(), [](Value operand) {
           auto argument = dyn_cast<BlockArgument>(operand);
           return argument && argument.getArgNumber() < 2;
         });
}
