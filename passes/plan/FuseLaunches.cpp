//===- FuseLaunches.cpp - Fusion of kernels into one launch ---------------===//
//
// Appends a kernel to the preceding one as a further stage: a grid barrier
// within one launch takes less time than a second launch. All values of both
// kernels are then live at the same time, so the memory must not exceed the
// program's peak elsewhere.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/analysis/FuseKernels.h"
#include "passes/analysis/KnownShapes.h"
#include "passes/analysis/ValueStorage.h"
#include "passes/plan/BufferAssignment.h"
#include "passes/plan/OrderedProgram.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/external/External.h"
#include "dialects/Target/TargetDialect.h"
#include "plan/Contract.h"

namespace brew::passes {
#define GEN_PASS_DEF_FUSELAUNCHES
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;
using brew::dialects::target::GpuAttr;

namespace {

int64_t stagesOf(KernelOp kernel) {
  int64_t stages = 1;
  for (auto nest : kernel.getBody().front().getOps<linalg::GenericOp>())
    stages = NestGrid::of(nest)->stage + 1;
  return stages;
}

/// Two kernels without another kernel between them.
class LaunchPair {
public:
  LaunchPair(KernelOp first, KernelOp second) : first(first), second(second) {}

  /// Returns whether both kernels belong to the same pass, and both or neither
  /// are rematerialized. A plan records both properties per step.
  bool haveSamePassAndOrigin() {
    return first.getBackward() == second.getBackward() &&
           brew::passes::isRematerialized(first) ==
               brew::passes::isRematerialized(second);
  }

  /// Returns whether the fused kernel stays within the limits of arguments and
  /// stages.
  bool fitLimits() {
    return stagesOf(first) + stagesOf(second) <= kMaxStages &&
           brew::plan::argumentBytes(countArguments(), 2) <=
               brew::plan::kArgumentLimit;
  }

  /// Divides the operations between the kernels into those to move before and
  /// after both. Returns false if that is impossible: a step between them
  /// depends on the first kernel, the second kernel reads a view of it, or the
  /// caller writes output gradients between them.
  bool divideOperationsBetween() {
    llvm::SmallPtrSet<Operation *, 8> dependent = {first};
    for (Operation *op = first->getNextNode(); op != second;
         op = op->getNextNode()) {
      const bool depends = llvm::any_of(op->getOperands(), [&](Value operand) {
        return dependent.contains(operand.getDefiningOp());
      });
      if (isa<OutputGradientOp>(op) ||
          (brew::passes::isStep(op) &&
           (depends || Origin::of(op).isBackward != first.getBackward())))
        return false;
      (depends ? after : before).push_back(op);
      if (depends)
        dependent.insert(op);
    }
    return llvm::none_of(second.getInputs(), [&](Value input) {
      return input.getDefiningOp() != first &&
             dependent.contains(input.getDefiningOp());
    });
  }

  /// Returns the number of bytes that the first kernel reads. Without fusion
  /// they may still be in a cache; if the calls between the kernels move before
  /// the first one, they come from memory.
  int64_t bytesRead() {
    int64_t bytes = 0;
    for (Value input : first.getInputs())
      bytes += brew::passes::bytesOf(tensorTypeOf(input));
    return bytes;
  }

  /// Fuses the two kernels.
  KernelOp fuse() {
    for (Operation *op : before)
      op->moveBefore(first);
    for (Operation *op : llvm::reverse(after))
      op->moveAfter(second);
    const int64_t stages = stagesOf(first);
    const auto subKernels =
        static_cast<int64_t>(brew::passes::subKernelsOf(first).size());
    OpBuilder b(second);
    return brew::passes::fuseKernels(b, first, second, [&](NestGrid grid) {
      grid.subKernel += subKernels;
      grid.stage += stages;
      return grid;
    });
  }

private:
  /// Maximal number of stages: every stage occupies as many registers as the
  /// largest one.
  static constexpr int64_t kMaxStages = 4;
  static_assert(kMaxStages <= brew::plan::kMaxStages);

  uint64_t countArguments() {
    llvm::SmallDenseSet<Value> values;
    for (KernelOp kernel : {first, second}) {
      values.insert_range(kernel.getInputs());
      values.insert_range(kernel.getOutputs());
    }
    return values.size();
  }

  KernelOp first, second;
  SmallVector<Operation *> before, after; ///< operations between the kernels
};

/// Checks the memory of fused steps against the program's peak.
class MemoryBudget {
public:
  /// The limit is the program's peak minus `reserve` bytes.
  MemoryBudget(const brew::passes::OrderProblem &problem, int64_t reserve)
      : problem(problem), usage(memoryUsageOf(problem)),
        limit(usage.peak - reserve) {}

  /// Starts a new group of fused steps with `step`.
  void startGroup(unsigned step) {
    last = step;
    fused = problem.steps[step];
  }

  /// Adds `step` to the fused steps, unless the memory would exceed the limit.
  bool add(unsigned step) {
    const brew::passes::OrderedStep &next = problem.steps[step];
    brew::passes::OrderedStep extended = fused;
    // A result may still reuse the memory of an input, unless a later stage
    // reads that input or the input is a result of an earlier stage.
    llvm::erase_if(
        extended.inPlacePairs,
        [&](const brew::passes::OrderedStep::InPlacePair &inPlacePair) {
          return llvm::is_contained(next.reads, inPlacePair.read);
        });
    for (const brew::passes::OrderedStep::InPlacePair &inPlacePair :
         next.inPlacePairs)
      if (!llvm::is_contained(fused.writes, inPlacePair.read) &&
          llvm::none_of(
              extended.inPlacePairs,
              [&](const brew::passes::OrderedStep::InPlacePair &other) {
                return other.read == inPlacePair.read;
              }))
        extended.inPlacePairs.push_back(inPlacePair);
    for (auto [to, from] : {std::pair(&extended.reads, &next.reads),
                            std::pair(&extended.writes, &next.writes)})
      for (unsigned value : *from)
        if (!llvm::is_contained(*to, value))
          to->push_back(value);
    // Inputs of the fused steps stay live during the steps in between.
    for (unsigned between = last + 1; between < step; ++between) {
      int64_t bytes =
          usage.during[between] + bytesEndedBefore(fused.reads, between);
      for (const brew::passes::OrderedStep::InPlacePair &inPlacePair :
           problem.steps[between].inPlacePairs)
        if (llvm::is_contained(fused.reads, inPlacePair.read))
          bytes += problem.values[inPlacePair.written].bytes;
      if (bytes > limit)
        return false;
    }
    if (bytesOf(extended, step) > limit)
      return false;
    fused = std::move(extended);
    last = step;
    return true;
  }

private:
  /// Returns the total size of the values that are last read before `step`.
  int64_t bytesEndedBefore(ArrayRef<unsigned> values, unsigned step) const {
    int64_t bytes = 0;
    for (unsigned value : values)
      if (isWritten(value, step) &&
          (!usage.lastRead[value] || *usage.lastRead[value] < step))
        bytes += problem.values[value].bytes;
    return bytes;
  }

  /// Returns whether `value` is written before `step` begins.
  bool isWritten(unsigned value, unsigned step) const {
    return problem.values[value].liveAtStart ||
           (usage.firstWrite[value] && *usage.firstWrite[value] < step);
  }

  /// Returns the bytes live while `fusedStep` runs in place of step `end`: live
  /// values, results, and values that would have ended without fusion.
  int64_t bytesOf(const brew::passes::OrderedStep &fusedStep,
                  unsigned end) const {
    int64_t bytes = usage.before[end] + bytesEndedBefore(fusedStep.reads, end);
    for (unsigned value : fusedStep.writes)
      if (!isWritten(value, end) || !llvm::is_contained(fusedStep.reads, value))
        bytes += isWritten(value, end) ? bytesEndedBefore(value, end)
                                       : problem.values[value].bytes;
    for (const brew::passes::OrderedStep::InPlacePair &inPlacePair :
         fusedStep.inPlacePairs)
      if (usage.lastRead[inPlacePair.read] <= end)
        bytes -= problem.values[inPlacePair.written].bytes;
    return bytes;
  }

  const brew::passes::OrderProblem &problem;
  const brew::passes::MemoryUsage usage;
  const int64_t limit;
  unsigned last = 0; ///< last fused step
  brew::passes::OrderedStep fused;
};

struct FuseLaunches : brew::passes::impl::FuseLaunchesBase<FuseLaunches> {
  using FuseLaunchesBase::FuseLaunchesBase;

  void runOnOperation() override {
    if (failed(brew::passes::requireShapes(getOperation())))
      return signalPassFailure();
    const GpuAttr gpu = brew::dialects::target::gpuOf(getOperation());
    if (!gpu)
      return;
    const brew::passes::ParameterOffsets parameters(getOperation());
    const brew::passes::ConstantOffsets constants(getOperation());
    const brew::passes::FixedBuffers fixedBuffers(parameters, constants);
    SmallVector<ProgramOp> programs(getOperation().getOps<ProgramOp>());
    for (ProgramOp program : programs)
      fuseLaunches(program, gpu, fixedBuffers);
  }

private:
  /// Fuses the launches of one program. Longer lifetimes may need more memory
  /// than estimated, because values may no longer fit into the memory of
  /// gradients that are written later. In that case fuses less in further
  /// attempts: kernels with calls between them are the first that stay
  /// separate.
  void fuseLaunches(ProgramOp program, GpuAttr gpu,
                    const brew::passes::FixedBuffers &fixedBuffers) const {
    const int64_t arenaBytes =
        brew::passes::BufferAssignment(program, fixedBuffers).arenaBytes;
    // Bytes that memory delivers in the time of a launch.
    auto maxBytesAcrossCalls =
        static_cast<int64_t>(GpuAttr::kDependentLaunchCycles *
                             static_cast<double>(gpu.getBytesPerCycle()));
    int64_t reserve = 0;
    ProgramOp fallback; // fused program that needs slightly more memory
    for (int attempt = 1; attempt <= kMaxAttempts; ++attempt) {
      auto trial = cast<ProgramOp>(OpBuilder(program).clone(*program));
      if (!fuse(trial, fixedBuffers, maxBytesAcrossCalls, reserve)) {
        trial.erase();
        break;
      }
      const int64_t additionalBytes =
          brew::passes::BufferAssignment(trial, fixedBuffers).arenaBytes -
          arenaBytes;
      if (additionalBytes <= 0) {
        if (fallback)
          fallback.erase();
        program.erase();
        return;
      }
      if (!fallback && !hasMemoryLimit &&
          additionalBytes <= arenaBytes / kSlackDivisor)
        fallback = trial;
      else
        trial.erase();
      reserve += additionalBytes;
      maxBytesAcrossCalls =
          attempt + 1 < kMaxAttempts ? maxBytesAcrossCalls / 4 : 0;
    }
    if (fallback)
      program.erase();
  }

  /// Fuses kernels within the peak memory minus `reserve` bytes. Kernels that
  /// read more than `maxBytesAcrossCalls` bytes are fused only if no calls are
  /// between them. Returns whether any kernels were fused.
  static bool fuse(ProgramOp program,
                   const brew::passes::FixedBuffers &fixedBuffers,
                   int64_t maxBytesAcrossCalls, int64_t reserve) {
    const brew::passes::BufferAssignment assignment(program, fixedBuffers);
    brew::passes::OrderedProgram steps(program);
    steps.excludeValues([&](Value owner) {
      const brew::passes::Allocation &allocation = assignment.of(owner);
      return allocation.fixed ||
             allocation.arena != brew::dialects::plan::ArenaKind::Transient;
    });
    MemoryBudget memory(steps.problem, reserve);
    bool isChanged = false;
    KernelOp last;
    unsigned lastNumber = 0;
    for (auto [number, op] : llvm::enumerate(steps.operations())) {
      auto kernel = dyn_cast<KernelOp>(op);
      if (!kernel)
        continue;
      KernelOp fused;
      if (last)
        if (LaunchPair pair(last, kernel);
            pair.haveSamePassAndOrigin() && pair.fitLimits() &&
            (number == lastNumber + 1 ||
             pair.bytesRead() <= maxBytesAcrossCalls) &&
            pair.divideOperationsBetween() && memory.add(number))
          fused = pair.fuse();
      isChanged |= fused != nullptr;
      if (!fused)
        memory.startGroup(number);
      last = fused ? fused : kernel;
      lastNumber = number;
    }
    return isChanged;
  }

  /// Maximal number of attempts, and the fraction of the arena that fusion may
  /// cost if memory is not limited.
  static constexpr int kMaxAttempts = 4, kSlackDivisor = 256;
};

} // namespace
