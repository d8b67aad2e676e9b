//===- FormKernels.cpp - Groups loop nests into kernels --------------------===//
//
// Works in three steps: every nest's loops are put in the memory order of its
// result; nests are gathered greedily, in program order, into groups that can
// share a grid; each group is outlined into a brew.kernel. Flat groups that do
// not depend on each other then become parts of one kernel.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/KernelAnalysis.h"
#include "dialects/Brew/layers/Solver.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace brew {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/Passes.h.inc"
} // namespace brew

using namespace mlir;
using namespace brew::ir;

namespace {

/// Work below which one thread is as good as many: about ten microseconds.
constexpr int64_t kSequentialWork = 32768;
/// Fewest grid points worth giving up finer parallelism for.
constexpr int64_t kEnoughGridPoints = 32;
/// Bytes of values a grid point may keep between nests (thread stacks).
constexpr int64_t kLocalBytes = 32768;

int64_t parallelLoops(linalg::GenericOp nest) {
  return llvm::count(nest.getIteratorTypesArray(),
                     utils::IteratorType::parallel);
}

/// Interchanges loops: parallel ones first, in the memory order of the first
/// result, then reductions in the order they are written.
linalg::GenericOp orderLoops(IRRewriter &rewriter, linalg::GenericOp nest) {
  SmallVector<unsigned> order;
  SmallVector<int64_t> written = resultLoops(nest, 0);
  auto type = cast<RankedTensorType>(nest.getResult(0).getType());
  for (int64_t dim : memoryOrder(type))
    order.push_back(written[dim]);
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop)
    if (!llvm::is_contained(order, loop))
      order.push_back(loop);
  if (llvm::is_sorted(order))
    return nest;
  rewriter.setInsertionPoint(nest);
  DictionaryAttr kept = nest->getDiscardableAttrDictionary();
  FailureOr<linalg::GenericOp> moved =
      linalg::interchangeGenericOp(rewriter, nest, order);
  if (failed(moved))
    return nest;
  (*moved)->setDiscardableAttrs(kept);
  // Interchange expresses indices through affine maps; they are plain loop
  // indices, and what follows looks for those.
  (*moved).getBody()->walk([](affine::AffineApplyOp apply) {
    if (auto dim = dyn_cast<AffineDimExpr>(apply.getAffineMap().getResult(0))) {
      apply.getResult().replaceAllUsesWith(
          apply.getMapOperands()[dim.getPosition()]);
      apply.erase();
    }
  });
  return *moved;
}

/// Nests that will be one part of one kernel.
struct Group {
  SmallVector<linalg::GenericOp> nests;
  int64_t grid = 0; // leading loops they share

  bool contains(Operation *op) const {
    return llvm::any_of(nests, [&](linalg::GenericOp nest) {
      return nest.getOperation() == op;
    });
  }
  int64_t work() const {
    int64_t sum = 0;
    for (auto nest : nests)
      sum += workOf(nest);
    return sum;
  }
};

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

bool dependsOn(linalg::GenericOp consumer, const Group &group) {
  bool found = false;
  for (auto producer : group.nests)
    for (OpResult result : producer->getResults())
      found |= !accessLoops(consumer, result).empty();
  return found;
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
  explicit Grouping(ProgramOp program) : program(program) {}

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
    if (depth < finest && group.work() + workOf(nest) > kSequentialWork &&
        countOf(gridOf(nest, depth)) < kEnoughGridPoints)
      return -1;
    // Loops that are no grid loops lose the collapsed, vectorised form: only
    // worth it when a value then needs no memory, that is for dependants.
    if (depth < finest && !dependsOn(nest, group) &&
        group.work() + workOf(nest) > kSequentialWork)
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
};

/// Whether every access of the group is the identity over all loops: then its
/// iterations are one long loop.
bool isFlat(const Group &group) {
  for (auto nest : group.nests) {
    if (group.grid != static_cast<int64_t>(nest.getNumLoops()) ||
        nest.getBody()
            ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
            .wasInterrupted())
      return false;
    for (AffineMap map : nest.getIndexingMapsArray())
      if (map.getNumResults() != 0 &&
          map.getNumResults() != map.getNumDims())
        return false;
  }
  return true;
}

/// Outlines groups, each as one part, into one kernel that ends where the last
/// of them ends.
class Outliner {
public:
  Outliner(ArrayRef<const Group *> parts, Operation *position)
      : parts(parts), b(position) {
    b.setInsertionPointAfter(position);
  }

  KernelOp build() {
    collect();
    SmallVector<Type> types;
    for (Value output : outputs)
      types.push_back(output.getType());
    SmallVector<Location> locations;
    for (const Group *group : parts)
      for (auto nest : group->nests)
        locations.push_back(nest.getLoc());
    auto kernel = KernelOp::create(b, b.getFusedLoc(locations), types,
                                   inputs.getArrayRef(), name(), layers(),
                                   isBackward());
    Block *body = b.createBlock(&kernel.getBody());
    IRMapping map;
    for (Value input : inputs)
      map.map(input, body->addArgument(input.getType(), input.getLoc()));
    for (auto [number, group] : llvm::enumerate(parts))
      for (auto nest : group->nests)
        cloneNest(nest, number, group->grid, map);
    SmallVector<Value> yielded;
    for (Value output : outputs)
      yielded.push_back(map.lookup(output));
    YieldOp::create(b, kernel.getLoc(), yielded);
    for (auto [output, result] : llvm::zip(outputs, kernel.getOutputs()))
      output.replaceUsesWithIf(result, [&](OpOperand &use) {
        return !members.contains(use.getOwner()) &&
               !isInsideMember(use.getOwner());
      });
    for (const Group *group : llvm::reverse(parts))
      for (auto nest : llvm::reverse(group->nests))
        nest->erase();
    return kernel;
  }

private:
  bool isInsideMember(Operation *op) const {
    for (Operation *parent = op; parent; parent = parent->getParentOp())
      if (members.contains(parent))
        return true;
    return false;
  }

  /// Finds what the nests read from outside and what leaves them.
  void collect() {
    for (const Group *group : parts)
      for (auto nest : group->nests)
        members.insert(nest);
    for (const Group *group : parts)
      for (auto nest : group->nests) {
        auto read = [&](Value tensor) {
          Operation *source = tensor.getDefiningOp();
          if (!members.contains(source) &&
              !isa_and_nonnull<tensor::EmptyOp, linalg::FillOp, FillOp>(source))
            inputs.insert(tensor);
        };
        for (Value input : nest.getInputs())
          read(input);
        nest.getBody()->walk(
            [&](tensor::ExtractOp extract) { read(extract.getTensor()); });
        for (OpResult result : nest->getResults())
          if (llvm::any_of(result.getUsers(), [&](Operation *user) {
                return !isInsideMember(user);
              }))
            outputs.push_back(result);
      }
  }

  /// Clones a nest with the constants and initial values it needs.
  void cloneNest(linalg::GenericOp nest, int64_t part, int64_t grid,
                 IRMapping &map) {
    std::function<void(Value)> bring = [&](Value value) {
      Operation *source = value.getDefiningOp();
      if (map.contains(value) || !source ||
          !isa<tensor::EmptyOp, linalg::FillOp, FillOp, arith::ConstantOp>(
              source))
        return;
      for (Value operand : source->getOperands())
        bring(operand);
      b.clone(*source, map)->removeAttr("brew.layer");
    };
    for (Value operand : nest->getOperands())
      bring(operand);
    nest.getBody()->walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (operand.getParentBlock() == nest->getBlock())
          bring(operand);
    });
    Operation *clone = b.clone(*nest, map);
    clone->setAttr("brew.part", b.getI64IntegerAttr(part));
    clone->setAttr("brew.grid", b.getI64IntegerAttr(grid));
  }

  SmallVector<StringRef> layerNames() {
    llvm::SetVector<StringRef> names;
    for (const Group *group : parts)
      for (auto nest : group->nests)
        if (auto layer = nest->getAttrOfType<StringAttr>("brew.layer"))
          names.insert(layer.getValue());
    return names.takeVector();
  }
  /// Whether all of it computes gradients.
  bool isBackward() const {
    return llvm::all_of(parts, [](const Group *group) {
      return llvm::all_of(group->nests, [](linalg::GenericOp nest) {
        return nest->hasAttr("brew.backward");
      });
    });
  }
  ArrayAttr layers() { return b.getStrArrayAttr(layerNames()); }

  /// A name a reader of profiles recognises; made unique later.
  std::string name() {
    SmallVector<StringRef> names = layerNames();
    // Two names tell what it is; a list of all is in the layers attribute.
    std::string text;
    for (StringRef layer : ArrayRef(names).take_front(2))
      text += (text.empty() ? "" : "_") + layer.str();
    if (names.empty())
      text = b.getInsertionBlock()->getParentOp()
                 ->getAttrOfType<StringAttr>("sym_name").str();
    if (isBackward())
      text += "_backward";
    for (char &c : text)
      if (!llvm::isAlnum(c))
        c = '_';
    return text;
  }

  SmallVector<const Group *> parts;
  OpBuilder b;
  llvm::DenseSet<Operation *> members;
  llvm::SetVector<Value> inputs;
  SmallVector<Value> outputs;
};

struct FormKernels : brew::impl::FormKernelsBase<FormKernels> {
  /// Position in the program after which a group's kernel stands.
  static Operation *endOf(const Group &group) {
    linalg::GenericOp last = group.nests.back();
    return last.getOperation();
  }

  void formKernels(ProgramOp program) {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> nests(
        program.getBody().front().getOps<linalg::GenericOp>());
    for (auto nest : nests)
      orderLoops(rewriter, nest);

    Grouping grouping(program);
    grouping.run();
    for (size_t i = 0; i < grouping.groups.size();) {
      SmallVector<const Group *> parts = {&grouping.groups[i]};
      size_t next = i + 1;
      // Only kernels that follow each other directly: then nothing between
      // them can depend on the first.
      while (isFlat(grouping.groups[i]) && next < grouping.groups.size() &&
             isFlat(grouping.groups[next]) &&
             followsIndependently(parts, grouping.groups[next]))
        parts.push_back(&grouping.groups[next++]);
      Outliner(parts, endOf(*parts.back())).build();
      i = next;
    }
  }

  /// Whether `group` does not read the parts and no operation that does or
  /// that is no nest stands between.
  static bool followsIndependently(ArrayRef<const Group *> parts,
                                   const Group &group) {
    for (const Group *part : parts)
      for (auto nest : group.nests)
        if (dependsOn(nest, *part))
          return false;
    for (const Group *part : parts)
      for (auto nest : part->nests)
        for (Operation *user : nest->getUsers()) {
          while (!isa<ProgramOp>(user->getParentOp()))
            user = user->getParentOp();
          if (!part->contains(user) && user->isBeforeInBlock(endOf(group)))
            return false;
        }
    return true;
  }

  /// Sinks wait until everything is computed, so that no kernel has to stand
  /// before them.
  static void moveSinksToEnd(Block &block) {
    SmallVector<Operation *> sinks;
    for (Operation &op : block)
      if (isa<StoreParamOp, StoreStateOp, StoreGradientOp, StoreAllGradientsOp,
              KeepOp, OutputOp, CheckLabelsOp>(op))
        sinks.push_back(&op);
    for (Operation *sink : sinks)
      sink->moveBefore(&block, block.end());
  }

  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      Block &block = program.getBody().front();
      moveSinksToEnd(block);
      formKernels(program);
      // Initial values left without nests.
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isa<linalg::FillOp, tensor::EmptyOp, arith::ConstantOp, FillOp>(
                op) &&
            op.use_empty())
          op.erase();
    }
  }
};

} // namespace
