//===- FuseFinalReduction.cpp - Final reduction in the last block ---------===//
//
// Fuses a kernel of partial sums with the small kernel that alone reads them.
// The small kernel becomes a sub-kernel that the last block to finish executes.
// The partial sums stay results of the fused kernel, so that they have memory.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/analysis/FuseKernels.h"
#include "passes/analysis/ReorderableReduction.h"
#include "passes/analysis/ValueStorage.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/KernelAnalysis.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Target/TargetDialect.h"

namespace brew::passes {
#define GEN_PASS_DEF_FUSEFINALREDUCTION
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;
using brew::dialects::target::GpuAttr;

namespace {

/// Returns the nests of a kernel with a single sub-kernel, or none for other
/// kernels.
SmallVector<linalg::GenericOp> onlySubKernel(KernelOp kernel) {
  auto subKernels = brew::passes::subKernelsOf(kernel);
  return subKernels.size() == 1 ? subKernels.front()
                                : SmallVector<linalg::GenericOp>();
}

/// A kernel and its only consumer.
class KernelPair {
public:
  KernelPair(KernelOp first, KernelOp second) : first(first), second(second) {}

  /// Returns whether the second kernel is the only user of every result of the
  /// first. Tensors that a reduction of the first one stores in every
  /// iteration (isStoredPerIteration) may have other users instead, if the
  /// fused kernel can stand at the position of the first.
  bool isOnlyReadBySecond() {
    const bool atFirst = canStandAtFirst();
    Block &body = first.getBody().front();
    return llvm::all_of(llvm::enumerate(first.getOutputs()), [&](auto output) {
      auto [resultNumber, result] = output;
      auto yielded =
          cast<OpResult>(body.getTerminator()->getOperand(resultNumber));
      auto nest = dyn_cast<linalg::GenericOp>(yielded.getOwner());
      if (atFirst && nest &&
          isStoredPerIteration(nest, yielded.getResultNumber()))
        return llvm::none_of(result.getUsers(), [&](Operation *user) {
          return user == second.getOperation();
        });
      return !result.use_empty() &&
             llvm::all_of(result.getUsers(), [&](Operation *user) {
               return user == second.getOperation();
             });
    });
  }

  /// Returns whether all inputs of the second are available at the first.
  bool canStandAtFirst() {
    return llvm::all_of(second.getInputs(), [&](Value input) {
      Operation *source = input.getDefiningOp();
      return !source || source == first.getOperation() ||
             source->isBeforeInBlock(first);
    });
  }

  /// Returns the cycles of the last block, estimated from iterations. If sums
  /// are adjacent in memory, each tile of them has a last block of its own.
  static double cyclesOfLastBlock(ArrayRef<linalg::GenericOp> partial,
                                  ArrayRef<linalg::GenericOp> nests) {
    int64_t tiles = 1, threads = kThreads;
    auto sums = adjacentSumCount(nests);
    if (sums && isReduction(partial)) {
      tiles = llvm::divideCeil(*sums, GpuAttr::columnsPerBlock(*sums));
      threads = GpuAttr::kReductionThreads;
    }
    double cycles = 0;
    for (auto nest : nests) {
      const int64_t iterations =
          llvm::divideCeil(countOf(nest.getStaticLoopRanges()), tiles);
      cycles += GpuAttr::kNestCycles +
                static_cast<double>(llvm::divideCeil(iterations, threads)) *
                    GpuAttr::kLoadCycles;
    }
    return cycles;
  }

  /// Returns the bytes of values passed between nests of a sub-kernel per grid
  /// point; they are in shared memory.
  static int64_t bytesBetween(ArrayRef<linalg::GenericOp> nests) {
    int64_t bytes = 0;
    for (auto nest : nests) {
      const int64_t points =
          countOf(ArrayRef(nest.getStaticLoopRanges())
                      .take_front(NestGrid::of(nest)->gridLoops));
      for (OpResult result : nest->getResults())
        if (!llvm::all_of(result.getUsers(),
                          [](Operation *user) { return isa<YieldOp>(user); }))
          bytes += llvm::divideCeil(brew::passes::bytesOf(tensorTypeOf(result)),
                                    points);
    }
    return bytes;
  }

  /// Fuses the two kernels, at the first one if all inputs are available there.
  void fuse() {
    OpBuilder b(canStandAtFirst() ? first : second);
    brew::passes::fuseKernels(b, first, second, [](NestGrid schedule) {
      return NestGrid{1, schedule.gridLoops, /*inLastBlock=*/true};
    });
  }

private:
  /// Returns the number of results of the first nest, if it is a reduction
  /// whose inputs have the dimension of the results innermost in memory.
  static std::optional<int64_t>
  adjacentSumCount(ArrayRef<linalg::GenericOp> nests) {
    linalg::GenericOp sum = nests.front();
    if (sum.getNumReductionLoops() == 0 || sum.getNumDpsInputs() == 0 ||
        sum.getNumParallelLoops() != 1)
      return std::nullopt;
    for (OpOperand *input : sum.getDpsInputOperands()) {
      auto type = dyn_cast<RankedTensorType>(input->get().getType());
      if (!type || type.getRank() == 0)
        return std::nullopt;
      auto loop =
          dyn_cast<AffineDimExpr>(sum.getMatchingIndexingMap(input).getResult(
              memoryOrder(type).back()));
      if (!loop || sum.getIteratorTypesArray()[loop.getPosition()] !=
                       utils::IteratorType::parallel)
        return std::nullopt;
    }
    return countOf(
        cast<RankedTensorType>(sum->getResult(0).getType()).getShape());
  }

  /// Returns whether a kernel consists of one reduction per grid point: then
  /// its blocks can handle adjacent ones.
  static bool isReduction(ArrayRef<linalg::GenericOp> nests) {
    linalg::GenericOp sum = nests.front();
    return nests.size() == 1 && sum.getNumReductionLoops() > 0 &&
           NestGrid::of(sum)->gridLoops == sum.getNumParallelLoops() &&
           brew::passes::hasReorderableReductions(sum);
  }

  /// Threads of a block that does not handle adjacent sums.
  static constexpr int64_t kThreads = 256;

  KernelOp first, second;
};

struct FuseFinalReduction
    : brew::passes::impl::FuseFinalReductionBase<FuseFinalReduction> {
  using FuseFinalReductionBase::FuseFinalReductionBase;

  void runOnOperation() override {
    const GpuAttr gpu = brew::dialects::target::gpuOf(getOperation());
    if (!gpu)
      return;
    sharedBytes = gpu.sharedBytesPerSubKernel(2);
    ProgramOp program = getOperation();
    SmallVector<KernelOp> kernels(program.getBody().front().getOps<KernelOp>());
    for (KernelOp second : kernels)
      if (KernelOp first = firstOf(second))
        KernelPair(first, second).fuse();
  }

private:
  /// Returns the kernel that `second` is to be fused into, or null.
  KernelOp firstOf(KernelOp second) const {
    const double limit = maxCycles ? static_cast<double>(maxCycles)
                                   : GpuAttr::kDependentLaunchCycles;
    SmallVector<linalg::GenericOp> nests = onlySubKernel(second);
    if (nests.empty() || KernelPair::bytesBetween(nests) > sharedBytes)
      return {};
    for (Value input : second.getInputs()) {
      auto first = input.getDefiningOp<KernelOp>();
      if (!first || !KernelPair(first, second).isOnlyReadBySecond())
        continue;
      SmallVector<linalg::GenericOp> partial = onlySubKernel(first);
      if (!partial.empty() &&
          KernelPair::bytesBetween(partial) <= sharedBytes &&
          KernelPair::cyclesOfLastBlock(partial, nests) <= limit)
        return first;
    }
    return {};
  }

  int64_t sharedBytes = 0; ///< limit of shared memory for each sub-kernel
};

} // namespace
