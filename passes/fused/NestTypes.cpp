//===- NestTypes.cpp - Result types of nests ------------------------------===//
#include "passes/fused/NestTypes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

/// Sets the type of a nest's initial value to the type of its result.
static void setInitType(OpOperand &init, Type type) {
  Operation *source = init.get().getDefiningOp();
  if (init.get().getType() == type ||
      !isa_and_nonnull<tensor::EmptyOp, linalg::FillOp>(source))
    return;
  if (!init.get().hasOneUse()) {
    OpBuilder b(source);
    b.setInsertionPointAfter(source);
    source = b.clone(*source);
    init.set(source->getResult(0));
  }
  source->getResult(0).setType(type);
  if (auto fill = dyn_cast<linalg::FillOp>(source))
    setInitType(fill.getDpsInitsMutable()[0], type);
}

void brew::passes::setResultType(OpResult result, Type type) {
  result.setType(type);
  if (auto nest = dyn_cast<linalg::GenericOp>(result.getOwner()))
    setInitType(nest.getDpsInitsMutable()[result.getResultNumber()], type);
}
