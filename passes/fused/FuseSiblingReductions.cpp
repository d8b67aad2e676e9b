//===- FuseSiblingReductions.cpp - Fusion of sibling sums -----------------===//
#include "passes/Passes.h"
#include "passes/analysis/LoopOrder.h"
#include "passes/analysis/ReorderableReduction.h"
#include "passes/analysis/Sinks.h"
#include "passes/fused/MergedInputs.h"
#include "passes/fused/ReductionFactors.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/Origin.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace brew::passes {
#define GEN_PASS_DEF_FUSESIBLINGREDUCTIONS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Returns the ancestor of `op` in the program's block.
Operation *ancestorInProgram(Operation *op) {
  while (!isa<ProgramOp>(op->getParentOp()))
    op = op->getParentOp();
  return op;
}

bool isReduction(linalg::GenericOp nest) {
  return nest.getNumReductionLoops() > 0 &&
         brew::passes::hasReorderableReductions(nest);
}

/// Returns whether two nests have the same loops, pass and result maps.
bool haveSameLoops(linalg::GenericOp a, linalg::GenericOp b) {
  if (a.getStaticLoopRanges() != b.getStaticLoopRanges() ||
      a.getIteratorTypesArray() != b.getIteratorTypesArray() ||
      Origin::of(a).isBackward != Origin::of(b).isBackward)
    return false;
  AffineMap result = a.getMatchingIndexingMap(a.getDpsInitOperand(0));
  auto hasResultMap = [&](linalg::GenericOp nest) {
    return llvm::all_of(nest.getDpsInitsMutable(), [&](OpOperand &init) {
      return nest.getMatchingIndexingMap(&init) == result;
    });
  };
  return hasResultMap(a) && hasResultMap(b);
}

/// Returns whether both nests read a common tensor through the same map, which
/// covers all loops.
bool shareInput(linalg::GenericOp a, linalg::GenericOp b) {
  for (OpOperand *inputA : a.getDpsInputOperands())
    for (OpOperand *inputB : b.getDpsInputOperands())
      if (inputA->get() == inputB->get() &&
          a.getMatchingIndexingMap(inputA) ==
              b.getMatchingIndexingMap(inputB) &&
          a.getMatchingIndexingMap(inputA).getNumResults() == a.getNumLoops())
        return true;
  return false;
}

/// Returns whether `op` is an initial value of a reduction, or an operand of
/// one.
bool isInitialValue(Operation *op) {
  return isa<linalg::FillOp, tensor::EmptyOp>(op) ||
         op->hasTrait<OpTrait::ConstantLike>();
}

/// Returns an initial value that is available at `position`, cloned if
/// necessary. Moving it would renumber the full block.
Value initialValueAt(OpBuilder &builder, Value value, Operation *position) {
  Operation *source = value.getDefiningOp();
  if (!isInitialValue(source) || source->isBeforeInBlock(position))
    return value;
  IRMapping map;
  for (Value operand : source->getOperands())
    map.map(operand, initialValueAt(builder, operand, position));
  return builder.clone(*source, map)->getResult(0);
}

/// Returns whether all inputs of `nest` are available before `position`.
bool canHoistTo(linalg::GenericOp nest, Operation *position) {
  bool canHoist = true;
  nest->walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (source && !nest->isAncestor(source) && !isInitialValue(source))
        canHoist &= ancestorInProgram(source)->isBeforeInBlock(position);
    }
  });
  return canHoist;
}

/// Returns whether no user of `nest` precedes `position`.
bool canSinkTo(linalg::GenericOp nest, Operation *position) {
  return llvm::all_of(nest->getUsers(), [&](Operation *user) {
    return position->isBeforeInBlock(ancestorInProgram(user));
  });
}

linalg::GenericOp fuse(linalg::GenericOp a, linalg::GenericOp b,
                       Operation *position) {
  OpBuilder builder(position);
  linalg::GenericOp nests[] = {a, b};
  brew::passes::MergedInputs mergedInputs;
  SmallVector<Value> inits;
  SmallVector<AffineMap> initMaps;
  SmallVector<Type> types;
  // Positions of each nest's operands among the merged inputs.
  SmallVector<SmallVector<unsigned>> positions;
  for (linalg::GenericOp nest : nests) {
    positions.push_back(mergedInputs.add(nest));
    for (OpOperand &init : nest.getDpsInitsMutable()) {
      inits.push_back(initialValueAt(builder, init.get(), position));
      initMaps.push_back(nest.getMatchingIndexingMap(&init));
      types.push_back(init.get().getType());
    }
  }
  SmallVector<Value> &inputs = mergedInputs.values;
  SmallVector<AffineMap> &maps = mergedInputs.maps;
  llvm::append_range(maps, initMaps);
  auto fused = linalg::GenericOp::create(
      builder, builder.getFusedLoc({a.getLoc(), b.getLoc()}), types, inputs,
      inits, maps, a.getIteratorTypesArray(),
      [&](OpBuilder &body, Location loc, ValueRange values) {
        SmallVector<Value> results;
        unsigned next = inputs.size();
        for (auto [n, nest] : llvm::enumerate(nests)) {
          IRMapping map;
          Block &nestBody = *nest.getBody();
          for (auto [i, mergedPosition] : llvm::enumerate(positions[n]))
            map.map(nestBody.getArgument(i), values[mergedPosition]);
          for (Value sum : nest.getRegionOutputArgs())
            map.map(sum, values[next++]);
          for (Operation &op : nestBody.without_terminator())
            body.clone(op, map);
          for (Value result : nestBody.getTerminator()->getOperands())
            results.push_back(map.lookupOrDefault(result));
        }
        linalg::YieldOp::create(body, loc, results);
      });
  Origin::of(a).with(Origin::of(b)).mark(fused);
  a->replaceAllUsesWith(fused->getResults().take_front(a->getNumResults()));
  b->replaceAllUsesWith(fused->getResults().drop_front(a->getNumResults()));
  a->erase();
  b->erase();
  return fused;
}

struct FuseSiblingReductions
    : brew::passes::impl::FuseSiblingReductionsBase<FuseSiblingReductions> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    brew::passes::moveSinksToEnd(program.getBody().front());
    SmallVector<linalg::GenericOp> nests;
    for (auto nest : program.getBody().front().getOps<linalg::GenericOp>())
      if (isReduction(nest))
        nests.push_back(nest);
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp &nest : nests)
      nest = brew::passes::orderLoops(rewriter, nest);
    fuseAll(rewriter, nests);
  }

private:
  /// Fuses each nest with the first earlier nest for which that is possible.
  static void fuseAll(IRRewriter &rewriter, ArrayRef<linalg::GenericOp> nests) {
    SmallVector<linalg::GenericOp> fusedNests;
    DenseMap<Operation *, unsigned> indexOf; // index in `fusedNests`
    for (linalg::GenericOp nest : nests) {
      // Only nests that read one of its inputs can share it.
      SmallVector<unsigned> related;
      for (Value input : nest.getDpsInputs())
        for (Operation *reader : input.getUsers())
          if (auto entry = indexOf.find(reader); entry != indexOf.end())
            related.push_back(entry->second);
      llvm::sort(related);
      unsigned index = fusedNests.size();
      for (unsigned candidate : related)
        if (Operation *position = fusionPoint(fusedNests[candidate], nest)) {
          indexOf.erase(fusedNests[candidate]);
          nest = brew::passes::shareReductions(
              rewriter, fuse(fusedNests[candidate], nest, position));
          index = candidate;
          break;
        }
      if (index == fusedNests.size())
        fusedNests.emplace_back();
      fusedNests[index] = nest;
      indexOf[nest] = index;
    }
  }

  /// Returns the position of the fused nest, or null if fusion is impossible or
  /// pointless.
  static Operation *fusionPoint(linalg::GenericOp earlier,
                                linalg::GenericOp later) {
    if (!shareInput(earlier, later) || !haveSameLoops(earlier, later))
      return nullptr;
    if (canHoistTo(later, earlier))
      return earlier;
    return canSinkTo(earlier, later) ? later.getOperation() : nullptr;
  }
};

} // namespace
