//===- KernelSchedule.cpp - Loop schedules on a GPU -----------------------===//
#include "compiler/cuda/KernelSchedule.h"

#include "compiler/cuda/Columns.h"
#include "compiler/cuda/NestCosts.h"
#include "compiler/kernels/KernelLoops.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace brew::compiler::cuda {

namespace {

using dialects::target::GpuAttr;

/// Number of threads of a block if every team is a single thread.
constexpr unsigned kDefaultThreads = 256;
/// Number of threads of the smallest team larger than one thread.
constexpr unsigned kMinTeam = 8;
/// Maximum ratio of a larger team's time to a smaller team's time at which the
/// larger team is chosen.
constexpr double kMaxTimeRatio = 0.97;

/// Returns the sub-kernels of each stage.
SmallVector<ArrayRef<SubKernel>> stagesOf(const Kernel &kernel) {
  SmallVector<ArrayRef<SubKernel>> stages;
  ArrayRef<SubKernel> remaining = kernel.subKernels;
  while (!remaining.empty()) {
    const unsigned stage = remaining.front().stage;
    stages.push_back(remaining.take_while(
        [&](const SubKernel &subKernel) { return subKernel.stage == stage; }));
    remaining = remaining.drop_front(stages.back().size());
  }
  return stages;
}

/// Returns the sub-kernels that run concurrently: all except the last block's.
ArrayRef<SubKernel> concurrentSubKernels(ArrayRef<SubKernel> stage) {
  return stage.drop_back(stage.back().inLastBlock);
}

class Scheduler {
public:
  Scheduler(Kernel &kernel, ArrayRef<int64_t> alignments, GpuAttr gpu,
            const ThreadOptions &options)
      : kernel(kernel), packs(kernel, alignments), gpu(gpu),
        forcedTeam(options.team),
        maxThreads(
            std::min<int64_t>(gpu.getBlockThreads(), options.maxThreads)),
        reductionThreads(
            std::min<int64_t>(GpuAttr::kReductionThreads, maxThreads)),
        costs(kernel, gpu) {}

  KernelSchedule run() {
    for (SubKernel &subKernel : kernel.subKernels)
      normaliseLoops(subKernel);
    const SmallVector<ArrayRef<SubKernel>> stages = stagesOf(kernel);
    std::optional<unsigned> threads;
    if (stages.size() > 1)
      threads = chooseThreads(stages);
    for (ArrayRef<SubKernel> stage : stages)
      addStage(stage, threads);
    for (auto [subKernel, chosen] :
         llvm::zip_equal(kernel.subKernels, schedule.subKernels))
      if (chosen.columns > 1 && !subKernel.inLastBlock) {
        NestSchedule &inner = chosen.nests.front();
        inner.tile = interleaveChunks(subKernel, chosen.team / chosen.columns *
                                                     inner.pack);
      }
    schedule.packs = packs;
    return std::move(schedule);
  }

private:
  using Cost = NestCosts::Cost;

  /// Schedules the sub-kernels of one stage, with blocks of `threads` if not
  /// null.
  void addStage(ArrayRef<SubKernel> stage, std::optional<unsigned> threads) {
    const ArrayRef<SubKernel> concurrent = concurrentSubKernels(stage);
    subKernelsOfStage = static_cast<int64_t>(stage.size());
    if (!threads && concurrent.size() > 1)
      threads = kDefaultThreads;
    const size_t first = schedule.subKernels.size();
    for (const SubKernel &subKernel : concurrent)
      schedule.subKernels.push_back(
          choose(subKernel, threads, concurrent.size() > 1));
    schedule.threads =
        threads ? *threads
                : threadsOf(concurrent.front(), schedule.subKernels[first]);
    int64_t next = 0;
    for (auto [subKernel, chosen] : llvm::zip_equal(
             concurrent,
             MutableArrayRef(schedule.subKernels).drop_front(first))) {
      addSharedCopies(subKernel, chosen);
      chosen.firstBlock = next;
      chosen.blocks = blocksOf(subKernel, chosen);
      next += chosen.blocks;
    }
    if (concurrent.size() < stage.size()) {
      SubKernelSchedule last =
          chooseLast(stage.back(), concurrent, schedule.subKernels[first]);
      addSharedCopies(stage.back(), last);
      last.blocks = next;
      schedule.subKernels.push_back(std::move(last));
    }
    schedule.stageBlocks.push_back(next);
  }

  /// Returns the block size that minimizes the total time of several stages.
  unsigned chooseThreads(ArrayRef<ArrayRef<SubKernel>> stages) {
    if (forcedTeam > kWarp)
      return forcedTeam;
    unsigned best = kDefaultThreads;
    double minCycles = HUGE_VAL;
    for (unsigned threads = 2 * kWarp; threads <= maxThreads; threads *= 2) {
      double cycles = 0;
      for (ArrayRef<SubKernel> stage : stages) {
        const ArrayRef<SubKernel> concurrent = concurrentSubKernels(stage);
        subKernelsOfStage = static_cast<int64_t>(stage.size());
        for (const SubKernel &subKernel : concurrent)
          cycles += choose(subKernel, threads, concurrent.size() > 1).cycles;
      }
      if (cycles < minCycles) {
        minCycles = cycles;
        best = threads;
      }
    }
    return best;
  }

  /// Returns whether a result is stored within the grid point for later nests.
  static bool isLocal(const Output &output) {
    return output.overwritesLiveInput || output.readLater;
  }

  /// Returns a schedule with the loops and combinations of all nests, and with
  /// defaults for everything else.
  static SubKernelSchedule makeBaseSchedule(const SubKernel &subKernel) {
    SubKernelSchedule result;
    result.points = pointsOf(subKernel);
    for (const Nest &nest : subKernel.nests) {
      NestSchedule &inner = result.nests.emplace_back();
      for (unsigned i = subKernel.grid; i < nest.loops.size(); ++i) {
        (nest.loops[i].reduction ? inner.reductions : inner.parallel)
            .push_back(i);
        (nest.loops[i].reduction ? inner.iterations : inner.values) *=
            nest.loops[i].extent;
      }
      for (unsigned i = 0; i < nest.outputs.size(); ++i)
        inner.combine.push_back(combineOf(nest, i));
    }
    return result;
  }

  /// Returns the team sizes to try: one thread, fractions of a warp, a warp,
  /// and blocks of several warps. If `threads` is not null, the only block size
  /// is `threads`. A fraction of a warp is for nests that have fewer packs than
  /// a warp has lanes; sub-kernels with siblings do not use it.
  SmallVector<unsigned> teamSizes(const SubKernel &subKernel,
                                  std::optional<unsigned> threads,
                                  bool hasSiblings) const {
    if (hasSiblings)
      return {1, kWarp, *threads};
    SmallVector<unsigned> sizes = {1};
    for (unsigned team = kMinTeam; team <= maxThreads; team *= 2)
      if (team >= kWarp ? team == kWarp || !threads || team == *threads
                        : pointsOf(subKernel) % (kWarp / team) == 0)
        sizes.push_back(team);
    return sizes;
  }

  static int64_t pointsOf(const SubKernel &subKernel) {
    int64_t points = 1;
    for (unsigned i = 0; i < subKernel.grid; ++i)
      points *= subKernel.nests[0].loops[i].extent;
    return points;
  }

  /// Chooses the lanes that share reductions of the candidate's nests, and
  /// returns the cost per point.
  Cost chooseLanes(const SubKernel &subKernel, SubKernelSchedule &candidate,
                   llvm::function_ref<double(const Cost &)> timeOf) const {
    Cost total;
    for (auto [nest, inner] : llvm::zip(subKernel.nests, candidate.nests)) {
      bool canSplit = inner.iterations > 1 &&
                      !llvm::is_contained(inner.combine, Combine::None);
      double minTime = HUGE_VAL;
      Cost minCost;
      for (unsigned lanes = 1; lanes <= (canSplit ? candidate.team : 1);
           lanes *= 2) {
        // Lanes without a value of their own would repeat other lanes' stores.
        if (lanes > 1 && inner.values > 1 && !nest.perIterationStores.empty() &&
            inner.values % (candidate.team / lanes) != 0)
          continue;
        unsigned pack = 1;
        if (candidate.team > 1)
          pack =
              lanePackSize(kernel, packs, nest, inner, candidate.team, lanes);
        Cost cost =
            costs.ofNest(subKernel, nest, inner, candidate.team, lanes, pack);
        double time = timeOf(cost);
        if (time >= minTime)
          continue;
        minTime = time;
        minCost = cost;
        inner.lanes = lanes;
        inner.pack = pack;
        if (pack > 1)
          inner.packed =
              lanes > 1 ? inner.reductions.back() : inner.parallel.back();
      }
      total += minCost;
    }
    return total;
  }

  /// Returns a schedule of the sub-kernel in columns, if that is possible and
  /// takes less than `time`.
  std::optional<SubKernelSchedule> scheduleInColumns(const SubKernel &subKernel,
                                                     double time) const {
    SubKernelSchedule candidate = makeBaseSchedule(subKernel);
    const unsigned columns = columnsOf(subKernel, candidate);
    if (columns == 1)
      return std::nullopt;
    candidate.team = reductionThreads;
    setColumns(subKernel, candidate, columns);
    Cost total;
    int64_t bytes = 0;
    for (auto [nest, inner] : llvm::zip(subKernel.nests, candidate.nests)) {
      total += costs.ofColumns(subKernel, nest, inner, columns, candidate.team);
      for (const Output &output : nest.outputs)
        bytes += inner.iterations > 1
                     ? candidate.partials() * elementBytes(output.element)
                     : 0;
    }
    candidate.cycles =
        costs.timeOf(total, tilesOf(subKernel, candidate), candidate.team);
    if (bytes > sharedLimit() || candidate.cycles >= time)
      return std::nullopt;
    return candidate;
  }

  /// Completes a schedule with `columns` columns.
  void setColumns(const SubKernel &subKernel, SubKernelSchedule &chosen,
                  unsigned columns) const {
    chosen.columns = columns;
    NestSchedule &reduction = chosen.nests.front();
    reduction.pack = columnPackSize(kernel, packs, subKernel, chosen);
    reduction.packed = subKernel.grid - 1;
    reduction.storesPacks = false;
    for (auto [nest, inner] : llvm::zip(subKernel.nests, chosen.nests)) {
      inner.shared =
          loopToShare(nest, inner, chosen.team / columns * inner.pack);
      for (const Output &output : nest.outputs)
        inner.storage.push_back(isLocal(output) ? Storage::Variable
                                                : Storage::Buffer);
    }
  }

  /// Schedules the sub-kernel of the last block with the threads of the stage.
  /// `concurrent` are the stage's other sub-kernels; `first` is the schedule of
  /// the first.
  SubKernelSchedule chooseLast(const SubKernel &subKernel,
                               ArrayRef<SubKernel> concurrent,
                               const SubKernelSchedule &first) const {
    SubKernelSchedule tiled = makeBaseSchedule(subKernel);
    if (concurrent.size() == 1 &&
        columnsOf(subKernel, tiled) == first.columns &&
        readsOwnTile(concurrent.front(), first, subKernel)) {
      tiled.team = first.team;
      setColumns(subKernel, tiled, first.columns);
      tiled.tiles = tilesOf(subKernel, tiled);
      return tiled;
    }
    SubKernelSchedule best;
    double bestTime = HUGE_VAL;
    for (unsigned team : {1u, kWarp, schedule.threads}) {
      if (team > schedule.threads)
        continue;
      SubKernelSchedule candidate = makeBaseSchedule(subKernel);
      candidate.team = team;
      auto timeOf = [&](const Cost &cost) {
        return costs.timeAlone(cost, candidate.points, schedule.threads / team);
      };
      Cost total = chooseLanes(subKernel, candidate, timeOf);
      if (!chooseStorage(subKernel, candidate, schedule.threads) ||
          timeOf(total) >= bestTime)
        continue;
      bestTime = timeOf(total);
      best = std::move(candidate);
    }
    if (best.nests.empty())
      throwCannotEmit(kernel.op,
                      "the values of its last block do not fit in memory");
    return best;
  }

  /// Returns the best schedule of a sub-kernel, with blocks of `threads` if not
  /// null. `hasSiblings` means that other sub-kernels run concurrently.
  SubKernelSchedule choose(const SubKernel &subKernel,
                           std::optional<unsigned> threads, bool hasSiblings) {
    SubKernelSchedule best;
    double bestTime = HUGE_VAL;
    for (unsigned team : teamSizes(subKernel, threads, hasSiblings)) {
      SubKernelSchedule candidate = makeBaseSchedule(subKernel);
      // A team has nothing to share if a point is one iteration.
      if (team > 1 &&
          llvm::all_of(candidate.nests,
                       [](const NestSchedule &n) {
                         return n.values == 1 && n.iterations == 1;
                       }) &&
          team != forcedTeam && subKernel.grid > 0)
        continue;
      candidate.team = team;
      auto timeOf = [&](const Cost &cost) {
        return costs.timeOf(cost, candidate.points, team);
      };
      Cost total = chooseLanes(subKernel, candidate, timeOf);
      const bool hasPacks = llvm::any_of(
          candidate.nests, [](const NestSchedule &n) { return n.pack > 1; });
      if (!chooseStorage(subKernel, candidate, threads) ||
          (team > 1 && team < kWarp && !hasPacks && team != forcedTeam))
        continue;
      double time = team == forcedTeam ? 0 : timeOf(total);
      // A larger team must be clearly faster: its lanes wait for each other.
      if (time < kMaxTimeRatio * bestTime) {
        bestTime = time;
        best = std::move(candidate);
        best.cycles = time;
      }
    }
    if (best.nests.empty())
      throwCannotEmit(kernel.op,
                      "the values between its nests do not fit in memory");
    const bool mustBeColumns = forcedTeam == reductionThreads;
    if ((forcedTeam == 0 || mustBeColumns) && !hasSiblings &&
        threads.value_or(reductionThreads) == reductionThreads)
      if (auto columns = scheduleInColumns(
              subKernel, mustBeColumns ? HUGE_VAL : kMaxTimeRatio * bestTime))
        return *columns;
    if (best.team == 1)
      best.pack = pointPackSize(kernel, packs, subKernel, best, gpu);
    if (best.pack > 1)
      for (NestSchedule &inner : best.nests) {
        inner.pack = best.pack;
        inner.packed = subKernel.grid - 1;
      }
    return best;
  }

  /// Chooses the storage of values between nests. Returns false if the values
  /// of all teams of a block do not fit. The block has `threads` threads or, if
  /// null, is the smallest one.
  bool chooseStorage(const SubKernel &subKernel, SubKernelSchedule &candidate,
                     std::optional<unsigned> threads) const {
    int64_t arrayElements = 0;
    for (auto [nest, inner] : llvm::zip(subKernel.nests, candidate.nests))
      for (const Output &output : nest.outputs) {
        Storage &storage = inner.storage.emplace_back(Storage::Buffer);
        if (!isLocal(output))
          continue;
        // A serial reduction runs in one lane of the team only.
        bool isInEveryLane = inner.values == 1 &&
                             (candidate.team == 1 || inner.iterations == 1 ||
                              inner.lanes == candidate.team);
        if (isInEveryLane) {
          storage = Storage::Variable;
        } else if (candidate.team == 1) {
          storage = Storage::Array;
          arrayElements += output.localSize;
        } else if (!isInBuffer(output)) {
          storage = Storage::Shared;
        }
      }
    const int64_t teams =
        threads ? *threads / candidate.team : minTeams(candidate);
    return arrayElements <= GpuAttr::kThreadElements &&
           sharedBytes(subKernel, candidate) * teams <= sharedLimit();
  }

  /// Returns the number of teams of the smallest block, a warp.
  static int64_t minTeams(const SubKernelSchedule &candidate) {
    return candidate.team > 1 && candidate.team < kWarp ? kWarp / candidate.team
                                                        : 1;
  }

  /// Returns whether later nests can read the output from one of the launch's
  /// buffers.
  static bool isInBuffer(const Output &output) {
    return !output.arguments.empty() && !output.overwritesLiveInput;
  }

  /// Returns the limit of shared memory for a sub-kernel, in bytes. Stages use
  /// the same shared memory one after the other.
  int64_t sharedLimit() const {
    return gpu.sharedBytesPerSubKernel(subKernelsOfStage);
  }

  /// Returns the size of the shared memory of a team in bytes.
  static int64_t sharedBytes(const SubKernel &subKernel,
                             const SubKernelSchedule &candidate) {
    int64_t bytes = 0;
    for (auto [nest, inner] : llvm::zip(subKernel.nests, candidate.nests))
      for (auto [output, storage] : llvm::zip(nest.outputs, inner.storage))
        if (storage == Storage::Shared)
          bytes +=
              candidate.sharedElements(output) * elementBytes(output.element);
    return bytes;
  }

  /// Lets values that are in a buffer be copied to shared memory as well, as
  /// far as the copies fit.
  void addSharedCopies(const SubKernel &subKernel, SubKernelSchedule &chosen) {
    if (chosen.team == 1)
      return;
    int64_t teams = schedule.threads / chosen.team;
    for (auto [nest, inner] : llvm::zip(subKernel.nests, chosen.nests))
      for (auto [output, storage] : llvm::zip(nest.outputs, inner.storage)) {
        if (storage != Storage::Buffer || !isLocal(output))
          continue;
        storage = Storage::Shared;
        if (sharedBytes(subKernel, chosen) * teams > sharedLimit())
          storage = Storage::Buffer;
      }
  }

  /// Returns the number of threads per block for a single sub-kernel.
  unsigned threadsOf(const SubKernel &subKernel,
                     const SubKernelSchedule &chosen) const {
    if (chosen.team > kWarp)
      return chosen.team;
    int64_t threads = chosen.points / chosen.pack * chosen.team;
    unsigned best = kDefaultThreads;
    // Spread few threads over the multiprocessors.
    while (best > 64 && threads < gpu.getMultiprocessors() * best)
      best /= 2;
    if (chosen.team > 1) {
      int64_t bytes = sharedBytes(subKernel, chosen);
      while (best > kWarp && bytes * (best / chosen.team) > sharedLimit())
        best /= 2;
    }
    return best;
  }

  int64_t blocksOf(const SubKernel &subKernel,
                   const SubKernelSchedule &chosen) const {
    if (chosen.columns > 1)
      return tilesOf(subKernel, chosen);
    int64_t pointsPerBlock =
        static_cast<int64_t>(schedule.threads / chosen.team) * chosen.pack;
    return llvm::divideCeil(chosen.points, pointsPerBlock);
  }

  /// Returns the number of blocks of a schedule in columns.
  static int64_t tilesOf(const SubKernel &subKernel,
                         const SubKernelSchedule &chosen) {
    const int64_t extent = subKernel.nests[0].loops[subKernel.grid - 1].extent;
    return chosen.points / extent * llvm::divideCeil(extent, chosen.columns);
  }

  Kernel &kernel;
  const PackedAccesses packs;
  GpuAttr gpu;
  const unsigned forcedTeam; ///< 0: choose the team size by estimated cost
  const unsigned maxThreads, reductionThreads; ///< of a block; in columns
  NestCosts costs;
  int64_t subKernelsOfStage = 1; ///< number in the current stage
  KernelSchedule schedule;
};

} // namespace

KernelSchedule scheduleKernel(Kernel &kernel, ArrayRef<int64_t> alignments,
                              GpuAttr gpu, const ThreadOptions &options) {
  return Scheduler(kernel, alignments, gpu, options).run();
}

} // namespace brew::compiler::cuda
