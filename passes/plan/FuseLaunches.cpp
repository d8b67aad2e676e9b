//===- FuseLaunches.cpp - Kernels that wait for each other in one launch --===//
//
// A kernel that follows another one becomes a stage behind its stages: blocks
// wait for each other within the launch, which takes less time than a launch
// that waits for the one before. All values of the two are in memory at the
// same time then, which must not be more than the program needs elsewhere.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/analysis/FuseKernels.h"
#include "passes/analysis/ValueStorage.h"
#include "passes/plan/OrderedProgram.h"
#include "passes/plan/BufferAssignment.h"

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

/// Two kernels, between which there is no other one.
class Neighbours {
public:
  Neighbours(KernelOp first, KernelOp second) : first(first), second(second) {}

  /// Whether both are of the same pass and for the same reason: plans say that
  /// of steps.
  bool areAlike() {
    return first.getBackward() == second.getBackward() &&
           brew::passes::isRematerialized(first) ==
               brew::passes::isRematerialized(second);
  }

  /// Whether one kernel can be passed what both need, and has few enough
  /// stages.
  bool fit() {
    return stagesOf(first) + stagesOf(second) <= kMaxStages &&
           brew::plan::argumentBytes(countArguments(), 2) <=
               brew::plan::kArgumentLimit;
  }

  /// Finds what stands between them and goes before or behind both. Whether it
  /// can: neither a step nor the second one reads what the first one makes (but
  /// the second without a view), and the caller writes nothing between them.
  bool areTogether() {
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
      (depends ? behind : before).push_back(op);
      if (depends)
        dependent.insert(op);
    }
    return llvm::none_of(second.getInputs(), [&](Value input) {
      return input.getDefiningOp() != first &&
             dependent.contains(input.getDefiningOp());
    });
  }

  /// Bytes that the first one reads: they may be in a cache now, and if calls
  /// between the two come first, are read from memory.
  int64_t bytesRead() {
    int64_t bytes = 0;
    for (Value input : first.getInputs())
      bytes += brew::passes::bytesOf(tensorTypeOf(input));
    return bytes;
  }

  /// Makes them one kernel.
  KernelOp join() {
    for (Operation *op : before)
      op->moveBefore(first);
    for (Operation *op : llvm::reverse(behind))
      op->moveAfter(second);
    const int64_t stages = stagesOf(first);
    const auto parts =
        static_cast<int64_t>(brew::passes::partsOf(first).size());
    OpBuilder b(second);
    return brew::passes::fuseKernels(b, first, second, [&](NestGrid place) {
      place.part += parts;
      place.stage += stages;
      return place;
    });
  }

private:
  /// Stages beyond which kernels are no longer joined: each takes as many
  /// registers as the largest one.
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
  SmallVector<Operation *> before, behind; ///< what stands between them
};

/// What launches of several steps need, against what the program needs at most.
class Memory {
public:
  /// Nothing is to need more than the program's peak without `spare` bytes.
  Memory(const brew::passes::OrderProblem &problem, int64_t spare)
      : problem(problem), needs(memoryUsageOf(problem)), most(needs.peak - spare) {}

  /// Begins with one step.
  void begin(unsigned step) {
    last = step;
    joined = problem.steps[step];
  }

  /// Adds `step`, behind the steps that follow those from the one that began,
  /// if nothing then needs more than the program does elsewhere.
  bool add(unsigned step) {
    const brew::passes::OrderedStep &next = problem.steps[step];
    brew::passes::OrderedStep both = joined;
    // A result may still lie where something ends, if no later stage reads
    // that, and if it is no result itself.
    llvm::erase_if(both.inPlacePairs,
                   [&](const brew::passes::OrderedStep::InPlacePair &share) {
                     return llvm::is_contained(next.reads, share.read);
                   });
    for (const brew::passes::OrderedStep::InPlacePair &share : next.inPlacePairs)
      if (!llvm::is_contained(joined.writes, share.read) &&
          llvm::none_of(both.inPlacePairs,
                        [&](const brew::passes::OrderedStep::InPlacePair &other) {
                          return other.read == share.read;
                        }))
        both.inPlacePairs.push_back(share);
    for (auto [to, from] : {std::pair(&both.reads, &next.reads),
                            std::pair(&both.writes, &next.writes)})
      for (unsigned value : *from)
        if (!llvm::is_contained(*to, value))
          to->push_back(value);
    // Steps between them wait with the first ones' inputs still there.
    for (unsigned between = last + 1; between < step; ++between) {
      int64_t bytes = needs.during[between] + endedBy(joined.reads, between);
      for (const brew::passes::OrderedStep::InPlacePair &share :
           problem.steps[between].inPlacePairs)
        if (llvm::is_contained(joined.reads, share.read))
          bytes += problem.values[share.written].bytes;
      if (bytes > most)
        return false;
    }
    if (bytesOf(both, step) > most)
      return false;
    joined = std::move(both);
    last = step;
    return true;
  }

private:
  /// Bytes of those values that are no longer there when `step` begins.
  int64_t endedBy(ArrayRef<unsigned> values, unsigned step) const {
    int64_t bytes = 0;
    for (unsigned value : values)
      if (isWritten(value, step) &&
          (!needs.lastRead[value] || *needs.lastRead[value] < step))
        bytes += problem.values[value].bytes;
    return bytes;
  }

  /// Whether `value` is there before `step` begins, or was.
  bool isWritten(unsigned value, unsigned step) const {
    return problem.values[value].liveAtStart ||
           (needs.firstWrite[value] && *needs.firstWrite[value] < step);
  }

  /// While `both` runs in place of step `end`: what is there anyway, what is
  /// made, and what has ended but for it.
  int64_t bytesOf(const brew::passes::OrderedStep &both, unsigned end) const {
    int64_t bytes = needs.before[end] + endedBy(both.reads, end);
    for (unsigned value : both.writes)
      if (!isWritten(value, end) || !llvm::is_contained(both.reads, value))
        bytes += isWritten(value, end) ? endedBy(value, end)
                                       : problem.values[value].bytes;
    for (const brew::passes::OrderedStep::InPlacePair &share : both.inPlacePairs)
      if (needs.lastRead[share.read] <= end)
        bytes -= problem.values[share.written].bytes;
    return bytes;
  }

  const brew::passes::OrderProblem &problem;
  const brew::passes::MemoryUsage needs;
  const int64_t most;
  unsigned last = 0; ///< of the steps that are one
  brew::passes::OrderedStep joined;
};

struct FuseLaunches : brew::passes::impl::FuseLaunchesBase<FuseLaunches> {
  using FuseLaunchesBase::FuseLaunchesBase;

  void runOnOperation() override {
    const GpuAttr gpu = brew::dialects::target::gpuOf(getOperation());
    if (!gpu)
      return;
    const brew::passes::ParameterOffsets parameters(getOperation());
    const brew::passes::FixedBuffers places(parameters);
    SmallVector<ProgramOp> programs(getOperation().getOps<ProgramOp>());
    for (ProgramOp program : programs)
      joinLaunches(program, gpu, places);
  }

private:
  /// Values that are there for longer may take more than foreseen, for they may
  /// no longer fit where gradients come later: then less is joined, above all
  /// kernels that would wait for calls.
  void joinLaunches(ProgramOp program, GpuAttr gpu,
                    const brew::passes::FixedBuffers &places) const {
    const int64_t arena = brew::passes::BufferAssignment(program, places).arenaBytes;
    // What is read from memory in less time than a launch takes.
    auto waiting = static_cast<int64_t>(
        GpuAttr::kDependentLaunchCycles * static_cast<double>(gpu.getBytesPerCycle()));
    int64_t spare = 0;
    ProgramOp good; // that takes a little more
    for (int turn = 1; turn <= kTurns; ++turn) {
      auto trial = cast<ProgramOp>(OpBuilder(program).clone(*program));
      if (!join(trial, places, waiting, spare)) {
        trial.erase();
        break;
      }
      const int64_t more =
          brew::passes::BufferAssignment(trial, places).arenaBytes - arena;
      if (more <= 0) {
        if (good)
          good.erase();
        program.erase();
        return;
      }
      if (!good && !isLimited && more <= arena / kLittle)
        good = trial;
      else
        trial.erase();
      spare += more;
      waiting = turn + 1 < kTurns ? waiting / 4 : 0;
    }
    if (good)
      program.erase();
  }

  /// Joins kernels, those that read more than `waiting` bytes only if no calls
  /// stand between them, so that memory needs no more than its peak without
  /// `spare` bytes. Whether any were joined.
  static bool join(ProgramOp program, const brew::passes::FixedBuffers &places,
                   int64_t waiting, int64_t spare) {
    const brew::passes::BufferAssignment roots(program, places);
    brew::passes::OrderedProgram steps(program);
    steps.excludeValues([&](Value owner) {
      const brew::passes::Allocation &root = roots.of(owner);
      return root.fixed ||
             root.arena != brew::dialects::plan::ArenaKind::Transient;
    });
    Memory memory(steps.problem, spare);
    bool isChanged = false;
    KernelOp last;
    unsigned lastNumber = 0;
    for (auto [number, op] : llvm::enumerate(steps.operations())) {
      auto kernel = dyn_cast<KernelOp>(op);
      if (!kernel)
        continue;
      KernelOp joined;
      if (last)
        if (Neighbours pair(last, kernel);
            pair.areAlike() && pair.fit() &&
            (number == lastNumber + 1 || pair.bytesRead() <= waiting) &&
            pair.areTogether() && memory.add(number))
          joined = pair.join();
      isChanged |= joined != nullptr;
      if (!joined)
        memory.begin(number);
      last = joined ? joined : kernel;
      lastNumber = number;
    }
    return isChanged;
  }

  /// Times that less is joined; the share of the arena that launches are worth
  /// where nobody counts bytes.
  static constexpr int kTurns = 4, kLittle = 256;
};

} // namespace
