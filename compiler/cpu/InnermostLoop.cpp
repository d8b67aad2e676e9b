//===- InnermostLoop.cpp - Innermost loop of a nest -----------------------===//

#include "compiler/cpu/InnermostLoop.h"

#include "compiler/kernels/KernelIndices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace brew::compiler::cpu {

void InnermostLoop::emitRanges(
    Value zero, Value begin, Value end, Value last,
    ArrayRef<Operation *> boundaries,
    llvm::function_ref<void(Value, Value)> emitInside) {
  if (boundaries.empty())
    return emitInside(zero, last);
  begin = arith::MinSIOp::create(b, loc, begin, last);
  end = arith::MaxSIOp::create(b, loc, end, begin);
  emitInside(zero, begin);
  body.elidedBoundaries.insert(boundaries.begin(), boundaries.end());
  emitInside(begin, end);
  body.elidedBoundaries.clear();
  emitInside(end, last);
}

void InnermostLoop::emit(Nest &nest, unsigned number,
                         SmallVectorImpl<Value> &indices,
                         llvm::function_ref<void(Value, Value)> emitInside,
                         bool carriesValues) {
  SmallVector<Operation *> boundaries = boundaryOperations(nest, number);
  Value zero = body.index(0), last = body.index(nest.loops[number].extent),
        begin = zero, end = last;
  SmallVector<Operation *> guards = guardOperations(nest, number);
  if (guards.empty()) {
    if (!boundaries.empty())
      body.narrowRange(nest, number, boundaries, indices, begin, end);
    emitRanges(zero, begin, end, last, boundaries, emitInside);
    return;
  }
  // Iterations outside the guards have no effect.
  SmallVector<Operation *> fixedGuards, rangeGuards;
  for (Operation *guard : guards)
    (indexStep(nest, guard->getOperand(0), number) == 0 ? fixedGuards
                                                        : rangeGuards)
        .push_back(guard);
  boundaries.append(guards);
  if (carriesValues)
    rangeGuards = guards;
  OpBuilder::InsertionGuard insertion(b);
  indices[number] = zero;
  if (!fixedGuards.empty() && !carriesValues) {
    Value condition = body.guardCondition(nest, fixedGuards, indices);
    b.setInsertionPointToStart(
        scf::IfOp::create(b, loc, condition).thenBlock());
  }
  body.narrowRange(nest, number, rangeGuards, indices, begin, end);
  body.elidedBoundaries.insert(boundaries.begin(), boundaries.end());
  emitInside(begin, end);
  body.elidedBoundaries.clear();
}

} // namespace brew::compiler::cpu
