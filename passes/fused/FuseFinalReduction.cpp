//===- FuseFinalReduction.cpp - A kernel's end in its last block -------------------===//
//
// A kernel that only makes what a second one of little work needs (partial
// sums) is joined with it: the second becomes a part that the last block to end
// does. What the first one stores stays a result of the kernel, so that it has
// a place in memory.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/analysis/ReorderableReduction.h"
#include "passes/analysis/FuseKernels.h"
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

/// The nests of a kernel that has one part; none if it has several.
SmallVector<linalg::GenericOp> onlyPart(KernelOp kernel) {
  auto parts = brew::passes::partsOf(kernel);
  return parts.size() == 1 ? parts.front() : SmallVector<linalg::GenericOp>();
}

/// Two kernels, the first of which works for the second alone.
class Pair {
public:
  Pair(KernelOp first, KernelOp second) : first(first), second(second) {}

  /// Whether every result of the first is read by the second and nothing else.
  /// What it stores on the way others may read, if it can stay where it is.
  bool worksForSecond() {
    const bool isEarly = endsEarly();
    Block &body = first.getBody().front();
    return llvm::all_of(llvm::enumerate(first.getOutputs()), [&](auto each) {
      auto [number, result] = each;
      auto yielded = cast<OpResult>(body.getTerminator()->getOperand(number));
      auto nest = dyn_cast<linalg::GenericOp>(yielded.getOwner());
      if (isEarly && nest && isStoredPerIteration(nest, yielded.getResultNumber()))
        return llvm::none_of(result.getUsers(), [&](Operation *user) {
          return user == second.getOperation();
        });
      return !result.use_empty() &&
             llvm::all_of(result.getUsers(), [&](Operation *user) {
               return user == second.getOperation();
             });
    });
  }

  /// Whether all that the second reads is there where the first stands.
  bool endsEarly() {
    return llvm::all_of(second.getInputs(), [&](Value input) {
      Operation *source = input.getDefiningOp();
      return !source || source == first.getOperation() ||
             source->isBeforeInBlock(first);
    });
  }

  /// Cycles that the last block takes, by iterations: where sums lie side by
  /// side, each tile of them has a last block of its own.
  static double cyclesOfLast(ArrayRef<linalg::GenericOp> partial,
                             ArrayRef<linalg::GenericOp> nests) {
    int64_t tiles = 1, threads = kThreads;
    auto sums = neighbouringSums(nests);
    if (sums && givesSums(partial)) {
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

  /// Bytes of what nests of a part read of one another at a point of its grid:
  /// the threads of a block share them.
  static int64_t bytesBetween(ArrayRef<linalg::GenericOp> nests) {
    int64_t bytes = 0;
    for (auto nest : nests) {
      const int64_t points =
          countOf(ArrayRef(nest.getStaticLoopRanges())
                      .take_front(NestGrid::of(nest)->depth));
      for (OpResult result : nest->getResults())
        if (!llvm::all_of(result.getUsers(),
                          [](Operation *user) { return isa<YieldOp>(user); }))
          bytes +=
              llvm::divideCeil(brew::passes::bytesOf(tensorTypeOf(result)), points);
    }
    return bytes;
  }

  /// Makes one kernel of the two, where the first one stands if all that the
  /// second reads is there already.
  void join() {
    OpBuilder b(endsEarly() ? first : second);
    brew::passes::fuseKernels(b, first, second, [](NestGrid place) {
      return NestGrid{1, place.depth, /*isLast=*/true};
    });
  }

private:
  /// The number of results of the first nest, a sum, if the innermost places
  /// in memory of what it adds up are theirs.
  static std::optional<int64_t>
  neighbouringSums(ArrayRef<linalg::GenericOp> nests) {
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

  /// Whether a kernel does nothing but add up one sum at each point: then its
  /// blocks can take neighbouring ones.
  static bool givesSums(ArrayRef<linalg::GenericOp> nests) {
    linalg::GenericOp sum = nests.front();
    return nests.size() == 1 && sum.getNumReductionLoops() > 0 &&
           NestGrid::of(sum)->depth == sum.getNumParallelLoops() &&
           brew::passes::hasReorderableReductions(sum);
  }

  /// Of a block whose points are no neighbouring sums.
  static constexpr int64_t kThreads = 256;

  KernelOp first, second;
};

struct FuseFinalReduction : brew::passes::impl::FuseFinalReductionBase<FuseFinalReduction> {
  using FuseFinalReductionBase::FuseFinalReductionBase;

  void runOnOperation() override {
    const GpuAttr gpu = brew::dialects::target::gpuOf(getOperation());
    if (!gpu)
      return;
    room = gpu.sharedBytesPerSubKernel(2);
    for (auto program : getOperation().getOps<ProgramOp>()) {
      SmallVector<KernelOp> kernels(
          program.getBody().front().getOps<KernelOp>());
      for (KernelOp second : kernels)
        if (KernelOp first = firstOf(second))
          Pair(first, second).join();
    }
  }

private:
  /// The kernel that `second` is to be the end of, if there is one.
  KernelOp firstOf(KernelOp second) const {
    const double most =
        maxCycles ? static_cast<double>(maxCycles) : GpuAttr::kDependentLaunchCycles;
    SmallVector<linalg::GenericOp> nests = onlyPart(second);
    if (nests.empty() || Pair::bytesBetween(nests) > room)
      return {};
    for (Value input : second.getInputs()) {
      auto first = input.getDefiningOp<KernelOp>();
      if (!first || !Pair(first, second).worksForSecond())
        continue;
      SmallVector<linalg::GenericOp> partial = onlyPart(first);
      if (!partial.empty() && Pair::bytesBetween(partial) <= room &&
          Pair::cyclesOfLast(partial, nests) <= most)
        return first;
    }
    return {};
  }

  int64_t room = 0; ///< bytes of shared memory
};

} // namespace
