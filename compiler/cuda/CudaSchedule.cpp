//===- CudaSchedule.cpp - How the loops of a part run on a GPU ------------===//
//
// Costs are rough cycles. They only need to rank: what the memory system moves,
// and how long one lane takes.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/CudaSchedule.h"

#include "compiler/kernels/KernelIndices.h"
#include "compiler/kernels/KernelLoops.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace brew::compiler {

namespace {

using targetir::GpuAttr;

/// Threads of a block where a point needs no team of its own.
constexpr unsigned kThreads = 256;
/// What a larger team's time must be at most of a smaller one's.
constexpr double kWorthwhile = 0.97;
/// Shared memory that is left to partial results of reductions.
constexpr int64_t kPartialBytes = 8192;

/// The cost of one element along a loop that moves its address by `step`:
/// neighbouring lanes share memory sectors.
double accessCost(std::optional<int64_t> step, Type element) {
  double bytes = static_cast<double>(elementBytes(element));
  if (!step)
    return 8;
  if (*step == 0)
    return 0.05;
  return std::min(static_cast<double>(std::abs(*step)) * bytes,
                  static_cast<double>(GpuAttr::kSectorBytes)) /
         4;
}

Type elementOf(const Kernel &kernel, const Part &part, const Source &source) {
  if (source.kind == Source::Kind::Argument)
    return kernel.arguments[source.argument].getElementType();
  if (source.kind == Source::Kind::Result)
    return part.nests[source.nest].outputs[source.result].element;
  return source.constant.getType();
}

int64_t ceilLog2(unsigned value) { return llvm::Log2_32_Ceil(value); }

class Scheduler {
public:
  Scheduler(Kernel &kernel, ArrayRef<int64_t> alignments, GpuAttr gpu,
            unsigned forced)
      : kernel(kernel), alignments(alignments), gpu(gpu), forced(forced),
        elementsPerCycle(static_cast<double>(gpu.getMemoryBytes()) / 4) {}

  CudaSchedule run() {
    for (Part &part : kernel.parts)
      normaliseLoops(part);
    bool several = kernel.parts.size() > 1;
    for (Part &part : kernel.parts)
      schedule.parts.push_back(choose(part, several));
    schedule.threads = several ? kThreads : threadsOf(schedule.parts[0]);
    int64_t next = 0;
    for (auto [part, chosen] : llvm::zip(kernel.parts, schedule.parts)) {
      fitShared(part, chosen);
      chosen.firstBlock = next;
      chosen.blocks = blocksOf(chosen);
      next += chosen.blocks;
    }
    return std::move(schedule);
  }

private:
  /// Elements that a point keeps for later nests.
  static bool isKept(const Output &output) {
    return output.overwritesRead || output.readLater;
  }

  PartSchedule base(const Part &part) {
    PartSchedule result;
    for (unsigned i = 0; i < part.grid; ++i)
      result.points *= part.nests[0].loops[i].extent;
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

  /// What one iteration costs when lanes move along `loop` (null: not at all).
  double iterationCost(const Part &part, const Nest &nest,
                       std::optional<unsigned> loop) {
    double cost = 0;
    auto along = [&](const Linear &address) -> std::optional<int64_t> {
      return loop ? address.coefs[*loop] : 0;
    };
    for (const std::optional<Access> &input : nest.inputs)
      if (input && input->source.kind == Source::Kind::Argument)
        cost += accessCost(along(input->address),
                           elementOf(kernel, part, input->source));
    for (const auto &[op, extract] : nest.extracts)
      if (extract.source.kind == Source::Kind::Argument)
        cost += accessCost(loop ? extractStep(nest, op, extract, *loop)
                                : std::optional(0l),
                           elementOf(kernel, part, extract.source));
    int64_t operations = 0;
    for (Operation &op : nest.body()->without_terminator())
      operations += op.getDialect()->getNamespace() == "math" ? 10 : 1;
    cost += operations * elementsPerCycle /
            static_cast<double>(gpu.getOperations());
    int64_t reductions = 1;
    for (const Loop &inner : nest.loops)
      if (inner.reduction)
        reductions *= inner.extent;
    for (const Output &output : nest.outputs)
      if (!output.arguments.empty())
        cost += accessCost(along(output.address), output.element) /
                static_cast<double>(reductions);
    return cost;
  }

  /// Whether iterations read the kernel's arguments.
  static bool readsMemory(const Nest &nest) {
    return llvm::any_of(nest.inputs,
                        [](const std::optional<Access> &input) {
                          return input &&
                                 input->source.kind == Source::Kind::Argument;
                        }) ||
           llvm::any_of(nest.extracts, [](const auto &entry) {
             return entry.second.source.kind == Source::Kind::Argument;
           });
  }

  struct Cost {
    double traffic = 0, latency = 0;
  };

  /// The cost of a nest for one grid point with `lanes` lanes per value.
  Cost nestCost(const Part &part, const Nest &nest, const NestSchedule &inner,
                unsigned team, unsigned lanes) {
    std::optional<unsigned> loop;
    if (team == 1) {
      if (part.grid)
        loop = part.grid - 1;
    } else if (lanes > 1) {
      loop = inner.reductions.back();
    } else if (!inner.parallel.empty()) {
      loop = inner.parallel.back();
    }
    double rounds =
        static_cast<double>(llvm::divideCeil(inner.values, team / lanes)) *
        static_cast<double>(llvm::divideCeil(inner.iterations, lanes));
    Cost cost;
    cost.traffic = rounds * team * iterationCost(part, nest, loop);
    cost.latency = rounds * (readsMemory(nest) ? GpuAttr::kLoadCycles
                                               : GpuAttr::kIterationCycles) +
                   GpuAttr::kNestCycles;
    if (lanes > 1) {
      double combinations = static_cast<double>(
          llvm::divideCeil(inner.values, team / lanes) * nest.outputs.size());
      cost.latency += combinations * GpuAttr::kShuffleCycles *
                      static_cast<double>(ceilLog2(std::min(lanes, kWarp)));
      if (lanes > kWarp)
        cost.latency +=
            combinations * (GpuAttr::kSharedCycles + lanes / kWarp * 4);
    }
    return cost;
  }

  double timeOf(const Cost &cost, int64_t points, unsigned team) const {
    double threads = static_cast<double>(points) * team;
    double waves =
        std::max(1.0, threads / static_cast<double>(gpu.residentThreads()));
    double traffic =
               static_cast<double>(points) * cost.traffic / elementsPerCycle,
           latency = cost.latency * waves;
    // The two overlap, but not all of the time.
    return std::max(traffic, latency) + std::min(traffic, latency) / 4;
  }

  /// A thread, a warp, or up to a block of warps.
  SmallVector<unsigned> teams() const {
    SmallVector<unsigned> sizes = {1};
    for (unsigned team = kWarp; team <= gpu.getBlockThreads(); team *= 2)
      sizes.push_back(team);
    return sizes;
  }

  PartSchedule choose(const Part &part, bool several) {
    PartSchedule best;
    double bestTime = HUGE_VAL;
    for (unsigned team : teams()) {
      if (several && team != 1 && team != kWarp && team != kThreads)
        continue;
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
      Cost total;
      for (auto [nest, inner] : llvm::zip(part.nests, candidate.nests)) {
        bool splits = inner.iterations > 1 &&
                      !llvm::is_contained(inner.combine, Combine::None);
        double least = HUGE_VAL;
        Cost chosen;
        for (unsigned lanes = 1; lanes <= (splits ? team : 1); lanes *= 2) {
          Cost cost = nestCost(part, nest, inner, team, lanes);
          double time = timeOf(cost, candidate.points, team);
          if (time >= least)
            continue;
          least = time;
          chosen = cost;
          inner.lanes = lanes;
        }
        total.traffic += chosen.traffic;
        total.latency += chosen.latency;
      }
      if (!place(part, candidate))
        continue;
      double time = team == forced ? 0 : timeOf(total, candidate.points, team);
      // A larger team must pay: its lanes wait for each other.
      if (time < kWorthwhile * bestTime) {
        bestTime = time;
        best = std::move(candidate);
      }
    }
    if (best.nests.empty())
      refuse(kernel.op, "the values between its nests fit no memory");
    if (best.team == 1)
      best.pack = packOf(kernel, alignments, part, best, gpu);
    return best;
  }

  /// Decides where values between nests are; false if they do not fit.
  bool place(const Part &part, PartSchedule &candidate) {
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
    return arrayElements <= GpuAttr::kThreadElements &&
           sharedBytes(part, candidate) <= sharedLimit();
  }

  /// Whether later nests find it in one of the launch's buffers.
  static bool isInBuffer(const Output &output) {
    return !output.arguments.empty() && !output.overwritesRead;
  }

  int64_t sharedLimit() const {
    return (gpu.getSharedBytes() - kPartialBytes) /
           static_cast<int64_t>(kernel.parts.size());
  }

  /// Shared memory of one team.
  static int64_t sharedBytes(const Part &part, const PartSchedule &candidate) {
    int64_t bytes = 0;
    for (auto [nest, inner] : llvm::zip(part.nests, candidate.nests))
      for (auto [output, storage] : llvm::zip(nest.outputs, inner.storage))
        if (storage == Storage::Shared)
          bytes += output.localSize * elementBytes(output.element);
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

  unsigned threadsOf(const PartSchedule &part) const {
    if (part.team > kWarp)
      return part.team;
    int64_t threads = part.points / part.pack * part.team;
    unsigned best = kThreads;
    // Few threads are spread over the multiprocessors.
    while (best > 64 && threads < gpu.getMultiprocessors() * best)
      best /= 2;
    if (part.team == kWarp) {
      int64_t bytes = sharedBytes(kernel.parts[0], part);
      while (best > kWarp && bytes * (best / kWarp) > sharedLimit())
        best /= 2;
    }
    return best;
  }

  int64_t blocksOf(const PartSchedule &part) const {
    int64_t pointsPerBlock =
        static_cast<int64_t>(schedule.threads / part.team) * part.pack;
    return llvm::divideCeil(part.points, pointsPerBlock);
  }

  Kernel &kernel;
  ArrayRef<int64_t> alignments; ///< of its arguments
  GpuAttr gpu;
  unsigned forced;
  double elementsPerCycle; ///< of four bytes that memory delivers
  CudaSchedule schedule;
};

} // namespace

CudaSchedule scheduleForCuda(Kernel &kernel, ArrayRef<int64_t> alignments,
                             GpuAttr gpu, unsigned team) {
  return Scheduler(kernel, alignments, gpu, team).run();
}

} // namespace brew::compiler
