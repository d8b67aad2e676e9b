//===- FuseReductions.cpp - Reductions in their producers -----------------===//
//
// The gradient of a bias sums up a gradient that a nest has just computed and
// stored for calls; a separate nest would read it from memory again. This pass
// fuses the two: each iteration of the reduction also stores an element of the
// tensor that it sums. The stored tensor is the last result, indexed by all
// loops; other nests of the kernel do not read it.
//
// brew-split-reductions then creates enough partial sums to keep a GPU busy. If
// each block sums adjacent channels, its threads store adjacent elements.
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

/// Smaller reductions run in one block anyway.
constexpr int64_t kMinElements = 1 << 16;

bool gathers(linalg::GenericOp nest) {
  return nest.getBody()
      ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Rewrites one program.
class ReductionFuser {
public:
  explicit ReductionFuser(ProgramOp program)
      : block(program.getBody().front()), rewriter(program.getContext()) {}

  void run() {
    SmallVector<linalg::GenericOp> nests(block.getOps<linalg::GenericOp>());
    for (linalg::GenericOp nest : nests)
      if (!erased.contains(nest))
        if (OpOperand *read = fusibleReductionOf(nest))
          fuse(nest, *read);
  }

private:
  /// Returns whether a nest computes each element of one large floating-point
  /// tensor exactly once, without gathers.
  static bool isLargeElementwise(linalg::GenericOp nest) {
    OpOperand *init = nest.getDpsInitOperand(0);
    return nest->getNumResults() == 1 && nest.getNumReductionLoops() == 0 &&
           isa<FloatType>(elementTypeOf(nest->getResult(0))) &&
           nest.getMatchingIndexingMap(init).isPermutation() &&
           !nest.payloadUsesValueFromOperand(init) && !gathers(nest) &&
           countOf(nest.getStaticLoopRanges()) >= kMinElements;
  }

  /// Returns whether a nest of the same direction (forward or backward), with
  /// at least as many elements, produces an input of `nest`. The two then share
  /// a kernel, which saves as much memory traffic as fusing the reduction.
  static bool sharesKernelWithProducer(linalg::GenericOp nest) {
    return llvm::any_of(nest.getDpsInputs(), [&](Value input) {
      auto producer = input.getDefiningOp<linalg::GenericOp>();
      return producer &&
             countOf(shapeOf(input)) >= countOf(nest.getStaticLoopRanges()) &&
             Origin::of(producer).isBackward == Origin::of(nest).isBackward;
    });
  }

  /// Returns the operand through which a reduction reads the result of `nest`,
  /// if the two can be fused; otherwise null.
  OpOperand *fusibleReductionOf(linalg::GenericOp nest) const {
    if (!isLargeElementwise(nest) || sharesKernelWithProducer(nest))
      return nullptr;
    OpOperand *reduction = nullptr;
    // A value that only nests read may stay inside a kernel.
    bool isStored = false;
    for (OpOperand &use : nest->getResult(0).getUses()) {
      auto sum = dyn_cast<linalg::GenericOp>(use.getOwner());
      isStored |= !sum;
      if (!sum || sum.getNumReductionLoops() == 0)
        continue;
      // Several reductions share a kernel of their own, which reads the value
      // once.
      if (reduction)
        return nullptr;
      reduction = &use;
    }
    return reduction && isStored && canFuse(nest, *reduction) ? reduction
                                                              : nullptr;
  }

  bool canFuse(linalg::GenericOp nest, OpOperand &read) const {
    auto sum = cast<linalg::GenericOp>(read.getOwner());
    if (sum->getBlock() != &block || !sum.isDpsInput(&read) ||
        !sum.getMatchingIndexingMap(&read).isPermutation() || gathers(sum) ||
        !brew::passes::hasReorderableReductions(sum) ||
        Origin::of(nest).isBackward != Origin::of(sum).isBackward)
      return false;
    // The other inputs of the reduction must be available where the value is
    // computed.
    for (OpOperand *input : sum.getDpsInputOperands())
      if (input != &read && !isBefore(input->get(), nest))
        return false;
    return true;
  }

  static bool isBefore(Value value, Operation *op) {
    Operation *producer = value.getDefiningOp();
    return !producer || producer->isBeforeInBlock(op);
  }

  void fuse(linalg::GenericOp nest, OpOperand &read) {
    auto sum = cast<linalg::GenericOp>(read.getOwner());
    const Value value = nest->getResult(0);
    rewriter.setInsertionPoint(nest);
    // Maps the loops of `sum` to those of the nest.
    AffineMap producedMap =
                  nest.getMatchingIndexingMap(nest.getDpsInitOperand(0)),
              readMap = sum.getMatchingIndexingMap(&read);
    const AffineMap loops = inversePermutation(producedMap).compose(readMap);
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
      inits.push_back(cloneInit(init.get()));
      maps.push_back(sum.getMatchingIndexingMap(&init));
    }
    inits.push_back(cloneInit(nest.getDpsInits()[0]));
    maps.push_back(readMap);
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
    for (auto [oldResult, newResult] :
         llvm::zip(sum->getResults(), fused->getResults()))
      rewriter.replaceAllUsesWith(oldResult, newResult);
    erased.insert(sum);
    rewriter.eraseOp(sum);
    rewriter.eraseOp(nest);
  }

  /// Clones an initial value with its operands.
  Value cloneInit(Value init) {
    IRMapping map;
    Operation *op = init.getDefiningOp();
    for (Value operand : op->getOperands())
      map.map(operand, rewriter.clone(*operand.getDefiningOp())->getResult(0));
    return rewriter.clone(*op, map)->getResult(0);
  }

  /// Clones `op`, mapping loop indices of the nest to those of the fused nest.
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
  llvm::SmallPtrSet<Operation *, 16> erased; ///< reductions already fused
};

struct FuseReductions : brew::passes::impl::FuseReductionsBase<FuseReductions> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (brew::dialects::target::isForGpu(program))
      ReductionFuser(program).run();
  }
};

} // namespace
