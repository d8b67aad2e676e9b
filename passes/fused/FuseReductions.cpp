//===- FuseReductions.cpp - Values are added up where they are computed ---------===//
//
// The gradient of a bias is a sum over a gradient that a nest has just made and
// stored, for calls, and that another one reads again from memory. Here the two
// are one: a reduction each of whose iterations also stores an element of what
// it adds up. What it stores are its last results, with maps over all loops;
// the kernel's other nests do not read them.
//
// split-reductions then makes as many partial sums as keep a GPU busy, and
// where each block adds up neighbouring channels threads store them side by
// side.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/analysis/ReorderableReduction.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Target/TargetDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace brew::passes {
#define GEN_PASS_DEF_FUSEREDUCTIONS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Sums of so few elements are one block's, with what makes them or without.
constexpr int64_t kFewElements = 1 << 16;

bool readsAnywhere(linalg::GenericOp nest) {
  return nest.getBody()
      ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Rewrites one program.
class SumFusing {
public:
  explicit SumFusing(ProgramOp program)
      : block(program.getBody().front()), rewriter(program.getContext()) {}

  void run() {
    SmallVector<linalg::GenericOp> nests(block.getOps<linalg::GenericOp>());
    for (linalg::GenericOp nest : nests)
      if (!gone.contains(nest))
        if (OpOperand *read = sumOf(nest))
          fuse(nest, *read);
  }

private:
  /// Whether a nest makes one tensor element by element, each once.
  static bool isElementwise(linalg::GenericOp nest) {
    OpOperand *init = nest.getDpsInitOperand(0);
    return nest->getNumResults() == 1 && nest.getNumReductionLoops() == 0 &&
           isa<FloatType>(elementTypeOf(nest->getResult(0))) &&
           nest.getMatchingIndexingMap(init).isPermutation() &&
           !nest.payloadUsesValueFromOperand(init) && !readsAnywhere(nest) &&
           countOf(nest.getStaticLoopRanges()) >= kFewElements;
  }

  /// Whether a nest of the same pass makes what this one reads: then they share
  /// a kernel, which saves as much.
  static bool hasCompany(linalg::GenericOp nest) {
    return llvm::any_of(nest.getDpsInputs(), [&](Value input) {
      auto maker = input.getDefiningOp<linalg::GenericOp>();
      return maker &&
             countOf(shapeOf(input)) >= countOf(nest.getStaticLoopRanges()) &&
             Origin::of(maker).isBackward == Origin::of(nest).isBackward;
    });
  }

  /// Where a sum reads what `nest` makes, if the sum can be made there.
  OpOperand *sumOf(linalg::GenericOp nest) const {
    if (!isElementwise(nest) || hasCompany(nest))
      return nullptr;
    OpOperand *found = nullptr;
    // What only nests read may be none of their kernels' results.
    bool isStored = false;
    for (OpOperand &use : nest->getResult(0).getUses()) {
      auto sum = dyn_cast<linalg::GenericOp>(use.getOwner());
      isStored |= !sum;
      if (!sum || sum.getNumReductionLoops() == 0)
        continue;
      // With several sums, or one and layers that read the value element by
      // element, a kernel of their own reads it once.
      if (found)
        return nullptr;
      found = &use;
    }
    return found && isStored && canFuse(nest, *found) ? found : nullptr;
  }

  bool canFuse(linalg::GenericOp nest, OpOperand &read) const {
    auto sum = cast<linalg::GenericOp>(read.getOwner());
    if (sum->getBlock() != &block || !sum.isDpsInput(&read) ||
        !sum.getMatchingIndexingMap(&read).isPermutation() ||
        readsAnywhere(sum) || !brew::passes::hasReorderableReductions(sum) ||
        Origin::of(nest).isBackward != Origin::of(sum).isBackward)
      return false;
    // All that it reads is there where the value is made.
    for (OpOperand *input : sum.getDpsInputOperands())
      if (input != &read && !isBefore(input->get(), nest))
        return false;
    return true;
  }

  static bool isBefore(Value value, Operation *op) {
    Operation *made = value.getDefiningOp();
    return !made || made->isBeforeInBlock(op);
  }

  void fuse(linalg::GenericOp nest, OpOperand &read) {
    auto sum = cast<linalg::GenericOp>(read.getOwner());
    const Value value = nest->getResult(0);
    rewriter.setInsertionPoint(nest);
    // Loops of `sum` in the places of the nest's.
    AffineMap made = nest.getMatchingIndexingMap(nest.getDpsInitOperand(0)),
              taken = sum.getMatchingIndexingMap(&read);
    const AffineMap loops = inversePermutation(made).compose(taken);
    SmallVector<Value> inputs, inits;
    SmallVector<AffineMap> maps;
    for (OpOperand *input : nest.getDpsInputOperands()) {
      inputs.push_back(input->get());
      maps.push_back(nest.getMatchingIndexingMap(input).compose(loops));
    }
    for (OpOperand *input : sum.getDpsInputOperands())
      if (input != &read) {
        inputs.push_back(input->get());
        maps.push_back(sum.getMatchingIndexingMap(input));
      }
    for (OpOperand &init : sum.getDpsInitsMutable()) {
      inits.push_back(cloned(init.get()));
      maps.push_back(sum.getMatchingIndexingMap(&init));
    }
    inits.push_back(cloned(nest.getDpsInits()[0]));
    maps.push_back(taken);
    SmallVector<Type> types(sum->getResultTypes());
    types.push_back(value.getType());
    auto fused = linalg::GenericOp::create(
        rewriter, rewriter.getFusedLoc({nest.getLoc(), sum.getLoc()}), types,
        inputs, inits, maps, sum.getIteratorTypesArray(),
        [&](OpBuilder &b, Location, ValueRange values) {
          IRMapping map;
          for (BlockArgument argument : nest.getRegionInputArgs())
            map.map(argument, values[argument.getArgNumber()]);
          for (Operation &op : nest.getBody()->without_terminator())
            cloneWithIndices(b, op, map, loops);
          const Value element = map.lookupOrDefault(
              nest.getBody()->getTerminator()->getOperand(0));
          unsigned next = nest.getNumDpsInputs();
          for (BlockArgument argument : sum.getBody()->getArguments())
            map.map(argument, argument.getArgNumber() == read.getOperandNumber()
                                  ? element
                                  : values[next++]);
          for (Operation &op : sum.getBody()->without_terminator())
            b.clone(op, map);
          SmallVector<Value> results;
          for (Value result : sum.getBody()->getTerminator()->getOperands())
            results.push_back(map.lookupOrDefault(result));
          results.push_back(element);
          linalg::YieldOp::create(b, sum.getLoc(), results);
        });
    Origin::of(nest).with(Origin::of(sum)).mark(fused);
    rewriter.replaceAllUsesWith(value, fused->getResults().back());
    for (auto [old, now] : llvm::zip(sum->getResults(), fused->getResults()))
      rewriter.replaceAllUsesWith(old, now);
    gone.insert(sum);
    rewriter.eraseOp(sum);
    rewriter.eraseOp(nest);
  }

  /// What a nest begins with, with all that this is made of.
  Value cloned(Value init) {
    IRMapping map;
    Operation *op = init.getDefiningOp();
    for (Value operand : op->getOperands())
      map.map(operand, rewriter.clone(*operand.getDefiningOp())->getResult(0));
    return rewriter.clone(*op, map)->getResult(0);
  }

  /// The indices of the nest's loops are those of others now.
  static void cloneWithIndices(OpBuilder &b, Operation &op, IRMapping &map,
                               AffineMap loops) {
    auto index = dyn_cast<linalg::IndexOp>(op);
    if (!index) {
      b.clone(op, map);
      return;
    }
    auto loop = cast<AffineDimExpr>(loops.getResult(index.getDim()));
    map.map(index.getResult(),
            linalg::IndexOp::create(b, op.getLoc(), loop.getPosition())
                .getResult());
  }

  Block &block;
  IRRewriter rewriter;
  llvm::SmallPtrSet<Operation *, 16> gone; ///< sums that others make now
};

struct FuseReductions : brew::passes::impl::FuseReductionsBase<FuseReductions> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>())
      if (brew::dialects::target::isForGpu(program))
        SumFusing(program).run();
  }
};

} // namespace
