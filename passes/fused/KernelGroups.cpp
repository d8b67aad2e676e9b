//===- KernelGroups.cpp - Loop nests that can share a kernel --------------===//
#include "passes/fused/KernelGroups.h"

#include "dialects/Target/TargetDialect.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/bit.h"

#include <set>

using namespace mlir;
using namespace brew;
using namespace brew::passes;
using namespace brew::dialects;

namespace {

/// What the machine's numbers mean for groups.
struct Limits {
  explicit Limits(ProgramOp program) {
    if (!dialects::target::isForGpu(program)) {
      auto cpu = dialects::target::cpuOf(program);
      sequentialWork = 2048 * cpu.lanes();
      enoughGridPoints = 8 * cpu.getCores();
      return;
    }
    auto gpu = dialects::target::gpuOf(program);
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

/// What grouping asks of a nest, found once.
struct NestFacts {
  explicit NestFacts(linalg::GenericOp nest)
      : loops(nest.getStaticLoopRanges()),
        parallelLoops(llvm::count(nest.getIteratorTypesArray(),
                                  utils::IteratorType::parallel)),
        work(countScalarOperations(nest)) {
    for (Value tensor : brew::passes::tensorsReadBy(nest))
      accesses.emplace_back(tensor, accessLoops(nest, tensor));
  }

  ArrayRef<int64_t> grid(int64_t depth) const {
    return ArrayRef(loops).take_front(depth);
  }

  SmallVector<int64_t> loops;
  int64_t parallelLoops;
  int64_t work;
  /// Of every tensor that the nest reads.
  SmallVector<std::pair<Value, SmallVector<SmallVector<int64_t>>>> accesses;
};

/// A group that nests may still join.
struct OpenGroup {
  NestGroup group;
  int64_t work = 0;
  int64_t end = 0; ///< where its last nest stands
  /// Where operations outside stand that read its results.
  std::set<int64_t> readers;
};

/// Whether a nest with these accesses reads `value` only at the grid point of
/// `depth` loops at which it was written.
bool readsAtGridPoint(OpResult value, ArrayRef<SmallVector<int64_t>> accesses,
                      int64_t depth) {
  SmallVector<int64_t> written = resultLoops(
      cast<linalg::GenericOp>(value.getOwner()), value.getResultNumber());
  for (ArrayRef<int64_t> access : accesses)
    for (int64_t loop = 0; loop < depth; ++loop) {
      // Where the producer does not store the loop's index, it is a
      // reduction loop, which no grid contains.
      auto place = llvm::find(written, loop);
      if (place == written.end() || access[place - written.begin()] != loop)
        return false;
    }
  // With all loops in the grid the value is one scalar; with fewer, any
  // element of the rest may be read.
  return true;
}

/// Groups the nests of one program. A nest only joins a group whose results or
/// inputs it reads, so these are looked up and no others are looked at: the
/// time does not grow with the number of groups.
class Grouping {
public:
  explicit Grouping(ProgramOp program)
      : block(program.getBody().front()), limits(program) {
    for (auto [number, op] : llvm::enumerate(block))
      position[&op] = number;
  }

  std::vector<NestGroup> run() {
    SmallVector<linalg::GenericOp> nests(block.getOps<linalg::GenericOp>());
    for (auto nest : nests)
      place(nest);
    std::vector<NestGroup> ended;
    for (auto nest : nests)
      if (OpenGroup &open = groups[groupOf.at(nest)];
          open.group.nests.back() == nest)
        ended.push_back(std::move(open.group));
    return ended;
  }

private:
  /// The depth at which `nest` can join the group, or -1.
  int64_t joinDepth(unsigned number, linalg::GenericOp nest) const {
    const OpenGroup &open = groups[number];
    const NestFacts &joining = factsOf(nest);
    const NestFacts &first = factsOf(open.group.nests[0]);
    int64_t depth = std::min(open.group.grid, joining.parallelLoops);
    while (depth > 0 && joining.grid(depth) != first.grid(depth))
      --depth;
    bool depends = false;
    for (const auto &[tensor, accesses] : joining.accesses) {
      if (numberOf(tensor.getDefiningOp()) != number)
        continue;
      if (isStoredPerIteration(cast<linalg::GenericOp>(tensor.getDefiningOp()),
                           cast<OpResult>(tensor).getResultNumber()))
        return -1; // the grid point at hand has but a part of it
      depends = true;
      while (depth > 0 &&
             !readsAtGridPoint(cast<OpResult>(tensor), accesses, depth))
        --depth;
    }
    const int64_t work = open.work + joining.work;
    // A shallower grid must still feed all threads, unless there is too
    // little work to divide.
    int64_t finest = std::max(open.group.grid, joining.parallelLoops);
    if (depth < finest && work > limits.sequentialWork &&
        countOf(joining.grid(depth)) < limits.enoughGridPoints)
      return -1;
    const int64_t points = std::max<int64_t>(countOf(joining.grid(depth)), 1);
    if (depth < finest && work / points > (points < limits.manyGridPoints
                                               ? limits.mostFewPointWork
                                               : limits.mostPointWork))
      return -1;
    // Loops that are no grid loops lose the collapsed, vectorised form: only
    // worth it when a value then needs no memory, that is for dependants.
    if (depth < finest && !depends && work > limits.sequentialWork)
      return -1;
    return depth;
  }

  /// Bytes of values that stay inside the group, per grid point of `depth`
  /// loops, once `joining` is in it.
  int64_t localBytes(unsigned number, linalg::GenericOp joining,
                     int64_t depth) const {
    int64_t bytes = 0;
    auto add = [&](linalg::GenericOp nest) {
      for (OpResult result : nest->getResults()) {
        bool leaves = llvm::any_of(result.getUsers(), [&](Operation *user) {
          // A use inside a nest's body counts for the nest.
          user = block.findAncestorOpInBlock(*user);
          return user != joining && numberOf(user) != number;
        });
        if (leaves)
          continue;
        auto type = cast<RankedTensorType>(result.getType());
        int64_t points = countOf(factsOf(nest).grid(depth));
        bytes += countOf(type.getShape()) / std::max<int64_t>(points, 1) *
                 type.getElementTypeBitWidth() / 8;
      }
    };
    llvm::for_each(groups[number].group.nests, add);
    add(joining);
    return bytes;
  }

  /// Whether the group cannot move down to `where`, nor further: something
  /// between reads its results.
  bool isClosed(unsigned number, int64_t where) const {
    const std::set<int64_t> &readers = groups[number].readers;
    return !readers.empty() && *readers.begin() < where;
  }

  /// Groups that give or read what `nest` reads, the one that ends last first.
  SmallVector<unsigned> candidates(linalg::GenericOp nest) {
    const int64_t where = position.at(nest);
    llvm::SmallSetVector<unsigned, 8> found;
    for (const auto &[tensor, accesses] : factsOf(nest).accesses)
      if (auto giver = numberOf(tensor.getDefiningOp()))
        found.insert(*giver);
    for (Value input : nest.getInputs()) {
      // Scalars cost nothing to read twice.
      if (input.getDefiningOp<tensor::EmptyOp>() || shapeOf(input).empty())
        continue;
      auto &reading = readersOf[input];
      reading.remove_if([&](unsigned group) { return isClosed(group, where); });
      found.insert_range(reading);
    }
    SmallVector<unsigned> numbers = found.takeVector();
    llvm::erase_if(numbers,
                   [&](unsigned group) { return isClosed(group, where); });
    llvm::sort(numbers, [&](unsigned a, unsigned b) {
      return groups[a].end > groups[b].end;
    });
    return numbers;
  }

  void place(linalg::GenericOp nest) {
    facts.try_emplace(nest, nest);
    for (unsigned number : candidates(nest)) {
      int64_t depth = joinDepth(number, nest);
      if (depth < 0 || localBytes(number, nest, depth) > kLocalBytes)
        continue;
      groups[number].group.grid = depth;
      join(number, nest);
      return;
    }
    groups.emplace_back().group.grid = factsOf(nest).parallelLoops;
    join(groups.size() - 1, nest);
  }

  /// The group now ends at `nest`.
  void join(unsigned number, linalg::GenericOp nest) {
    OpenGroup &open = groups[number];
    open.group.nests.push_back(nest);
    open.work += factsOf(nest).work;
    open.end = position.at(nest);
    open.readers.erase(open.end);
    for (Operation *user : nest->getUsers())
      open.readers.insert(position.at(block.findAncestorOpInBlock(*user)));
    groupOf[nest] = number;
    for (const auto &[tensor, accesses] : factsOf(nest).accesses)
      readersOf[tensor].insert(number);
  }

  const NestFacts &factsOf(linalg::GenericOp nest) const {
    return facts.at(nest);
  }
  /// Number of the group that `op` is in.
  std::optional<unsigned> numberOf(Operation *op) const {
    auto found = groupOf.find(op);
    return found == groupOf.end() ? std::nullopt : std::optional(found->second);
  }

  Block &block;
  Limits limits;
  std::vector<OpenGroup> groups;
  llvm::DenseMap<Operation *, int64_t> position;
  llvm::DenseMap<Operation *, unsigned> groupOf;
  llvm::DenseMap<Operation *, NestFacts> facts;
  /// Groups that read a tensor and may not be closed.
  llvm::DenseMap<Value, llvm::SmallSetVector<unsigned, 2>> readersOf;
};

} // namespace

llvm::SmallSetVector<Value, 4>
brew::passes::tensorsReadBy(linalg::GenericOp nest) {
  llvm::SmallSetVector<Value, 4> tensors;
  tensors.insert_range(nest.getInputs());
  nest.getBody()->walk(
      [&](tensor::ExtractOp extract) { tensors.insert(extract.getTensor()); });
  return tensors;
}

bool brew::passes::isFlat(const NestGroup &group, bool allowGathers) {
  allowGathers &= group.nests.size() == 1;
  for (auto nest : group.nests) {
    if (group.grid != static_cast<int64_t>(nest.getNumLoops()) ||
        (!allowGathers &&
         nest.getBody()
             ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
             .wasInterrupted()))
      return false;
    for (AffineMap map : nest.getIndexingMapsArray())
      if (map.getNumResults() != 0 && !map.isPermutation())
        return false;
  }
  return true;
}

std::vector<NestGroup> brew::passes::groupNests(ProgramOp program) {
  return Grouping(program).run();
}
