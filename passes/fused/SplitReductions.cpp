//===- SplitReductions.cpp - Two-stage reductions -------------------------===//
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

/// Splits one nest into partial sums, one per iteration of `loops`, and a
/// second nest that adds them. MLIR's splitReduction and
/// tileReductionUsingForall handle one loop and one result at a time and no
/// layouts; here one pair of nests computes all results.
class NestSplitter {
public:
  NestSplitter(linalg::GenericOp nest, ArrayRef<unsigned> loops)
      : nest(nest), loops(loops), b(nest) {
    // Tensors that every iteration stores come after the sums.
    while (sumCount < nest->getNumResults() &&
           !isStoredPerIteration(nest, sumCount))
      ++sumCount;
  }

  void run() {
    linalg::GenericOp partial = buildPartialSums(),
                      sums = buildFinalSums(partial);
    for (auto [resultNumber, result] : llvm::enumerate(nest->getResults()))
      result.replaceAllUsesWith(resultNumber < sumCount
                                    ? sums->getResult(resultNumber)
                                    : partial->getResult(resultNumber));
    nest->erase();
  }

private:
  Value buildZeros(RankedTensorType type) {
    Location loc = nest.getLoc();
    Value empty = tensor::EmptyOp::create(
        b, loc, type.getShape(), type.getElementType(), type.getEncoding());
    Value zero = arith::ConstantOp::create(
        b, loc, b.getFloatAttr(type.getElementType(), 0));
    return linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  }

  /// Creates the nest of partial sums, with `loops` parallel. They become the
  /// leading dimensions of the results.
  linalg::GenericOp buildPartialSums() {
    SmallVector<int64_t> extents = nest.getStaticLoopRanges();
    SmallVector<utils::IteratorType> iterators = nest.getIteratorTypesArray();
    SmallVector<AffineMap> maps = nest.getIndexingMapsArray();
    SmallVector<Value> inits;
    SmallVector<Type> types;
    for (unsigned loop : loops)
      iterators[loop] = utils::IteratorType::parallel;
    for (auto [resultNumber, result] : llvm::enumerate(nest->getResults())) {
      auto type = cast<RankedTensorType>(result.getType());
      if (resultNumber >= sumCount) {
        types.push_back(type);
        inits.push_back(nest.getDpsInits()[resultNumber]);
        continue;
      }
      AffineMap &map = maps[nest.getNumDpsInputs() + resultNumber];
      SmallVector<int64_t> shape;
      SmallVector<AffineExpr> dims;
      for (unsigned loop : loops) {
        shape.push_back(extents[loop]);
        dims.push_back(b.getAffineDimExpr(loop));
      }
      llvm::append_range(shape, type.getShape());
      llvm::append_range(dims, map.getResults());
      map = AffineMap::get(map.getNumDims(), 0, dims, b.getContext());
      // Keep the memory order of the result.
      SmallVector<int64_t> order = iota(loops.size());
      for (int64_t dim : memoryOrder(type))
        order.push_back(static_cast<int64_t>(loops.size()) + dim);
      auto partial = withMemoryOrder(
          RankedTensorType::get(shape, type.getElementType()), order);
      types.push_back(partial);
      inits.push_back(buildZeros(partial));
    }
    auto partial = linalg::GenericOp::create(
        b, nest.getLoc(), types, nest.getInputs(), inits, maps, iterators);
    IRMapping map;
    nest.getRegion().cloneInto(&partial.getRegion(), map);
    Origin::of(nest).mark(partial);
    return partial;
  }

  /// Creates the nest that adds the partial sums of all results. Their trailing
  /// dimensions are those of the result.
  linalg::GenericOp buildFinalSums(linalg::GenericOp partial) {
    int64_t keptLoops = nest.getNumLoops() - nest.getNumReductionLoops(),
            reducedLoops = loops.size();
    // Express each result's dimensions in terms of those of the first.
    SmallVector<AffineExpr> reductions;
    for (int64_t i = 0; i < reducedLoops; ++i)
      reductions.push_back(b.getAffineDimExpr(keptLoops + i));
    SmallVector<int64_t> parallel = resultLoops(nest, 0);
    SmallVector<AffineMap> inputMaps, outputMaps;
    SmallVector<Value> inits;
    SmallVector<Value> partialSums(partial->getResults().take_front(sumCount));
    SmallVector<Type> types(nest->getResultTypes());
    types.resize(sumCount);
    for (auto [resultNumber, result] :
         llvm::enumerate(nest->getResults().take_front(sumCount))) {
      SmallVector<AffineExpr> dims;
      for (int64_t loop : resultLoops(nest, resultNumber))
        dims.push_back(b.getAffineDimExpr(
            std::distance(parallel.begin(), llvm::find(parallel, loop))));
      outputMaps.push_back(
          AffineMap::get(keptLoops + reducedLoops, 0, dims, b.getContext()));
      SmallVector<AffineExpr> read = reductions;
      llvm::append_range(read, dims);
      inputMaps.push_back(
          AffineMap::get(keptLoops + reducedLoops, 0, read, b.getContext()));
      inits.push_back(buildZeros(cast<RankedTensorType>(result.getType())));
    }
    llvm::append_range(inputMaps, outputMaps);
    SmallVector<utils::IteratorType> iterators(keptLoops,
                                               utils::IteratorType::parallel);
    iterators.append(reducedLoops, utils::IteratorType::reduction);
    auto sum = linalg::GenericOp::create(
        b, nest.getLoc(), types, partialSums, inits, inputMaps, iterators,
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
      setLimits(gpu);
    ProgramOp program = getOperation();
    SmallVector<linalg::GenericOp> nests(
        program.getBody().front().getOps<linalg::GenericOp>());
    for (auto nest : nests) {
      SmallVector<unsigned> loops =
          gpu ? loopsToSplit(nest) : loopsToSplitOnCpu(nest);
      if (!loops.empty())
        NestSplitter(nest, loops).run();
    }
  }

private:
  void setLimits(brew::dialects::target::GpuAttr gpu) {
    // Numbers of channels are often powers of two, and slightly fewer results
    // than multiprocessors suffice.
    fewResults = llvm::bit_floor<uint64_t>(gpu.getMultiprocessors());
    enoughSums = 2 * gpu.getMultiprocessors();
    enoughThreads = llvm::bit_floor<uint64_t>(gpu.residentThreads() / 2);
    // Default: the number of elements that memory delivers during a kernel
    // launch.
    enoughWork = minWork;
    if (enoughWork == 0)
      enoughWork = llvm::bit_ceil<uint64_t>(
          gpu.getBytesPerCycle() / sizeof(float) *
          static_cast<uint64_t>(
              brew::dialects::target::GpuAttr::kLaunchCycles));
  }

  /// Returns the loops to split on a CPU, outermost first, if the nest sums few
  /// results that are adjacent in memory. Each thread then reads full rows;
  /// dividing the results instead would divide cache lines.
  SmallVector<unsigned> loopsToSplitOnCpu(linalg::GenericOp nest) const {
    const auto cpu = brew::dialects::target::cpuOf(nest);
    int64_t points = 1, length = 1;
    for (auto [extent, kind] : llvm::zip_equal(nest.getStaticLoopRanges(),
                                               nest.getIteratorTypesArray()))
      (kind == utils::IteratorType::parallel ? points : length) *= extent;
    if (SmallVector<unsigned> loops = loopsForCaches(nest); !loops.empty())
      return loops;
    const int64_t maxPoints = 4 * cpu.getCores() * cpu.lanes();
    const int64_t minTotalWork = minWork ? minWork : kMinCpuWork;
    if (points >= maxPoints || points * length < minTotalWork ||
        !readsAcrossResults(nest) ||
        !brew::passes::hasReorderableReductions(nest))
      return {};
    SmallVector<unsigned> loops;
    int64_t chunks = 1;
    for (auto [loop, kind] : llvm::enumerate(nest.getIteratorTypesArray())) {
      if (chunks >= 2 * cpu.getCores())
        break;
      if (kind == utils::IteratorType::parallel)
        continue;
      const int64_t extent = nest.getStaticLoopRanges()[loop];
      if (length / extent < kMinLength)
        return {};
      loops.push_back(loop);
      chunks *= extent;
      length /= extent;
    }
    return chunks > 1 ? loops : SmallVector<unsigned>();
  }

  /// Returns the loops to split on a CPU, outermost first, so that the input of
  /// a partial sum fits a core's cache, if the taps of a window read it
  /// repeatedly. Stops before the partial sums become large compared to the
  /// input.
  static SmallVector<unsigned> loopsForCaches(linalg::GenericOp nest) {
    if (nest.getNumReductionLoops() == 0 || !gathers(nest) ||
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
    // The extracted tensor is about as large.
    const int64_t inputBytes =
        2 * brew::passes::bytesOf(tensorTypeOf(largest->get()));
    const int64_t cache = brew::dialects::target::cpuOf(nest).getL2Bytes() / 2;
    SmallVector<unsigned> loops;
    int64_t chunks = 1;
    for (auto [loop, kind] : llvm::enumerate(nest.getIteratorTypesArray())) {
      if (kind == utils::IteratorType::parallel)
        continue;
      if (inputBytes <= chunks * cache)
        break;
      chunks *= extents[loop];
      if (chunks * points * static_cast<int64_t>(sizeof(float)) >
          inputBytes / kPartialSumDivisor)
        break;
      loops.push_back(loop);
    }
    return loops;
  }

  /// Returns whether the nest extracts elements at indices that may depend on a
  /// reduction loop.
  static bool readsTaps(linalg::GenericOp nest) {
    return gathers(nest) &&
           llvm::any_of(nest.getBody()->getOps<linalg::IndexOp>(),
                        [&](linalg::IndexOp index) {
                          return nest.getIteratorTypesArray()[index.getDim()] ==
                                 utils::IteratorType::reduction;
                        });
  }

  static bool gathers(linalg::GenericOp nest) {
    return nest.getBody()
        ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  }

  /// Returns the reduction loops to split on a GPU, outermost first, until
  /// there are enough partial sums, or none if the nest has enough results or
  /// too little work. If full loops yield too few or far too many partial sums,
  /// splits a loop into two and updates `nest`.
  SmallVector<unsigned> loopsToSplit(linalg::GenericOp &nest) const {
    SmallVector<int64_t> extents = nest.getStaticLoopRanges();
    int64_t points = 1, length = 1;
    for (auto [extent, kind] :
         llvm::zip_equal(extents, nest.getIteratorTypesArray()))
      (kind == utils::IteratorType::parallel ? points : length) *= extent;
    // Half of the resident threads still hide most of the latency.
    const bool isAcross = readsAcrossResults(nest);
    const int64_t threadsPerSum =
        isAcross ? brew::dialects::target::GpuAttr::threadsPerColumn(points)
                 : 1;
    const int64_t maxPoints =
        isAcross ? enoughThreads / 2 / threadsPerSum : fewResults;
    const int64_t enoughPoints =
        isAcross ? enoughThreads / 2 / threadsPerSum : enoughSums;
    const bool isLong = isAcross && minWork == 0 && length >= kLongAcross;
    if (points >= maxPoints || (points * length < enoughWork && !isLong))
      return {};
    if (!brew::passes::hasReorderableReductions(nest))
      return {};
    SmallVector<unsigned> loops;
    std::optional<unsigned> longest;
    for (auto [loop, kind] : llvm::enumerate(nest.getIteratorTypesArray())) {
      if (kind == utils::IteratorType::parallel || points >= enoughPoints)
        continue;
      if (isAcross)
        if (auto division =
                loopToDivide(nest, loop, points, length, threadsPerSum))
          return splitInTwo(nest, loops, division->first, division->second);
      // The remaining loop must still be worth a warp.
      if (length / extents[loop] < kMinLength) {
        if (!longest || extents[loop] > extents[*longest])
          longest = loop;
        continue;
      }
      loops.push_back(loop);
      points *= extents[loop];
      length /= extents[loop];
    }
    int64_t chunks = llvm::divideCeil(enoughPoints, points);
    if (points >= enoughPoints || !longest || length / chunks < kMinLength ||
        extents[*longest] < 2 * chunks ||
        !brew::passes::canSplitLoop(nest, *longest, chunks))
      return loops;
    return splitInTwo(nest, loops, *longest, chunks);
  }

  /// Returns whether adjacent elements of the largest input belong to different
  /// results (channels in channels-last layout). Then several threads of a
  /// block share each of a number of adjacent results.
  static bool readsAcrossResults(linalg::GenericOp nest) {
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

  /// Returns the reduction loop, from `first` on, to split into two for enough,
  /// but not far too many partial sums, and the number of chunks.
  /// `threadsPerSum` threads compute each sum. Returns the outermost possible
  /// loop, so that a chunk is contiguous in memory, or the innermost one if the
  /// nest reads the taps of a window: their addresses are not linear in the
  /// rows anyway.
  std::optional<std::pair<unsigned, int64_t>>
  loopToDivide(linalg::GenericOp nest, unsigned first, int64_t points,
               int64_t length, int64_t threadsPerSum) const {
    SmallVector<unsigned> candidates =
        llvm::to_vector(llvm::seq<unsigned>(first, nest.getNumLoops()));
    if (readsTaps(nest))
      std::reverse(candidates.begin(), candidates.end());
    for (unsigned loop : candidates) {
      if (nest.getIteratorTypesArray()[loop] == utils::IteratorType::parallel)
        continue;
      const int64_t extent = nest.getStaticLoopRanges()[loop];
      const int64_t chunks = chunkCount(
          extent, llvm::divideCeil(enoughThreads / threadsPerSum, points));
      if (chunks < extent && length / chunks >= kMinLength &&
          brew::passes::canSplitLoop(nest, loop, chunks))
        return std::pair(loop, chunks);
    }
    return std::nullopt;
  }

  /// Returns the smallest divisor of `extent` in [minimum, 2 * minimum), or
  /// `extent`.
  static int64_t chunkCount(int64_t extent, int64_t minimum) {
    for (int64_t chunks = minimum; chunks < std::min(2 * minimum, extent);
         ++chunks)
      if (extent % chunks == 0)
        return chunks;
    return extent;
  }

  /// Splits `loop` into two and adds the outer one to `loops`.
  static SmallVector<unsigned> splitInTwo(linalg::GenericOp &nest,
                                          SmallVector<unsigned> loops,
                                          unsigned loop, int64_t chunks) {
    nest = brew::passes::splitLoop(nest, loop, chunks);
    for (unsigned &other : loops)
      other += other > loop;
    loops.push_back(loop);
    llvm::sort(loops);
    return loops;
  }

  /// Minimal iterations of a sum, shared by a warp.
  static constexpr int64_t kMinLength = brew::dialects::target::GpuAttr::kWarp;
  /// Iterations for which a second stage pays off on a GPU if adjacent elements
  /// belong to different results: without it, a block reads a sector of 32
  /// bytes for each, and a multiprocessor reads 64 bytes per cycle.
  static constexpr auto kLongAcross = static_cast<int64_t>(
      2 * brew::dialects::target::GpuAttr::kDependentLaunchCycles);
  /// On a CPU, minimal iterations for which a second stage pays off.
  static constexpr int64_t kMinCpuWork = 1 << 18;
  /// On a CPU, maximal bytes of partial sums: this fraction of the input.
  static constexpr int64_t kPartialSumDivisor = 8;

  int64_t fewResults = 0;    ///< with this many results all blocks are busy
  int64_t enoughSums = 0;    ///< number of partial sums that occupies the GPU
  int64_t enoughThreads = 0; ///< number of threads that occupies the GPU
  int64_t enoughWork = 0;    ///< iterations that justify a second stage
};
} // namespace
