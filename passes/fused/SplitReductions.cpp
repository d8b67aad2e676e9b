//===- SplitReductions.cpp - Long sums in two stages ----------------------===//
#include "passes/Passes.h"
#include "passes/analysis/ReorderableReduction.h"
#include "passes/analysis/ValueStorage.h"
#include "passes/fused/SplitLoop.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/KernelAnalysis.h"
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Target/TargetDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/bit.h"

#include <optional>

namespace brew::passes {
#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// One nest and the reduction loops whose iterations become partial sums.
/// Upstream's splitReduction and tileReductionUsingForall take one loop and one
/// result at a time and know no layouts; here one pair of nests gives all sums
/// of all results.
class Split {
public:
  Split(linalg::GenericOp nest, ArrayRef<unsigned> loops)
      : nest(nest), loops(loops), b(nest) {
    // What is stored on the way stands behind the sums.
    while (sumCount < nest->getNumResults() &&
           !isStoredPerIteration(nest, sumCount))
      ++sumCount;
  }

  void run() {
    linalg::GenericOp partial = sumPartially(), sums = sumUp(partial);
    for (auto [number, result] : llvm::enumerate(nest->getResults()))
      result.replaceAllUsesWith(number < sumCount ? sums->getResult(number)
                                                  : partial->getResult(number));
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
      if (number >= sumCount) {
        types.push_back(type);
        inits.push_back(nest.getDpsInits()[number]);
        continue;
      }
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
      // Neighbours in the result are neighbours here.
      SmallVector<int64_t> order = iota(loops.size());
      for (int64_t dim : memoryOrder(type))
        order.push_back(static_cast<int64_t>(loops.size()) + dim);
      auto partial = withMemoryOrder(
          RankedTensorType::get(shape, type.getElementType()), order);
      types.push_back(partial);
      inits.push_back(zeros(partial));
    }
    auto partial = linalg::GenericOp::create(
        b, nest.getLoc(), types, nest.getInputs(), inits, maps, iterators);
    IRMapping map;
    nest.getRegion().cloneInto(&partial.getRegion(), map);
    Origin::of(nest).mark(partial);
    return partial;
  }

  /// All results at once: partial ones have the dimensions of a result last.
  linalg::GenericOp sumUp(linalg::GenericOp partial) {
    int64_t kept = nest.getNumLoops() - nest.getNumReductionLoops(),
            reduced = loops.size();
    // Dimensions of the result by those of the first one.
    SmallVector<AffineExpr> reductions;
    for (int64_t i = 0; i < reduced; ++i)
      reductions.push_back(b.getAffineDimExpr(kept + i));
    SmallVector<int64_t> parallel = resultLoops(nest, 0);
    SmallVector<AffineMap> from, to;
    SmallVector<Value> inits;
    SmallVector<Value> partialSums(partial->getResults().take_front(sumCount));
    SmallVector<Type> types(nest->getResultTypes());
    types.resize(sumCount);
    for (auto [number, result] :
         llvm::enumerate(nest->getResults().take_front(sumCount))) {
      SmallVector<AffineExpr> places;
      for (int64_t loop : resultLoops(nest, number))
        places.push_back(b.getAffineDimExpr(
            std::distance(parallel.begin(), llvm::find(parallel, loop))));
      to.push_back(AffineMap::get(kept + reduced, 0, places, b.getContext()));
      SmallVector<AffineExpr> read = reductions;
      llvm::append_range(read, places);
      from.push_back(AffineMap::get(kept + reduced, 0, read, b.getContext()));
      inits.push_back(zeros(cast<RankedTensorType>(result.getType())));
    }
    llvm::append_range(from, to);
    SmallVector<utils::IteratorType> iterators(kept,
                                               utils::IteratorType::parallel);
    iterators.append(reduced, utils::IteratorType::reduction);
    auto sum = linalg::GenericOp::create(
        b, nest.getLoc(), types, partialSums, inits, from, iterators,
        [](OpBuilder &body, Location loc, ValueRange values) {
          SmallVector<Value> sums;
          size_t count = values.size() / 2;
          for (size_t i = 0; i < count; ++i)
            sums.push_back(
                arith::AddFOp::create(body, loc, values[count + i], values[i],
                                      arith::FastMathFlags::reassoc |
                                          arith::FastMathFlags::contract));
          linalg::YieldOp::create(body, loc, sums);
        });
    Origin::of(nest).mark(sum);
    return sum;
  }

  linalg::GenericOp nest;
  ArrayRef<unsigned> loops;
  size_t sumCount = 0;
  OpBuilder b;
};

struct SplitReductions
    : brew::passes::impl::SplitReductionsBase<SplitReductions> {
  using SplitReductionsBase::SplitReductionsBase;

  void runOnOperation() override {
    const auto gpu = brew::dialects::target::gpuOf(getOperation());
    if (gpu)
      measure(gpu);
    for (auto program : getOperation().getOps<ProgramOp>()) {
      SmallVector<linalg::GenericOp> nests(
          program.getBody().front().getOps<linalg::GenericOp>());
      for (auto nest : nests) {
        SmallVector<unsigned> loops =
            gpu ? loopsToSplit(nest) : loopsToSplitOnCpu(nest);
        if (!loops.empty())
          Split(nest, loops).run();
      }
    }
  }

private:
  void measure(brew::dialects::target::GpuAttr gpu) {
    // Numbers of channels are often powers of two, and nearly as many results
    // as multiprocessors will do.
    fewResults = llvm::bit_floor<uint64_t>(gpu.getMultiprocessors());
    enoughSums = 2 * gpu.getMultiprocessors();
    enoughThreads = llvm::bit_floor<uint64_t>(gpu.residentThreads() / 2);
    // What memory delivers while a kernel is launched.
    enoughWork = minWork;
    if (enoughWork == 0)
      enoughWork = llvm::bit_ceil<uint64_t>(
          gpu.getBytesPerCycle() / sizeof(float) *
          static_cast<uint64_t>(
              brew::dialects::target::GpuAttr::kLaunchCycles));
  }

  /// On a CPU: whole loops, outermost first, of sums for a few neighbours in
  /// memory. Threads then read different rows of them, each one all of its
  /// rows; shares of the neighbours would be pieces of cache lines.
  SmallVector<unsigned> loopsToSplitOnCpu(linalg::GenericOp nest) const {
    const auto cpu = brew::dialects::target::cpuOf(nest);
    int64_t points = 1, length = 1;
    for (auto [extent, kind] : llvm::zip_equal(nest.getStaticLoopRanges(),
                                               nest.getIteratorTypesArray()))
      (kind == utils::IteratorType::parallel ? points : length) *= extent;
    if (SmallVector<unsigned> loops = loopsForCaches(nest); !loops.empty())
      return loops;
    const int64_t few = 4 * cpu.getCores() * cpu.lanes();
    const int64_t least = minWork ? minWork : kCpuWork;
    if (points >= few || points * length < least || !readsAcross(nest) ||
        !brew::passes::hasReorderableReductions(nest))
      return {};
    SmallVector<unsigned> loops;
    int64_t pieces = 1;
    for (auto [loop, kind] : llvm::enumerate(nest.getIteratorTypesArray())) {
      if (pieces >= 2 * cpu.getCores())
        break;
      if (kind == utils::IteratorType::parallel)
        continue;
      const int64_t extent = nest.getStaticLoopRanges()[loop];
      if (length / extent < kShortest)
        return {};
      loops.push_back(loop);
      pieces *= extent;
      length /= extent;
    }
    return pieces > 1 ? loops : SmallVector<unsigned>();
  }

  /// On a CPU: loops, outermost first, that leave to a sum what a core's cache
  /// holds, where the taps of a window read the same again; none where the sums
  /// would be many beside what is read.
  static SmallVector<unsigned> loopsForCaches(linalg::GenericOp nest) {
    if (nest.getNumReductionLoops() == 0 || !extracts(nest) ||
        !brew::passes::hasReorderableReductions(nest))
      return {};
    OpOperand *largest = nullptr;
    for (OpOperand *input : nest.getDpsInputOperands())
      if (!largest ||
          countOf(shapeOf(input->get())) > countOf(shapeOf(largest->get())))
        largest = input;
    if (!largest)
      return {};
    const AffineMap access = nest.getMatchingIndexingMap(largest);
    const SmallVector<int64_t> extents = nest.getStaticLoopRanges();
    int64_t points = 1, taps = 1;
    for (auto [loop, kind] : llvm::enumerate(nest.getIteratorTypesArray())) {
      if (kind == utils::IteratorType::reduction)
        continue;
      points *= extents[loop];
      if (!access.isFunctionOfDim(loop))
        taps *= extents[loop];
    }
    if (taps == 1)
      return {};
    // What the body extracts is about as large.
    const int64_t all = 2 * brew::passes::bytesOf(tensorTypeOf(largest->get()));
    const int64_t cache = brew::dialects::target::cpuOf(nest).getL2Bytes() / 2;
    SmallVector<unsigned> loops;
    int64_t pieces = 1;
    for (auto [loop, kind] : llvm::enumerate(nest.getIteratorTypesArray())) {
      if (kind == utils::IteratorType::parallel)
        continue;
      if (all <= pieces * cache)
        break;
      pieces *= extents[loop];
      if (pieces * points * static_cast<int64_t>(sizeof(float)) >
          all / kSumShare)
        break;
      loops.push_back(loop);
    }
    return loops;
  }

  static bool extracts(linalg::GenericOp nest) {
    return nest.getBody()
        ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  }

  /// Reduction loops whose iterations get sums of their own, outermost first,
  /// as many as it takes; none where the nest has enough results, or too little
  /// to add up. Where whole loops make too few or far too many sums, a loop is
  /// made two of, and `nest` is what comes of that.
  SmallVector<unsigned> loopsToSplit(linalg::GenericOp &nest) const {
    SmallVector<int64_t> extents = nest.getStaticLoopRanges();
    int64_t points = 1, length = 1;
    for (auto [extent, kind] :
         llvm::zip_equal(extents, nest.getIteratorTypesArray()))
      (kind == utils::IteratorType::parallel ? points : length) *= extent;
    // Half as many threads as could be resident still hide most of the wait.
    const bool across = readsAcross(nest);
    const int64_t shares =
        across ? brew::dialects::target::GpuAttr::threadsPerColumn(points) : 1;
    const int64_t few = across ? enoughThreads / 2 / shares : fewResults;
    const int64_t enough = across ? enoughThreads / 2 / shares : enoughSums;
    if (points >= few || points * length < enoughWork)
      return {};
    if (!brew::passes::hasReorderableReductions(nest))
      return {};
    SmallVector<unsigned> loops;
    std::optional<unsigned> longest;
    for (auto [loop, kind] : llvm::enumerate(nest.getIteratorTypesArray())) {
      if (kind == utils::IteratorType::parallel || points >= enough)
        continue;
      if (across)
        if (auto last = loopToDivide(nest, loop, points, length, shares))
          return splitAlso(nest, loops, last->first, last->second);
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
    int64_t pieces = llvm::divideCeil(enough, points);
    if (points >= enough || !longest || length / pieces < kShortest ||
        extents[*longest] < 2 * pieces ||
        !brew::passes::canSplitLoop(nest, *longest, pieces))
      return loops;
    return splitAlso(nest, loops, *longest, pieces);
  }

  /// Whether neighbours in memory, of what the nest reads most of, belong to
  /// different results (channels, where these come last). Threads then take
  /// neighbouring results, some threads of a block each of them.
  static bool readsAcross(linalg::GenericOp nest) {
    RankedTensorType largest;
    AffineMap access;
    for (OpOperand *input : nest.getDpsInputOperands()) {
      auto type = dyn_cast<RankedTensorType>(input->get().getType());
      if (!type ||
          (largest && largest.getNumElements() >= type.getNumElements()))
        continue;
      largest = type;
      access = nest.getMatchingIndexingMap(input);
    }
    if (!largest)
      return false;
    const SmallVector<int64_t> order = memoryOrder(largest);
    for (int64_t dim : llvm::reverse(order)) {
      if (largest.getDimSize(dim) == 1)
        continue;
      auto loop = dyn_cast<AffineDimExpr>(access.getResult(dim));
      return loop && nest.getIteratorTypesArray()[loop.getPosition()] ==
                         utils::IteratorType::parallel;
    }
    return false;
  }

  /// The innermost reduction loop from `first` on that can be made two of so
  /// that sums are enough, but not far too many; and the pieces it takes.
  /// `shares` threads add up each sum.
  std::optional<std::pair<unsigned, int64_t>>
  loopToDivide(linalg::GenericOp nest, unsigned first, int64_t points,
               int64_t length, int64_t shares) const {
    for (unsigned loop = nest.getNumLoops(); loop-- > first;) {
      if (nest.getIteratorTypesArray()[loop] == utils::IteratorType::parallel)
        continue;
      const int64_t extent = nest.getStaticLoopRanges()[loop];
      const int64_t pieces =
          piecesOf(extent, llvm::divideCeil(enoughThreads / shares, points));
      if (pieces < extent && length / pieces >= kShortest &&
          brew::passes::canSplitLoop(nest, loop, pieces))
        return std::pair(loop, pieces);
    }
    return std::nullopt;
  }

  /// The least divisor of a loop's extent that makes `wanted` pieces, but not
  /// twice as many; else the extent.
  static int64_t piecesOf(int64_t extent, int64_t wanted) {
    for (int64_t pieces = wanted; pieces < std::min(2 * wanted, extent);
         ++pieces)
      if (extent % pieces == 0)
        return pieces;
    return extent;
  }

  /// `loops` and the outer half of `loop`, which is made two.
  static SmallVector<unsigned> splitAlso(linalg::GenericOp &nest,
                                         SmallVector<unsigned> loops,
                                         unsigned loop, int64_t pieces) {
    nest = brew::passes::splitLoop(nest, loop, pieces);
    for (unsigned &other : loops)
      other += other > loop;
    loops.push_back(loop);
    llvm::sort(loops);
    return loops;
  }

  /// Iterations of a sum that a warp still shares.
  static constexpr int64_t kShortest = brew::dialects::target::GpuAttr::kWarp;
  /// On a CPU, iterations from which on a second stage pays.
  static constexpr int64_t kCpuWork = 1 << 18;
  /// There, the part of what is read that partial sums may take.
  static constexpr int64_t kSumShare = 8;

  int64_t fewResults = 0;    ///< from as many on all blocks have enough to do
  int64_t enoughSums = 0;    ///< partial sums at which no more loops are taken
  int64_t enoughThreads = 0; ///< the same for threads that share a sum
  int64_t enoughWork = 0;    ///< iterations from which on a second stage pays
};
} // namespace
