//===- SplitReductions.cpp - Long sums in two stages
//-----------------------===//
#include "passes/Passes.h"
#include "passes/SplitLoop.h"

#include "dialects/Brew/BrewDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <optional>

namespace brew {
#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "passes/Passes.h.inc"
} // namespace brew

using namespace mlir;
using namespace brew::ir;

namespace {

/// Whether result `number` is a sum that begins with zero, in any order.
bool isFreeSum(linalg::GenericOp nest, unsigned number) {
  auto fill = nest.getDpsInits()[number].getDefiningOp<linalg::FillOp>();
  if (!fill || !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()))
    return false;
  Value sum = nest.getRegionOutputArgs()[number];
  auto add = nest.getBody()
                 ->getTerminator()
                 ->getOperand(number)
                 .getDefiningOp<arith::AddFOp>();
  return add && sum.hasOneUse() && add->hasOneUse() &&
         llvm::is_contained(add->getOperands(), sum) &&
         arith::bitEnumContainsAll(add.getFastmath(),
                                   arith::FastMathFlags::reassoc);
}

/// One nest and the reduction loops whose iterations become partial sums.
class Split {
public:
  Split(linalg::GenericOp nest, ArrayRef<unsigned> loops)
      : nest(nest), loops(loops), b(nest) {}

  void run() {
    linalg::GenericOp partial = sumPartially();
    SmallVector<Value> results;
    for (auto [number, result] : llvm::enumerate(nest->getResults()))
      results.push_back(sumUp(partial->getResult(number),
                              cast<RankedTensorType>(result.getType())));
    nest->replaceAllUsesWith(results);
    nest->erase();
  }

private:
  Value zeros(RankedTensorType type) {
    Location loc = nest.getLoc();
    Value empty = tensor::EmptyOp::create(
        b, loc, type.getShape(), type.getElementType(), type.getEncoding());
    Value zero = arith::ConstantOp::create(
        b, loc, b.getFloatAttr(type.getElementType(), 0));
    return linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  }

  /// The nest with those loops parallel. They lead the dimensions of results.
  linalg::GenericOp sumPartially() {
    SmallVector<int64_t> extents = nest.getStaticLoopRanges();
    SmallVector<utils::IteratorType> iterators = nest.getIteratorTypesArray();
    SmallVector<AffineMap> maps = nest.getIndexingMapsArray();
    SmallVector<Value> inits;
    SmallVector<Type> types;
    for (unsigned loop : loops)
      iterators[loop] = utils::IteratorType::parallel;
    for (auto [number, result] : llvm::enumerate(nest->getResults())) {
      auto type = cast<RankedTensorType>(result.getType());
      AffineMap &map = maps[nest.getNumDpsInputs() + number];
      SmallVector<int64_t> shape;
      SmallVector<AffineExpr> places;
      for (unsigned loop : loops) {
        shape.push_back(extents[loop]);
        places.push_back(b.getAffineDimExpr(loop));
      }
      llvm::append_range(shape, type.getShape());
      llvm::append_range(places, map.getResults());
      map = AffineMap::get(map.getNumDims(), 0, places, b.getContext());
      auto partial = RankedTensorType::get(shape, type.getElementType());
      types.push_back(partial);
      inits.push_back(zeros(partial));
    }
    auto partial = linalg::GenericOp::create(
        b, nest.getLoc(), types, nest.getInputs(), inits, maps, iterators);
    IRMapping map;
    nest.getRegion().cloneInto(&partial.getRegion(), map);
    partial->setDiscardableAttrs(nest->getDiscardableAttrDictionary());
    return partial;
  }

  Value sumUp(Value partial, RankedTensorType type) {
    int64_t kept = type.getRank(), reduced = loops.size();
    SmallVector<AffineExpr> from, to;
    for (int64_t i = 0; i < reduced; ++i)
      from.push_back(b.getAffineDimExpr(kept + i));
    for (int64_t i = 0; i < kept; ++i) {
      from.push_back(b.getAffineDimExpr(i));
      to.push_back(b.getAffineDimExpr(i));
    }
    SmallVector<utils::IteratorType> iterators(kept,
                                               utils::IteratorType::parallel);
    iterators.append(reduced, utils::IteratorType::reduction);
    auto sum = linalg::GenericOp::create(
        b, nest.getLoc(), TypeRange{type}, partial, zeros(type),
        ArrayRef{AffineMap::get(kept + reduced, 0, from, b.getContext()),
                 AffineMap::get(kept + reduced, 0, to, b.getContext())},
        iterators, [](OpBuilder &body, Location loc, ValueRange values) {
          Value sum = arith::AddFOp::create(body, loc, values[1], values[0],
                                            arith::FastMathFlags::reassoc |
                                                arith::FastMathFlags::contract);
          linalg::YieldOp::create(body, loc, sum);
        });
    sum->setDiscardableAttrs(nest->getDiscardableAttrDictionary());
    return sum->getResult(0);
  }

  linalg::GenericOp nest;
  ArrayRef<unsigned> loops;
  OpBuilder b;
};

struct SplitReductions : brew::impl::SplitReductionsBase<SplitReductions> {
  using SplitReductionsBase::SplitReductionsBase;

  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      SmallVector<linalg::GenericOp> nests(
          program.getBody().front().getOps<linalg::GenericOp>());
      for (auto nest : nests) {
        SmallVector<unsigned> loops = loopsToSplit(nest);
        if (!loops.empty())
          Split(nest, loops).run();
      }
    }
  }

private:
  /// Leading reduction loops that make enough sums together; none where the
  /// nest has enough results, or too little to add up. Where whole loops make
  /// too few, one of the others is made two of, and `nest` is what comes of
  /// that.
  SmallVector<unsigned> loopsToSplit(linalg::GenericOp &nest) const {
    SmallVector<int64_t> extents = nest.getStaticLoopRanges();
    int64_t points = 1, length = 1;
    for (auto [extent, kind] :
         llvm::zip_equal(extents, nest.getIteratorTypesArray()))
      (kind == utils::IteratorType::parallel ? points : length) *= extent;
    if (points >= fewResults || points * length < leastWork)
      return {};
    for (unsigned i = 0; i < nest->getNumResults(); ++i)
      if (!isFreeSum(nest, i))
        return {};
    SmallVector<unsigned> loops;
    std::optional<unsigned> longest;
    for (auto [loop, kind] : llvm::enumerate(nest.getIteratorTypesArray())) {
      if (kind == utils::IteratorType::parallel || points >= enoughSums)
        continue;
      // What is left must be worth a kernel's team.
      if (length / extents[loop] < kShortest) {
        if (!longest || extents[loop] > extents[*longest])
          longest = loop;
        continue;
      }
      loops.push_back(loop);
      points *= extents[loop];
      length /= extents[loop];
    }
    int64_t parts = llvm::divideCeil(enoughSums, points);
    if (points >= enoughSums || !longest || length / parts < kShortest ||
        extents[*longest] < 2 * parts || !brew::canSplitLoop(nest, *longest))
      return loops;
    nest = brew::splitLoop(nest, *longest, parts);
    for (unsigned &loop : loops)
      loop += loop > *longest;
    loops.push_back(*longest);
    llvm::sort(loops);
    return loops;
  }

  static constexpr int64_t kShortest = 32;
};
} // namespace
