//===- ReorderableReduction.cpp - Reorderable sums ------------------------===//
#include "passes/analysis/ReorderableReduction.h"

#include "dialects/Brew/KernelAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

static bool isReorderable(linalg::GenericOp nest, unsigned resultNumber) {
  auto fill = nest.getDpsInits()[resultNumber].getDefiningOp<linalg::FillOp>();
  if (!fill || !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()))
    return false;
  Value sum = nest.getRegionOutputArgs()[resultNumber];
  auto add = nest.getBody()
                 ->getTerminator()
                 ->getOperand(resultNumber)
                 .getDefiningOp<arith::AddFOp>();
  return add && sum.hasOneUse() && add->hasOneUse() &&
         llvm::is_contained(add->getOperands(), sum) &&
         arith::bitEnumContainsAll(add.getFastmath(),
                                   arith::FastMathFlags::reassoc);
}

bool brew::passes::hasReorderableReductions(linalg::GenericOp nest) {
  for (unsigned i = 0; i < nest->getNumResults(); ++i)
    if (!brew::dialects::isStoredPerIteration(nest, i) &&
        !isReorderable(nest, i))
      return false;
  return true;
}
