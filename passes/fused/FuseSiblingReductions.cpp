//===- FuseSiblingReductions.cpp - Sums over the same elements as one nest ------------===//
#include "passes/Passes.h"
#include "passes/analysis/ReorderableReduction.h"
#include "passes/analysis/LoopOrder.h"
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

/// The operation of the program's own block that `op` is, or is in.
Operation *inProgram(Operation *op) {
  while (!isa<ProgramOp>(op->getParentOp()))
    op = op->getParentOp();
  return op;
}

bool isSumNest(linalg::GenericOp nest) {
  return nest.getNumReductionLoops() > 0 && brew::passes::hasReorderableReductions(nest);
}

/// Whether two nests run over the same loops for results of the same places.
bool haveSameLoops(linalg::GenericOp a, linalg::GenericOp b) {
  if (a.getStaticLoopRanges() != b.getStaticLoopRanges() ||
      a.getIteratorTypesArray() != b.getIteratorTypesArray() ||
      Origin::of(a).isBackward != Origin::of(b).isBackward)
    return false;
  AffineMap result = a.getMatchingIndexingMap(a.getDpsInitOperand(0));
  auto isSame = [&](linalg::GenericOp nest) {
    return llvm::all_of(nest.getDpsInitsMutable(), [&](OpOperand &init) {
      return nest.getMatchingIndexingMap(&init) == result;
    });
  };
  return isSame(a) && isSame(b);
}

/// Whether the nests read a tensor of as many elements as they have iterations
/// alike.
bool readInCommon(linalg::GenericOp a, linalg::GenericOp b) {
  for (OpOperand *one : a.getDpsInputOperands())
    for (OpOperand *other : b.getDpsInputOperands())
      if (one->get() == other->get() &&
          a.getMatchingIndexingMap(one) == b.getMatchingIndexingMap(other) &&
          a.getMatchingIndexingMap(one).getNumResults() == a.getNumLoops())
        return true;
  return false;
}

/// Whether the operation reads no tensor: what a sum begins with, and its
/// operands.
bool isInitial(Operation *op) {
  return isa<linalg::FillOp, tensor::EmptyOp>(op) ||
         op->hasTrait<OpTrait::ConstantLike>();
}

/// What a sum begins with, where `builder` stands: moving it would have the
/// whole block numbered anew.
Value initialBefore(OpBuilder &builder, Value value, Operation *place) {
  Operation *source = value.getDefiningOp();
  if (!isInitial(source) || source->isBeforeInBlock(place))
    return value;
  IRMapping map;
  for (Value operand : source->getOperands())
    map.map(operand, initialBefore(builder, operand, place));
  return builder.clone(*source, map)->getResult(0);
}

/// Whether all that `nest` reads is there before `place`, or can be.
bool canStandAt(linalg::GenericOp nest, Operation *place) {
  bool can = true;
  nest->walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (source && !nest->isAncestor(source) && !isInitial(source))
        can &= inProgram(source)->isBeforeInBlock(place);
    }
  });
  return can;
}

/// Whether nothing before `place` reads what `nest` gives.
bool canWaitFor(linalg::GenericOp nest, Operation *place) {
  return llvm::all_of(nest->getUsers(), [&](Operation *user) {
    return place->isBeforeInBlock(inProgram(user));
  });
}

linalg::GenericOp merge(linalg::GenericOp a, linalg::GenericOp b,
                        Operation *place) {
  OpBuilder builder(place);
  linalg::GenericOp both[] = {a, b};
  brew::passes::MergedInputs joined;
  SmallVector<Value> inits;
  SmallVector<AffineMap> initMaps;
  SmallVector<Type> types;
  // Where each nest's operands are among the inputs of both.
  SmallVector<SmallVector<unsigned>> places;
  for (linalg::GenericOp nest : both) {
    places.push_back(joined.add(nest));
    for (OpOperand &init : nest.getDpsInitsMutable()) {
      inits.push_back(initialBefore(builder, init.get(), place));
      initMaps.push_back(nest.getMatchingIndexingMap(&init));
      types.push_back(init.get().getType());
    }
  }
  SmallVector<Value> &inputs = joined.values;
  SmallVector<AffineMap> &maps = joined.maps;
  llvm::append_range(maps, initMaps);
  auto merged = linalg::GenericOp::create(
      builder, builder.getFusedLoc({a.getLoc(), b.getLoc()}), types, inputs,
      inits, maps, a.getIteratorTypesArray(),
      [&](OpBuilder &body, Location loc, ValueRange values) {
        SmallVector<Value> results;
        unsigned next = inputs.size();
        for (auto [n, nest] : llvm::enumerate(both)) {
          IRMapping map;
          Block &old = *nest.getBody();
          for (auto [i, at] : llvm::enumerate(places[n]))
            map.map(old.getArgument(i), values[at]);
          for (Value sum : nest.getRegionOutputArgs())
            map.map(sum, values[next++]);
          for (Operation &op : old.without_terminator())
            body.clone(op, map);
          for (Value result : old.getTerminator()->getOperands())
            results.push_back(map.lookupOrDefault(result));
        }
        linalg::YieldOp::create(body, loc, results);
      });
  Origin::of(a).with(Origin::of(b)).mark(merged);
  a->replaceAllUsesWith(merged->getResults().take_front(a->getNumResults()));
  b->replaceAllUsesWith(merged->getResults().drop_front(a->getNumResults()));
  a->erase();
  b->erase();
  return merged;
}

struct FuseSiblingReductions : brew::passes::impl::FuseSiblingReductionsBase<FuseSiblingReductions> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      brew::passes::moveSinksToEnd(program.getBody().front());
      SmallVector<linalg::GenericOp> nests;
      for (auto nest : program.getBody().front().getOps<linalg::GenericOp>())
        if (isSumNest(nest))
          nests.push_back(nest);
      IRRewriter rewriter(&getContext());
      for (linalg::GenericOp &nest : nests)
        nest = brew::passes::orderLoops(rewriter, nest);
      mergeAll(rewriter, nests);
    }
  }

private:
  /// Each nest joins the first one before it that it can.
  static void mergeAll(IRRewriter &rewriter,
                       ArrayRef<linalg::GenericOp> nests) {
    SmallVector<linalg::GenericOp> kept;
    DenseMap<Operation *, unsigned> numberOf; // in `kept`
    for (linalg::GenericOp nest : nests) {
      // Only those that read a tensor of this one's can have it in common.
      SmallVector<unsigned> related;
      for (Value input : nest.getDpsInputs())
        for (Operation *reader : input.getUsers())
          if (auto found = numberOf.find(reader); found != numberOf.end())
            related.push_back(found->second);
      llvm::sort(related);
      unsigned number = kept.size();
      for (unsigned other : related)
        if (Operation *place = mergePoint(kept[other], nest)) {
          numberOf.erase(kept[other]);
          nest = brew::passes::shareReductions(rewriter,
                                         merge(kept[other], nest, place));
          number = other;
          break;
        }
      if (number == kept.size())
        kept.emplace_back();
      kept[number] = nest;
      numberOf[nest] = number;
    }
  }

  /// Where a nest can stand that does what both do, if there should be one.
  static Operation *mergePoint(linalg::GenericOp earlier,
                               linalg::GenericOp later) {
    if (!readInCommon(earlier, later) || !haveSameLoops(earlier, later))
      return nullptr;
    if (canStandAt(later, earlier))
      return earlier;
    return canWaitFor(earlier, later) ? later.getOperation() : nullptr;
  }
};

} // namespace
