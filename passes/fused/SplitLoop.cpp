//===- SplitLoop.cpp - Splitting of a reduction loop ----------------------===//
#include "passes/fused/SplitLoop.h"

#include "dialects/Brew/KernelAnalysis.h"
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/Origin.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

class LoopSplitter {
public:
  LoopSplitter(linalg::GenericOp nest, unsigned loop, int64_t chunks)
      : nest(nest), loop(loop), chunks(chunks),
        extent(nest.getStaticLoopRanges()[loop]),
        length(llvm::divideCeil(extent, chunks)), b(nest) {}

  linalg::GenericOp run() {
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    SmallVector<utils::IteratorType> iterators = nest.getIteratorTypesArray();
    iterators.insert(iterators.begin() + loop, utils::IteratorType::reduction);
    for (OpOperand *input : nest.getDpsInputOperands()) {
      AffineMap map = nest.getMatchingIndexingMap(input);
      if (isReadInBody(map))
        continue;
      inputs.push_back(input->get());
      maps.push_back(remapped(map));
    }
    // An operand that is never read determines the loops' extents.
    SmallVector<int64_t> shape;
    SmallVector<AffineExpr> extentDims;
    SmallVector<int64_t> extents = nest.getStaticLoopRanges();
    extents[loop] = length;
    extents.insert(extents.begin() + loop, chunks);
    for (auto [i, kind] : llvm::enumerate(iterators))
      if (kind == utils::IteratorType::reduction) {
        shape.push_back(extents[i]);
        extentDims.push_back(b.getAffineDimExpr(i));
      }
    inputs.push_back(
        tensor::EmptyOp::create(b, nest.getLoc(), shape, b.getI8Type()));
    maps.push_back(
        AffineMap::get(extents.size(), 0, extentDims, b.getContext()));
    for (OpOperand &init : nest.getDpsInitsMutable())
      maps.push_back(remapped(nest.getMatchingIndexingMap(&init)));
    auto split = linalg::GenericOp::create(
        b, nest.getLoc(), nest->getResultTypes(), inputs, nest.getDpsInits(),
        maps, iterators, [&](OpBuilder &body, Location loc, ValueRange values) {
          buildBody(body, loc, values);
        });
    Origin::of(nest).mark(split);
    nest->replaceAllUsesWith(split->getResults());
    nest->erase();
    return split;
  }

private:
  unsigned newDim(unsigned dim) const { return dim <= loop ? dim : dim + 1; }

  /// Returns whether the index must be clamped, which a map cannot express.
  bool isReadInBody(AffineMap map) const {
    return chunks * length != extent && map.isFunctionOfDim(loop);
  }

  /// Returns the map in terms of the new loops.
  AffineMap remapped(AffineMap map) {
    SmallVector<AffineExpr> dims;
    for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
      dims.push_back(b.getAffineDimExpr(newDim(dim)));
    dims[loop] = dims[loop] * length + b.getAffineDimExpr(loop + 1);
    return map.replaceDimsAndSymbols(dims, {}, map.getNumDims() + 1, 0);
  }

  void buildBody(OpBuilder &body, Location loc, ValueRange values) {
    ScalarBuilder s(body, loc);
    SmallVector<Value> indices;
    for (unsigned dim = 0; dim < nest.getNumLoops(); ++dim)
      indices.push_back(linalg::IndexOp::create(body, loc, newDim(dim)));
    Value inner = linalg::IndexOp::create(body, loc, loop + 1);
    Value position = s.addi(s.muli(indices[loop], length), inner);
    Value isValid;
    if (chunks * length != extent) {
      isValid = s.less(position, s.index(extent));
      position = s.clamp(position, extent);
    }
    indices[loop] = position;

    IRMapping map;
    Block &oldBody = *nest.getBody();
    unsigned next = 0;
    for (OpOperand *input : nest.getDpsInputOperands()) {
      BlockArgument value = oldBody.getArgument(input->getOperandNumber());
      AffineMap access = nest.getMatchingIndexingMap(input);
      if (!isReadInBody(access)) {
        map.map(value, values[next++]);
      } else if (!value.use_empty()) {
        SmallVector<Value> elementIndices;
        for (AffineExpr result : access.getResults())
          if (auto dim = dyn_cast<AffineDimExpr>(result))
            elementIndices.push_back(indices[dim.getPosition()]);
          else // a dimension of size 1
            elementIndices.push_back(s.index(0));
        map.map(value, tensor::ExtractOp::create(body, loc, input->get(),
                                                 elementIndices));
      }
    }
    ++next; // skip the operand for the extents
    llvm::SmallDenseMap<Operation *, Value> sums;
    for (auto [resultNumber, accumulator] :
         llvm::enumerate(nest.getRegionOutputArgs())) {
      map.map(accumulator, values[next + resultNumber]);
      if (isStoredPerIteration(nest, resultNumber))
        continue;
      sums[oldBody.getTerminator()->getOperand(resultNumber).getDefiningOp()] =
          accumulator;
    }
    for (Operation &op : oldBody) {
      if (auto index = dyn_cast<linalg::IndexOp>(op)) {
        map.map(index.getResult(), indices[index.getDim()]);
        continue;
      }
      Operation *copy = body.clone(op, map);
      Value accumulator = sums.lookup(&op);
      if (!accumulator || !isValid)
        continue;
      OpBuilder::InsertionGuard guard(body);
      body.setInsertionPoint(copy);
      for (OpOperand &operand : copy->getOpOperands())
        if (operand.get() != map.lookup(accumulator))
          operand.set(s.select(isValid, operand.get(),
                               s.constant(operand.get().getType(), 0)));
    }
  }

  linalg::GenericOp nest;
  unsigned loop;
  int64_t chunks, extent, length;
  OpBuilder b;
};

} // namespace

bool brew::passes::canSplitLoop(linalg::GenericOp nest, unsigned loop,
                                int64_t chunks) {
  // A tensor that every iteration stores must be stored once per element.
  if (nest.getStaticLoopRanges()[loop] % chunks != 0)
    for (unsigned i = 0; i < nest->getNumResults(); ++i)
      if (isStoredPerIteration(nest, i))
        return false;
  return llvm::all_of(nest.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = nest.getMatchingIndexingMap(input);
    return !map.isFunctionOfDim(loop) ||
           map.isProjectedPermutation(/*allowZeroInResults=*/true);
  });
}

linalg::GenericOp brew::passes::splitLoop(linalg::GenericOp nest, unsigned loop,
                                          int64_t chunks) {
  return LoopSplitter(nest, loop, chunks).run();
}
