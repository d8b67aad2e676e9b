//===- KernelGroups.cpp - Loop nests that can share a kernel --------------===//
#include "passes/KernelGroups.h"

#include "dialects/Target/TargetDialect.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace brew;
using namespace brew::ir;

namespace {

/// What the machine's numbers mean for groups.
struct Limits {
  explicit Limits(ProgramOp program) {
    if (!targetir::isForGpu(program)) {
      auto cpu = targetir::cpuOf(program);
      sequentialWork = 2048 * cpu.lanes();
      enoughGridPoints = 8 * cpu.getCores();
      return;
    }
    auto gpu = targetir::gpuOf(program);
    sequentialWork = 32 * gpu.getBlockThreads();
    enoughGridPoints = std::max<int64_t>(
        llvm::bit_floor<uint64_t>(gpu.getMultiprocessors() / 4), 1);
    manyGridPoints = 2 * gpu.getMultiprocessors();
    mostPointWork = gpu.getCacheBytes();
    mostFewPointWork = 16 * gpu.getBlockThreads();
  }

  /// Work below which one thread, or one block, is as good as many: about ten
  /// microseconds.
  int64_t sequentialWork = 0;
  /// Fewest grid points worth giving up finer parallelism for.
  int64_t enoughGridPoints = 0;
  /// On a GPU: points that give every multiprocessor blocks to run; the most
  /// work of a point of a shallower grid, with as many points and with fewer.
  /// Beyond it a value is out of the caches before it is read again, or too few
  /// blocks do what all could.
  int64_t manyGridPoints = 0, mostPointWork = INT64_MAX,
          mostFewPointWork = INT64_MAX;
};

/// Bytes of values a grid point may keep between nests (thread stacks).
constexpr int64_t kLocalBytes = 32768;

int64_t parallelLoops(linalg::GenericOp nest) {
  return llvm::count(nest.getIteratorTypesArray(),
                     utils::IteratorType::parallel);
}

SmallVector<int64_t> gridOf(linalg::GenericOp nest, int64_t depth) {
  SmallVector<int64_t> loops = nest.getStaticLoopRanges();
  loops.resize(depth);
  return loops;
}

/// Whether `consumer` reads `producer`'s results, if at all, only at the grid
/// point of `depth` loops at which they were written.
bool readsAtGridPoint(linalg::GenericOp producer, linalg::GenericOp consumer,
                      int64_t depth) {
  for (OpResult result : producer->getResults()) {
    SmallVector<int64_t> written =
        resultLoops(producer, result.getResultNumber());
    for (ArrayRef<int64_t> access : accessLoops(consumer, result)) {
      for (int64_t loop = 0; loop < depth; ++loop) {
        // Where the producer does not store the loop's index, it is a
        // reduction loop, which no grid contains.
        auto place = llvm::find(written, loop);
        if (place == written.end() || access[place - written.begin()] != loop)
          return false;
      }
      // With all loops in the grid the value is one scalar; with fewer, any
      // element of the rest may be read.
    }
  }
  return true;
}

/// Bytes of values that stay inside the group, per grid point.
int64_t localBytes(const Group &group) {
  int64_t bytes = 0;
  for (auto nest : group.nests)
    for (OpResult result : nest->getResults()) {
      bool leaves = llvm::any_of(result.getUsers(), [&](Operation *user) {
        // A use inside a nest's body counts for the nest.
        while (user && !isa<ProgramOp>(user->getParentOp()))
          user = user->getParentOp();
        return !group.contains(user);
      });
      if (leaves)
        continue;
      auto type = cast<RankedTensorType>(result.getType());
      int64_t points = countOf(gridOf(nest, group.grid));
      bytes += countOf(type.getShape()) / std::max<int64_t>(points, 1) *
               type.getElementTypeBitWidth() / 8;
    }
  return bytes;
}

/// Groups the nests of one program.
class Grouping {
public:
  explicit Grouping(ProgramOp program) : program(program), limits(program) {}

  void run() {
    for (auto nest : program.getBody().front().getOps<linalg::GenericOp>())
      place(nest);
  }
  std::vector<Group> groups;

private:
  /// The depth at which `nest` can join `group`, or -1.
  int64_t joinDepth(const Group &group, linalg::GenericOp nest) const {
    int64_t depth = std::min(group.grid, parallelLoops(nest));
    while (depth > 0 && gridOf(nest, depth) != gridOf(group.nests[0], depth))
      --depth;
    while (depth >= 0 &&
           llvm::any_of(group.nests, [&](linalg::GenericOp producer) {
             return !readsAtGridPoint(producer, nest, depth);
           }))
      --depth;
    if (depth < 0)
      return -1;
    // A shallower grid must still feed all threads, unless there is too
    // little work to divide.
    int64_t finest = std::max(group.grid, parallelLoops(nest));
    if (depth < finest && group.work() + workOf(nest) > limits.sequentialWork &&
        countOf(gridOf(nest, depth)) < limits.enoughGridPoints)
      return -1;
    const int64_t points = std::max<int64_t>(countOf(gridOf(nest, depth)), 1);
    if (depth < finest &&
        (group.work() + workOf(nest)) / points > (points < limits.manyGridPoints
                                                      ? limits.mostFewPointWork
                                                      : limits.mostPointWork))
      return -1;
    // Loops that are no grid loops lose the collapsed, vectorised form: only
    // worth it when a value then needs no memory, that is for dependants.
    if (depth < finest && !dependsOn(nest, group) &&
        group.work() + workOf(nest) > limits.sequentialWork)
      return -1;
    return depth;
  }

  /// Whether the group's nests can move down to `nest`: nothing between reads
  /// their results.
  bool canMoveTo(const Group &group, linalg::GenericOp nest) const {
    for (auto member : group.nests)
      for (Operation *user : member->getUsers()) {
        while (!isa<ProgramOp>(user->getParentOp()))
          user = user->getParentOp();
        if (!group.contains(user) && user != nest.getOperation() &&
            user->isBeforeInBlock(nest))
          return false;
      }
    return true;
  }

  void place(linalg::GenericOp nest) {
    for (auto it = groups.rbegin(); it != groups.rend(); ++it) {
      int64_t depth = joinDepth(*it, nest);
      bool related = dependsOn(nest, *it) || sharesInput(nest, *it);
      if (depth < 0 || !related || !canMoveTo(*it, nest))
        continue;
      Group joined = *it;
      joined.nests.push_back(nest);
      joined.grid = depth;
      if (localBytes(joined) > kLocalBytes)
        continue;
      // The group now ends at `nest`; keep groups in the order they end.
      groups.erase(std::next(it).base());
      groups.push_back(joined);
      return;
    }
    groups.push_back({{nest}, parallelLoops(nest)});
  }

  static bool sharesInput(linalg::GenericOp nest, const Group &group) {
    for (Value input : nest.getInputs()) {
      // Scalars cost nothing to read twice.
      if (input.getDefiningOp<tensor::EmptyOp>() || shapeOf(input).empty())
        continue;
      for (auto member : group.nests)
        if (!accessLoops(member, input).empty())
          return true;
    }
    return false;
  }

  ProgramOp program;
  Limits limits;
};

} // namespace

bool brew::dependsOn(linalg::GenericOp consumer, const Group &group) {
  bool found = false;
  for (auto producer : group.nests)
    for (OpResult result : producer->getResults())
      found |= !accessLoops(consumer, result).empty();
  return found;
}

bool brew::isFlat(const Group &group) {
  for (auto nest : group.nests) {
    if (group.grid != static_cast<int64_t>(nest.getNumLoops()) ||
        nest.getBody()
            ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
            .wasInterrupted())
      return false;
    for (AffineMap map : nest.getIndexingMapsArray())
      if (map.getNumResults() != 0 && map.getNumResults() != map.getNumDims())
        return false;
  }
  return true;
}

std::vector<Group> brew::groupNests(ProgramOp program) {
  Grouping grouping(program);
  grouping.run();
  return std::move(grouping.groups);
}
