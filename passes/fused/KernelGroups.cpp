//===- KernelGroups.cpp - Grouping of loop nests --------------------------===//
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

/// Limits of groups, derived from the target machine.
struct Limits {
  explicit Limits(ProgramOp program) {
    if (!dialects::target::isForGpu(program)) {
      auto cpu = dialects::target::cpuOf(program);
      sequentialWork = 2048 * cpu.lanes();
      enoughGridPoints = 8 * cpu.getCores();
      minProductReuse = 16;
      return;
    }
    auto gpu = dialects::target::gpuOf(program);
    sequentialWork = 32 * gpu.getBlockThreads();
    enoughGridPoints = std::max<int64_t>(
        llvm::bit_floor<uint64_t>(gpu.getMultiprocessors() / 4), 1);
    manyGridPoints = 2 * gpu.getMultiprocessors();
    maxPointWork = gpu.getCacheBytes();
    maxPointWorkOfFew = 16 * gpu.getBlockThreads();
  }

  /// Work below which one thread or block is as good as many: about ten
  /// microseconds.
  int64_t sequentialWork = 0;
  /// Minimal number of grid points for a grid shallower than its nests.
  int64_t enoughGridPoints = 0;
  /// On a GPU: the number of grid points that occupies every multiprocessor.
  int64_t manyGridPoints = 0;
  /// On a GPU: the maximal work per point of a shallower grid with at least
  /// `manyGridPoints` points, and with fewer. With more work, a value leaves
  /// the caches before it is read again, or too few blocks share the work.
  int64_t maxPointWork = INT64_MAX, maxPointWorkOfFew = INT64_MAX;
  /// On a CPU: the number of iterations per element that a nest reads or writes
  /// from which on it is a product, whose blocks need all of its grid: it would
  /// read its inputs again at every point of a shallower one. Windows of
  /// poolings have fewer.
  int64_t minProductReuse = INT64_MAX;
};

/// Maximal bytes of values per grid point between nests (thread stacks).
constexpr int64_t kMaxLocalBytes = 32768;
/// Maximal number of tensors that a group of several nests reads and computes.
constexpr size_t kMaxTensors = 256;

/// Properties of a nest, computed once.
struct NestInfo {
  explicit NestInfo(linalg::GenericOp nest)
      : loops(nest.getStaticLoopRanges()),
        parallelLoops(llvm::count(nest.getIteratorTypesArray(),
                                  utils::IteratorType::parallel)),
        operations(nest.getBody()->getOperations().size()),
        work(countScalarOperations(nest)) {
    int64_t elements = 0;
    for (Value tensor : brew::passes::tensorsReadBy(nest)) {
      accesses.emplace_back(tensor, accessLoops(nest, tensor));
      elements += countOf(shapeOf(tensor));
    }
    for (Value result : nest->getResults())
      elements += countOf(shapeOf(result));
    reuse = countOf(loops) / std::max<int64_t>(elements, 1);
  }

  ArrayRef<int64_t> grid(int64_t depth) const {
    return ArrayRef(loops).take_front(depth);
  }

  SmallVector<int64_t> loops;
  int64_t parallelLoops;
  size_t operations; ///< in the body
  int64_t work;
  int64_t reuse; ///< iterations per element of its tensors
  /// The accesses of every tensor that the nest reads.
  SmallVector<std::pair<Value, SmallVector<SmallVector<int64_t>>>> accesses;
};

/// A group that nests can still be added to.
struct OpenGroup {
  NestGroup group;
  int64_t work = 0;
  int64_t productGrid = 0; ///< the deepest grid of its products
  int64_t end = 0;         ///< position of its last nest
  /// The tensors that its nests read, and their results.
  llvm::DenseSet<Value> tensors;
  /// Positions of users outside the group.
  std::set<int64_t> readers;
};

/// Returns whether a nest with these accesses reads `value` only at the grid
/// point, of `depth` loops, at which it was written.
bool readsAtGridPoint(OpResult value, ArrayRef<SmallVector<int64_t>> accesses,
                      int64_t depth) {
  SmallVector<int64_t> writtenLoops = resultLoops(
      cast<linalg::GenericOp>(value.getOwner()), value.getResultNumber());
  for (ArrayRef<int64_t> access : accesses)
    for (int64_t loop = 0; loop < depth; ++loop) {
      // A loop that does not index the result is a reduction loop, which no
      // grid contains.
      auto dim = llvm::find(writtenLoops, loop);
      if (dim == writtenLoops.end() ||
          access[dim - writtenLoops.begin()] != loop)
        return false;
    }
  // With all loops in the grid the value is a scalar; with fewer, any element
  // of the remaining dimensions may be read.
  return true;
}

/// Groups the nests of one program. Candidates for a nest are only the groups
/// whose results or inputs it reads. They are looked up, so the time per nest
/// does not depend on the number of groups.
class Grouping {
public:
  explicit Grouping(ProgramOp program)
      : block(program.getBody().front()), limits(program) {
    for (auto [i, op] : llvm::enumerate(block))
      position[&op] = i;
  }

  std::vector<NestGroup> run() {
    SmallVector<linalg::GenericOp> nests(block.getOps<linalg::GenericOp>());
    for (auto nest : nests)
      assignToGroup(nest);
    std::vector<NestGroup> ordered;
    for (auto nest : nests)
      if (OpenGroup &open = groups[groupOf.at(nest)];
          open.group.nests.back() == nest)
        ordered.push_back(std::move(open.group));
    return ordered;
  }

private:
  /// Returns the grid depth at which `nest` can be added to the group, or -1.
  int64_t fusionDepth(unsigned groupIndex, linalg::GenericOp nest) const {
    const OpenGroup &open = groups[groupIndex];
    const NestInfo &added = infoOf(nest);
    const NestInfo &first = infoOf(open.group.nests[0]);
    int64_t depth = std::min(open.group.grid, added.parallelLoops);
    while (depth > 0 && added.grid(depth) != first.grid(depth))
      --depth;
    bool depends = false;
    for (const auto &[tensor, accesses] : added.accesses) {
      if (groupIndexOf(tensor.getDefiningOp()) != groupIndex)
        continue;
      if (isStoredPerIteration(cast<linalg::GenericOp>(tensor.getDefiningOp()),
                               cast<OpResult>(tensor).getResultNumber()))
        return -1; // a grid point has only part of the value
      depends = true;
      while (depth > 0 &&
             !readsAtGridPoint(cast<OpResult>(tensor), accesses, depth))
        --depth;
    }
    if (depth < std::max(open.productGrid, productGridOf(added)))
      return -1;
    const int64_t work = open.work + added.work;
    // A shallower grid must still occupy all threads, unless there is too
    // little work to divide.
    int64_t finestDepth = std::max(open.group.grid, added.parallelLoops);
    if (depth < finestDepth && work > limits.sequentialWork &&
        countOf(added.grid(depth)) < limits.enoughGridPoints)
      return -1;
    const int64_t points = std::max<int64_t>(countOf(added.grid(depth)), 1);
    if (depth < finestDepth && work / points > (points < limits.manyGridPoints
                                                    ? limits.maxPointWorkOfFew
                                                    : limits.maxPointWork))
      return -1;
    // Loops outside the grid are no longer collapsed and vectorized. That pays
    // off only if a value then needs no memory, that is for dependent nests.
    if (depth < finestDepth && !depends && work > limits.sequentialWork)
      return -1;
    return depth;
  }

  /// Returns the number of grid loops of a product that is larger than the work
  /// of one thread; 0 for other nests.
  int64_t productGridOf(const NestInfo &nest) const {
    return nest.reuse >= limits.minProductReuse &&
                   nest.work > limits.sequentialWork
               ? nest.parallelLoops
               : 0;
  }

  /// Returns whether the group would become too large with `nest`.
  bool isFull(unsigned groupIndex, linalg::GenericOp nest) const {
    const OpenGroup &open = groups[groupIndex];
    const size_t newTensors =
        nest->getNumResults() +
        llvm::count_if(infoOf(nest).accesses, [&](const auto &access) {
          return !open.tensors.contains(access.first);
        });
    return open.group.nests.size() >= kMaxNests ||
           open.group.operations + infoOf(nest).operations > kMaxOperations ||
           open.tensors.size() + newTensors > kMaxTensors;
  }

  /// Returns the bytes per grid point, of `depth` loops, of values that stay
  /// inside the group after adding `added`.
  int64_t localBytes(unsigned groupIndex, linalg::GenericOp added,
                     int64_t depth) const {
    int64_t bytes = 0;
    auto addLocalValues = [&](linalg::GenericOp nest) {
      for (OpResult result : nest->getResults()) {
        bool leavesGroup =
            llvm::any_of(result.getUsers(), [&](Operation *user) {
              // A use inside a nest's body counts for the nest.
              user = block.findAncestorOpInBlock(*user);
              return user != added && groupIndexOf(user) != groupIndex;
            });
        if (leavesGroup)
          continue;
        auto type = cast<RankedTensorType>(result.getType());
        int64_t points = countOf(infoOf(nest).grid(depth));
        bytes += countOf(type.getShape()) / std::max<int64_t>(points, 1) *
                 type.getElementTypeBitWidth() / 8;
      }
    };
    llvm::for_each(groups[groupIndex].group.nests, addLocalValues);
    addLocalValues(added);
    return bytes;
  }

  /// Returns whether the group cannot move down to `target`: an operation in
  /// between reads its results.
  bool isClosed(unsigned groupIndex, int64_t target) const {
    const std::set<int64_t> &readers = groups[groupIndex].readers;
    return !readers.empty() && *readers.begin() < target;
  }

  /// Returns the groups that produce or read an input of `nest`, latest end
  /// first.
  SmallVector<unsigned> candidates(linalg::GenericOp nest) {
    const int64_t target = position.at(nest);
    llvm::SmallSetVector<unsigned, 8> candidateSet;
    for (const auto &[tensor, accesses] : infoOf(nest).accesses)
      if (auto producer = groupIndexOf(tensor.getDefiningOp()))
        candidateSet.insert(*producer);
    for (Value input : nest.getInputs()) {
      // Reading scalars twice costs nothing.
      if (input.getDefiningOp<tensor::EmptyOp>() || shapeOf(input).empty())
        continue;
      auto &reading = readersOf[input];
      reading.remove_if(
          [&](unsigned group) { return isClosed(group, target); });
      candidateSet.insert_range(reading);
    }
    SmallVector<unsigned> found = candidateSet.takeVector();
    llvm::erase_if(found,
                   [&](unsigned group) { return isClosed(group, target); });
    llvm::sort(found, [&](unsigned a, unsigned b) {
      return groups[a].end > groups[b].end;
    });
    return found;
  }

  void assignToGroup(linalg::GenericOp nest) {
    infos.try_emplace(nest, nest);
    for (unsigned groupIndex : candidates(nest)) {
      if (isFull(groupIndex, nest))
        continue;
      int64_t depth = fusionDepth(groupIndex, nest);
      if (depth < 0 || localBytes(groupIndex, nest, depth) > kMaxLocalBytes)
        continue;
      groups[groupIndex].group.grid = depth;
      addToGroup(groupIndex, nest);
      return;
    }
    groups.emplace_back().group.grid = infoOf(nest).parallelLoops;
    addToGroup(groups.size() - 1, nest);
  }

  /// Adds `nest` at the end of the group.
  void addToGroup(unsigned groupIndex, linalg::GenericOp nest) {
    OpenGroup &open = groups[groupIndex];
    open.group.nests.push_back(nest);
    open.group.operations += infoOf(nest).operations;
    open.work += infoOf(nest).work;
    open.productGrid = std::max(open.productGrid, productGridOf(infoOf(nest)));
    open.end = position.at(nest);
    open.readers.erase(open.end);
    for (Operation *user : nest->getUsers())
      open.readers.insert(position.at(block.findAncestorOpInBlock(*user)));
    groupOf[nest] = groupIndex;
    open.tensors.insert_range(nest->getResults());
    for (const auto &[tensor, accesses] : infoOf(nest).accesses) {
      open.tensors.insert(tensor);
      readersOf[tensor].insert(groupIndex);
    }
  }

  const NestInfo &infoOf(linalg::GenericOp nest) const {
    return infos.at(nest);
  }
  /// Returns the index of the group that contains `op`.
  std::optional<unsigned> groupIndexOf(Operation *op) const {
    auto found = groupOf.find(op);
    return found == groupOf.end() ? std::nullopt : std::optional(found->second);
  }

  Block &block;
  Limits limits;
  std::vector<OpenGroup> groups;
  llvm::DenseMap<Operation *, int64_t> position;
  llvm::DenseMap<Operation *, unsigned> groupOf;
  llvm::DenseMap<Operation *, NestInfo> infos;
  /// Groups that read a tensor; may include closed ones.
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
