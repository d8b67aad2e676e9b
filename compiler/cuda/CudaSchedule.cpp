//===- CudaSchedule.cpp - How the loops of a part run on a GPU ------------===//
#include "compiler/cuda/CudaSchedule.h"

#include "compiler/cuda/CudaColumns.h"
#include "compiler/cuda/CudaCosts.h"
#include "compiler/kernels/KernelLoops.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace brew::compiler::cuda {

namespace {

using dialects::target::GpuAttr;

/// Threads of a block where a point needs no team of its own.
constexpr unsigned kThreads = 256;
/// Threads of the smallest team that is more than one.
constexpr unsigned kLeastTeam = 8;
/// What a larger team's time must be at most of a smaller one's.
constexpr double kWorthwhile = 0.97;

/// The parts of each stage.
SmallVector<ArrayRef<Part>> stagesOf(const Kernel &kernel) {
  SmallVector<ArrayRef<Part>> stages;
  ArrayRef<Part> rest = kernel.parts;
  while (!rest.empty()) {
    const unsigned stage = rest.front().stage;
    stages.push_back(
        rest.take_while([&](const Part &part) { return part.stage == stage; }));
    rest = rest.drop_front(stages.back().size());
  }
  return stages;
}

/// Those that lie side by side: all but the last block's.
ArrayRef<Part> sideOf(ArrayRef<Part> stage) {
  return stage.drop_back(stage.back().isLast);
}

class Scheduler {
public:
  Scheduler(Kernel &kernel, ArrayRef<int64_t> alignments, GpuAttr gpu,
            unsigned forced)
      : kernel(kernel), packs(kernel, alignments), gpu(gpu), forced(forced),
        costs(kernel, gpu) {}

  CudaSchedule run() {
    for (Part &part : kernel.parts)
      normaliseLoops(part);
    const SmallVector<ArrayRef<Part>> stages = stagesOf(kernel);
    std::optional<unsigned> threads;
    if (stages.size() > 1)
      threads = threadsOfAll(stages);
    for (ArrayRef<Part> stage : stages)
      addStage(stage, threads);
    schedule.packs = packs;
    return std::move(schedule);
  }

private:
  using Cost = CudaCosts::Cost;

  /// Schedules what runs between two barriers, with blocks of `threads` if that
  /// is given.
  void addStage(ArrayRef<Part> stage, std::optional<unsigned> threads) {
    const ArrayRef<Part> side = sideOf(stage);
    partsOfStage = static_cast<int64_t>(stage.size());
    if (!threads && side.size() > 1)
      threads = kThreads;
    const size_t first = schedule.parts.size();
    for (const Part &part : side)
      schedule.parts.push_back(choose(part, threads, side.size() > 1));
    schedule.threads =
        threads ? *threads : threadsOf(side.front(), schedule.parts[first]);
    int64_t next = 0;
    for (auto [part, chosen] : llvm::zip_equal(
             side, MutableArrayRef(schedule.parts).drop_front(first))) {
      fitShared(part, chosen);
      chosen.firstBlock = next;
      chosen.blocks = blocksOf(part, chosen);
      next += chosen.blocks;
    }
    if (side.size() < stage.size()) {
      PartSchedule last = chooseLast(stage.back(), side, schedule.parts[first]);
      fitShared(stage.back(), last);
      last.blocks = next;
      schedule.parts.push_back(std::move(last));
    }
    schedule.stageBlocks.push_back(next);
  }

  /// Threads of the blocks of several stages: so many that all stages together
  /// take the least time.
  unsigned threadsOfAll(ArrayRef<ArrayRef<Part>> stages) {
    if (forced > kWarp)
      return forced;
    unsigned best = kThreads;
    double least = HUGE_VAL;
    for (unsigned threads = 2 * kWarp; threads <= gpu.getBlockThreads();
         threads *= 2) {
      double cycles = 0;
      for (ArrayRef<Part> stage : stages) {
        const ArrayRef<Part> side = sideOf(stage);
        partsOfStage = static_cast<int64_t>(stage.size());
        for (const Part &part : side)
          cycles += choose(part, threads, side.size() > 1).cycles;
      }
      if (cycles < least) {
        least = cycles;
        best = threads;
      }
    }
    return best;
  }

  /// Elements that a point keeps for later nests.
  static bool isKept(const Output &output) {
    return output.overwritesRead || output.readLater;
  }

  static PartSchedule base(const Part &part) {
    PartSchedule result;
    result.points = pointsOf(part);
    for (const Nest &nest : part.nests) {
      NestSchedule &inner = result.nests.emplace_back();
      for (unsigned i = part.grid; i < nest.loops.size(); ++i) {
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

  /// A thread, a part of a warp, a warp, or up to a block of warps; a whole
  /// block if that is to have `threads`. Parts of warps are for packs: a warp's
  /// lanes would be more than there are.
  SmallVector<unsigned> teams(const Part &part, std::optional<unsigned> threads,
                              bool several) const {
    if (several)
      return {1, kWarp, *threads};
    SmallVector<unsigned> sizes = {1};
    for (unsigned team = kLeastTeam; team <= gpu.getBlockThreads(); team *= 2)
      if (team >= kWarp ? team == kWarp || !threads || team == *threads
                        : pointsOf(part) % (kWarp / team) == 0)
        sizes.push_back(team);
    return sizes;
  }

  static int64_t pointsOf(const Part &part) {
    int64_t points = 1;
    for (unsigned i = 0; i < part.grid; ++i)
      points *= part.nests[0].loops[i].extent;
    return points;
  }

  /// Chooses the lanes that share reductions of the candidate's nests, and
  /// returns what they cost a point.
  Cost shareNests(const Part &part, PartSchedule &candidate,
                  llvm::function_ref<double(const Cost &)> timeOf) const {
    Cost total;
    for (auto [nest, inner] : llvm::zip(part.nests, candidate.nests)) {
      bool splits = inner.iterations > 1 &&
                    !llvm::is_contained(inner.combine, Combine::None);
      double least = HUGE_VAL;
      Cost chosen;
      for (unsigned lanes = 1; lanes <= (splits ? candidate.team : 1);
           lanes *= 2) {
        // Lanes without a value of their own would store what others do.
        if (lanes > 1 && inner.values > 1 && !nest.stores.empty() &&
            inner.values % (candidate.team / lanes) != 0)
          continue;
        unsigned pack = 1;
        if (candidate.team > 1)
          pack = lanePackOf(kernel, packs, nest, inner, candidate.team, lanes);
        Cost cost =
            costs.ofNest(part, nest, inner, candidate.team, lanes, pack);
        double time = timeOf(cost);
        if (time >= least)
          continue;
        least = time;
        chosen = cost;
        inner.lanes = lanes;
        inner.pack = pack;
        if (pack > 1)
          inner.packed =
              lanes > 1 ? inner.reductions.back() : inner.parallel.back();
      }
      total += chosen;
    }
    return total;
  }

  /// The part with blocks that take neighbouring points together, if it can
  /// have them and takes less than `time`.
  std::optional<PartSchedule> inColumns(const Part &part, double time) const {
    PartSchedule candidate = base(part);
    const unsigned columns = columnsOf(part, candidate);
    if (columns == 1)
      return std::nullopt;
    candidate.team = GpuAttr::kReductionThreads;
    setColumns(part, candidate, columns);
    Cost total;
    int64_t bytes = 0;
    for (auto [nest, inner] : llvm::zip(part.nests, candidate.nests)) {
      total += costs.ofColumns(part, nest, inner, columns, candidate.team);
      for (const Output &output : nest.outputs)
        bytes += inner.iterations > 1
                     ? candidate.partials() * elementBytes(output.element)
                     : 0;
    }
    candidate.cycles =
        costs.timeOf(total, tilesOf(part, candidate), candidate.team);
    if (bytes > sharedLimit() || candidate.cycles >= time)
      return std::nullopt;
    return candidate;
  }

  void setColumns(const Part &part, PartSchedule &chosen,
                  unsigned columns) const {
    chosen.columns = columns;
    NestSchedule &sums = chosen.nests.front();
    sums.pack = columnPackOf(kernel, packs, part, chosen);
    sums.packed = part.grid - 1;
    sums.storesPacks = false;
    for (auto [nest, inner] : llvm::zip(part.nests, chosen.nests)) {
      inner.shared =
          loopToShare(nest, inner, chosen.team / columns * inner.pack);
      for (const Output &output : nest.outputs)
        inner.storage.push_back(isKept(output) ? Storage::Variable
                                               : Storage::Buffer);
    }
  }

  /// What the last block to end does of a stage whose other parts are `side`,
  /// with the threads that it has; `first` is the schedule of the first one.
  PartSchedule chooseLast(const Part &part, ArrayRef<Part> side,
                          const PartSchedule &first) const {
    PartSchedule tiled = base(part);
    if (side.size() == 1 && columnsOf(part, tiled) == first.columns &&
        readsOwnTile(side.front(), first, part)) {
      tiled.team = first.team;
      setColumns(part, tiled, first.columns);
      tiled.tiles = tilesOf(part, tiled);
      return tiled;
    }
    PartSchedule best;
    double bestTime = HUGE_VAL;
    for (unsigned team : {1u, kWarp, schedule.threads}) {
      if (team > schedule.threads)
        continue;
      PartSchedule candidate = base(part);
      candidate.team = team;
      auto timeOf = [&](const Cost &cost) {
        return costs.timeAlone(cost, candidate.points, schedule.threads / team);
      };
      Cost total = shareNests(part, candidate, timeOf);
      if (!place(part, candidate, schedule.threads) ||
          timeOf(total) >= bestTime)
        continue;
      bestTime = timeOf(total);
      best = std::move(candidate);
    }
    if (best.nests.empty())
      refuse(kernel.op, "the values of its last block fit no memory");
    return best;
  }

  /// The schedule of a part, with blocks of `threads` if that is given, as it
  /// must be where it has `several` beside it.
  PartSchedule choose(const Part &part, std::optional<unsigned> threads,
                      bool several) {
    PartSchedule best;
    double bestTime = HUGE_VAL;
    for (unsigned team : teams(part, threads, several)) {
      PartSchedule candidate = base(part);
      // A team has nothing to share where a point is one iteration.
      if (team > 1 &&
          llvm::all_of(candidate.nests,
                       [](const NestSchedule &n) {
                         return n.values == 1 && n.iterations == 1;
                       }) &&
          team != forced && part.grid > 0)
        continue;
      candidate.team = team;
      auto timeOf = [&](const Cost &cost) {
        return costs.timeOf(cost, candidate.points, team);
      };
      Cost total = shareNests(part, candidate, timeOf);
      const bool hasPacks = llvm::any_of(
          candidate.nests, [](const NestSchedule &n) { return n.pack > 1; });
      if (!place(part, candidate, threads) ||
          (team > 1 && team < kWarp && !hasPacks && team != forced))
        continue;
      double time = team == forced ? 0 : timeOf(total);
      // A larger team must pay: its lanes wait for each other.
      if (time < kWorthwhile * bestTime) {
        bestTime = time;
        best = std::move(candidate);
        best.cycles = time;
      }
    }
    if (best.nests.empty())
      refuse(kernel.op, "the values between its nests fit no memory");
    const bool mustBeColumns = forced == GpuAttr::kReductionThreads;
    if ((forced == 0 || mustBeColumns) && !several &&
        threads.value_or(GpuAttr::kReductionThreads) == GpuAttr::kReductionThreads)
      if (auto columns = inColumns(
              part, mustBeColumns ? HUGE_VAL : kWorthwhile * bestTime))
        return *columns;
    if (best.team == 1)
      best.pack = packOf(kernel, packs, part, best, gpu);
    if (best.pack > 1)
      for (NestSchedule &inner : best.nests) {
        inner.pack = best.pack;
        inner.packed = part.grid - 1;
      }
    return best;
  }

  /// Decides where values between nests are; false if they do not fit, for all
  /// teams of a block of `threads` or, if that is not given, of the smallest
  /// block.
  bool place(const Part &part, PartSchedule &candidate,
             std::optional<unsigned> threads) const {
    int64_t arrayElements = 0;
    for (auto [nest, inner] : llvm::zip(part.nests, candidate.nests))
      for (const Output &output : nest.outputs) {
        Storage &storage = inner.storage.emplace_back(Storage::Buffer);
        if (!isKept(output))
          continue;
        // A serial reduction is the work of one lane of the team.
        bool known = inner.values == 1 &&
                     (candidate.team == 1 || inner.iterations == 1 ||
                      inner.lanes == candidate.team);
        if (known) {
          storage = Storage::Variable;
        } else if (candidate.team == 1) {
          storage = Storage::Array;
          arrayElements += output.localSize;
        } else if (!isInBuffer(output)) {
          storage = Storage::Shared;
        }
      }
    const int64_t teams =
        threads ? *threads / candidate.team : fewestTeams(candidate);
    return arrayElements <= GpuAttr::kThreadElements &&
           sharedBytes(part, candidate) * teams <= sharedLimit();
  }

  /// Teams of the smallest block, a warp.
  static int64_t fewestTeams(const PartSchedule &candidate) {
    return candidate.team > 1 && candidate.team < kWarp ? kWarp / candidate.team
                                                        : 1;
  }

  /// Whether later nests find it in one of the launch's buffers.
  static bool isInBuffer(const Output &output) {
    return !output.arguments.empty() && !output.overwritesRead;
  }

  /// Stages have the same memory, one after the other.
  int64_t sharedLimit() const { return gpu.sharedBytesPerSubKernel(partsOfStage); }

  /// Shared memory of one team.
  static int64_t sharedBytes(const Part &part, const PartSchedule &candidate) {
    int64_t bytes = 0;
    for (auto [nest, inner] : llvm::zip(part.nests, candidate.nests))
      for (auto [output, storage] : llvm::zip(nest.outputs, inner.storage))
        if (storage == Storage::Shared)
          bytes +=
              candidate.sharedElements(output) * elementBytes(output.element);
    return bytes;
  }

  /// Puts values that are in a buffer anyway into shared memory as well, where
  /// there is room.
  void fitShared(const Part &part, PartSchedule &chosen) {
    if (chosen.team == 1)
      return;
    int64_t teams = schedule.threads / chosen.team;
    for (auto [nest, inner] : llvm::zip(part.nests, chosen.nests))
      for (auto [output, storage] : llvm::zip(nest.outputs, inner.storage)) {
        if (storage != Storage::Buffer || !isKept(output))
          continue;
        storage = Storage::Shared;
        if (sharedBytes(part, chosen) * teams > sharedLimit())
          storage = Storage::Buffer;
      }
  }

  unsigned threadsOf(const Part &part, const PartSchedule &chosen) const {
    if (chosen.team > kWarp)
      return chosen.team;
    int64_t threads = chosen.points / chosen.pack * chosen.team;
    unsigned best = kThreads;
    // Few threads are spread over the multiprocessors.
    while (best > 64 && threads < gpu.getMultiprocessors() * best)
      best /= 2;
    if (chosen.team > 1) {
      int64_t bytes = sharedBytes(part, chosen);
      while (best > kWarp && bytes * (best / chosen.team) > sharedLimit())
        best /= 2;
    }
    return best;
  }

  int64_t blocksOf(const Part &part, const PartSchedule &chosen) const {
    if (chosen.columns > 1)
      return tilesOf(part, chosen);
    int64_t pointsPerBlock =
        static_cast<int64_t>(schedule.threads / chosen.team) * chosen.pack;
    return llvm::divideCeil(chosen.points, pointsPerBlock);
  }

  /// Blocks that columns take.
  static int64_t tilesOf(const Part &part, const PartSchedule &chosen) {
    const int64_t extent = part.nests[0].loops[part.grid - 1].extent;
    return chosen.points / extent * llvm::divideCeil(extent, chosen.columns);
  }

  Kernel &kernel;
  const CudaPacks packs;
  GpuAttr gpu;
  unsigned forced;
  CudaCosts costs;
  int64_t partsOfStage = 1; ///< of the one at hand
  CudaSchedule schedule;
};

} // namespace

CudaSchedule scheduleForCuda(Kernel &kernel, ArrayRef<int64_t> alignments,
                             GpuAttr gpu, unsigned team) {
  return Scheduler(kernel, alignments, gpu, team).run();
}

} // namespace brew::compiler::cuda
