//===- Loop.cpp - Construction and verification of loops ------------------===//
#include "dialects/Brew/Loop.h"
#include "dialects/Brew/layers/shape/Shape.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace brew::dialects;

RankedTensorType brew::dialects::itemTypeOf(Type sequence) {
  auto type = cast<RankedTensorType>(sequence);
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = 1;
  return subviewOf(type, shape);
}

LoopOp brew::dialects::createLoop(OpBuilder &b, Location loc, StringAttr layer,
                                  int64_t iterations, bool isReverse,
                                  const LoopOperands &operands) {
  SmallVector<Type> carried;
  for (Value value : operands.initial)
    carried.push_back(value.getType());
  auto loop = LoopOp::create(
      b, loc, operands.stacked, carried, operands.scratch, layer,
      b.getI64IntegerAttr(iterations), isReverse ? b.getUnitAttr() : nullptr,
      nullptr, operands.sequences, operands.invariants, operands.initial);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&loop.getBody());
  for (Value sequence : operands.sequences)
    body->addArgument(itemTypeOf(sequence.getType()), loc);
  for (Value value :
       llvm::concat<const Value>(operands.invariants, operands.initial))
    body->addArgument(value.getType(), loc);
  return loop;
}

SmallVector<Operation *> LoopOp::steps() {
  SmallVector<Operation *> steps;
  for (Operation &op : getBody().front())
    if (isa<KernelOp, PlanStepInterface>(op))
      steps.push_back(&op);
  return steps;
}

LogicalResult LoopOp::verify() {
  Block &body = getBody().front();
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getNumOperands() != getNumResults())
    return emitOpError("must yield one value per result");
  if (getIterations() < 1)
    return emitOpError("needs at least one iteration");
  SmallVector<Type> arguments, yielded;
  auto addItems = [&](ValueRange sequences,
                      SmallVector<Type> &types) -> LogicalResult {
    for (Value sequence : sequences) {
      auto type = dyn_cast<RankedTensorType>(sequence.getType());
      if (!type || type.getRank() == 0 ||
          type.getDimSize(0) != static_cast<int64_t>(getIterations()))
        return emitOpError("needs one item of every sequence per iteration");
      types.push_back(itemTypeOf(type));
    }
    return success();
  };
  if (failed(addItems(getSequences(), arguments)) ||
      failed(addItems(getStacked(), yielded)))
    return failure();
  llvm::append_range(arguments, getInvariants().getTypes());
  llvm::append_range(arguments, getInitial().getTypes());
  llvm::append_range(yielded, getCarried().getTypes());
  llvm::append_range(yielded, getScratch().getTypes());
  if (TypeRange(arguments) != TypeRange(body.getArgumentTypes()))
    return emitOpError("has block arguments of other types than its operands");
  if (getInitial().getTypes() != getCarried().getTypes())
    return emitOpError("carries values of other types than the initial ones");
  if (TypeRange(yielded) != TypeRange(yield.getOperandTypes()))
    return emitOpError("yields values of other types than its results");
  llvm::SmallDenseSet<Value> seen;
  for (Value value : yield.getValues())
    if (value.getParentBlock() != &body || isa<BlockArgument>(value) ||
        !seen.insert(value).second)
      return emitOpError("must yield values of its steps, each once");
  return success();
}
