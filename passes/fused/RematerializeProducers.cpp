//===- RematerializeProducers.cpp - Producers in their consumers ----------===//
//
// A value that costs a few operations per element is not worth storing: each
// nest that reads it recomputes it, from tensors that it mostly reads anyway.
// Thus a normalized blob is not stored (the backward pass recomputes it from
// the bottom and the statistics), nor the mask of a ReLU, nor a gradient
// between two elementwise layers.
//
// MLIR's own elementwise fusion fuses every legal producer-consumer pair and
// keeps the producer's result as a result of the fused nest. This pass decides
// for all readers of a value at once: it clones the producer for each reader
// and lets MLIR fuse the clone.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/analysis/ValueStorage.h"
#include "passes/fused/FuseProducer.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Target/TargetDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <optional>

namespace brew::passes {
#define GEN_PASS_DEF_REMATERIALIZEPRODUCERS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Maximal number of operations of a body that is recomputed.
constexpr int64_t kMaxOperations = 32;
/// Maximal depth of producers that one reader recomputes.
constexpr int kMaxDepth = 6;
/// A tensor is cheap to read if the nest has this many iterations per element.
constexpr int64_t kCheapReuse = 64;

int64_t bytesOf(Value value) {
  return brew::passes::bytesOf(tensorTypeOf(value));
}

/// Returns the operations per iteration; more than the maximum if one is
/// expensive (division, math function).
int64_t operationsOf(linalg::GenericOp nest) {
  int64_t count = 0;
  for (Operation &op : nest.getBody()->without_terminator()) {
    if (isa<linalg::IndexOp>(op) || op.hasTrait<OpTrait::ConstantLike>())
      continue;
    if (op.getDialect()->getNamespace() == "math" || isa<arith::DivFOp>(op))
      return kMaxOperations + 1;
    ++count;
  }
  return count;
}

/// Returns the operations per iteration of any nest; a math function counts as
/// 10.
int64_t weightedOperationsOf(linalg::GenericOp nest) {
  int64_t count = 0;
  for (Operation &op : nest.getBody()->without_terminator())
    count += op.getDialect()->getNamespace() == "math" ? 10
             : isa<linalg::IndexOp>(op) || op.hasTrait<OpTrait::ConstantLike>()
                 ? 0
                 : 1;
  return count;
}

bool gathers(linalg::GenericOp nest) {
  return nest.getBody()
      ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Returns the nest that computes `value` element by element, if it is cheap.
linalg::GenericOp cheapProducer(Value value) {
  auto nest = value.getDefiningOp<linalg::GenericOp>();
  if (!nest || nest->getNumResults() != 1 ||
      nest.getNumParallelLoops() != nest.getNumLoops() ||
      operationsOf(nest) > kMaxOperations)
    return {};
  OpOperand *init = nest.getDpsInitOperand(0);
  return nest.getMatchingIndexingMap(init).isPermutation() &&
                 !nest.payloadUsesValueFromOperand(init)
             ? nest
             : linalg::GenericOp();
}

/// Returns whether `use` belongs to a nest that reads each element once: one
/// per iteration.
bool readsEachOnce(OpOperand &use) {
  auto nest = dyn_cast<linalg::GenericOp>(use.getOwner());
  return nest && nest.isDpsInput(&use) &&
         nest.getMatchingIndexingMap(&use).isPermutation();
}

class ProducerRematerializer {
public:
  ProducerRematerializer(ProgramOp program, double bytesPerOperation,
                         bool isForGpu)
      : program(program), rewriter(program.getContext()),
        bytesPerOperation(bytesPerOperation), isForGpu(isForGpu) {}

  void run() {
    // Producers come first, so that their inputs are final. Fusion replaces
    // nests, so iterate over the block.
    Block &block = program.getBody().front();
    for (Operation *op = block.empty() ? nullptr : &block.front(); op;
         op = op->getNextNode()) {
      auto nest = dyn_cast<linalg::GenericOp>(op);
      if (!nest || !cheapProducer(nest->getResult(0)))
        continue;
      if (!gathers(nest))
        rematerialize(nest);
      else if (isForGpu)
        inlineGather(nest);
    }
    brew::passes::eraseDeadNests(rewriter, block);
  }

private:
  using Values = SmallVector<Value>;

  static bool isSmall(Value value, linalg::GenericOp reader) {
    return !isa<RankedTensorType>(value.getType()) ||
           countOf(shapeOf(value)) * kCheapReuse <=
               countOf(reader.getStaticLoopRanges());
  }

  /// Returns the additional bytes that `reader`, which already reads
  /// `available`, reads to obtain `value`; 0 if it can compute it, which adds
  /// to `operations`.
  int64_t extraBytesFor(Value value, ArrayRef<Value> available,
                        linalg::GenericOp reader, int64_t &operations,
                        int depth = kMaxDepth) const {
    if (llvm::is_contained(available, value) || isSmall(value, reader))
      return 0;
    linalg::GenericOp nest = cheapProducer(value);
    if (!nest || depth == 0 || gathers(nest))
      return bytesOf(value);
    int64_t nestOperations = operationsOf(nest);
    for (OpOperand *input : nest.getDpsInputOperands())
      if (!readsEachOnce(*input) && !isSmall(input->get(), reader))
        return bytesOf(value);
      else if (extraBytesFor(input->get(), available, reader, nestOperations,
                             depth - 1) > 0)
        return bytesOf(value);
    operations += nestOperations;
    return 0;
  }

  /// Returns the additional cost of `reader`, in bytes of memory traffic, if it
  /// recomputes the result of `nest`. Operations are free while memory is the
  /// bottleneck.
  double extraCostFor(linalg::GenericOp nest, linalg::GenericOp reader) const {
    Value value = nest->getResult(0);
    Values available = otherInputs(reader, value);
    int64_t bytesBefore = bytesOf(value), operations = operationsOf(nest),
            bytesAfter = 0;
    for (Value input : nest.getDpsInputs()) {
      int64_t extraBytes = extraBytesFor(input, available, reader, operations);
      bytesAfter += extraBytes;
      if (extraBytes > 0)
        available.push_back(input);
    }
    int64_t otherBytes = 0;
    SetVector<Value> tensors;
    tensors.insert_range(otherInputs(reader, value));
    tensors.insert_range(reader->getResults());
    for (Value tensor : tensors)
      if (isa<RankedTensorType>(tensor.getType()))
        otherBytes += bytesOf(tensor);
    auto time = [&](int64_t bytes, int64_t operations) {
      return std::max(
          static_cast<double>(otherBytes + bytes),
          static_cast<double>(operations) * bytesPerOperation *
              static_cast<double>(countOf(reader.getStaticLoopRanges())));
    };
    int64_t ownOperations = weightedOperationsOf(reader);
    return time(bytesAfter, ownOperations + operations) -
           time(bytesBefore, ownOperations);
  }

  static Values otherInputs(linalg::GenericOp reader, Value value) {
    Values inputs = reader.getDpsInputs();
    llvm::erase(inputs, value);
    return inputs;
  }

  void rematerialize(linalg::GenericOp nest) {
    Value value = nest->getResult(0);
    SetVector<Operation *> readers;
    SmallVector<Operation *> otherUsers;
    for (OpOperand &use : value.getUses())
      if (readsEachOnce(use))
        readers.insert(use.getOwner());
      else
        otherUsers.push_back(use.getOwner());
    for (Operation *other : otherUsers)
      readers.remove(other);
    double totalCost =
        otherUsers.empty() ? -static_cast<double>(bytesOf(value)) : 0;
    SmallVector<double> extraCosts;
    for (Operation *reader : readers)
      totalCost += extraCosts.emplace_back(
          extraCostFor(nest, cast<linalg::GenericOp>(reader)));
    const bool isForAllReaders = otherUsers.empty() && totalCost < 0;
    if (!isForAllReaders &&
        storeInReader(nest, readers.getArrayRef(), otherUsers, extraCosts))
      return;
    for (auto [reader, extraCost] : llvm::zip(readers, extraCosts))
      if (isForAllReaders || extraCost < 0) {
        auto readerNest = cast<linalg::GenericOp>(reader);
        fuseInto(value, otherInputs(readerNest, value), readerNest, kMaxDepth,
                 isForAllReaders);
      }
  }

  /// Returns the bytes that `nest` reads, without small tensors.
  static double bytesReadBy(linalg::GenericOp nest) {
    double bytes = 0;
    for (Value input : nest.getDpsInputs())
      if (!isSmall(input, nest))
        bytes += static_cast<double>(bytesOf(input));
    return bytes;
  }

  /// Moves the store of a value into one of its readers, if the producer's
  /// reads that this saves exceed the cost. Readers before that one recompute
  /// the value at the cost of their `extraCosts`. The first reader is no
  /// candidate: it can share a kernel with the producer anyway.
  bool storeInReader(linalg::GenericOp nest, ArrayRef<Operation *> readers,
                     ArrayRef<Operation *> otherUsers,
                     ArrayRef<double> extraCosts) {
    auto order = llvm::to_vector(
        llvm::seq<unsigned>(0, static_cast<unsigned>(readers.size())));
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return readers[a]->isBeforeInBlock(readers[b]);
    });
    double costBefore = 0, lowestCost = 0;
    for (double extraCost : extraCosts)
      lowestCost += std::min(extraCost, 0.0);
    std::optional<unsigned> chosen;
    for (auto [i, readerIndex] : llvm::enumerate(order)) {
      double totalCost =
          costBefore + extraCosts[readerIndex] - bytesReadBy(nest);
      for (unsigned later : ArrayRef(order).drop_front(i + 1))
        totalCost += std::min(extraCosts[later], 0.0);
      costBefore += extraCosts[readerIndex];
      if (i == 0 || totalCost >= lowestCost ||
          !canStore(nest, cast<linalg::GenericOp>(readers[readerIndex]),
                    otherUsers))
        continue;
      lowestCost = totalCost;
      chosen = i;
    }
    if (!chosen)
      return false;
    const Value value = nest->getResult(0);
    for (auto [i, readerIndex] : llvm::enumerate(order)) {
      auto reader = cast<linalg::GenericOp>(readers[readerIndex]);
      if (i != *chosen && (i < *chosen || extraCosts[readerIndex] < 0))
        fuseInto(value, otherInputs(reader, value), reader, kMaxDepth);
    }
    storeIn(cast<linalg::GenericOp>(readers[order[*chosen]]), value);
    return true;
  }

  /// Lets `reader` compute and store `value`, unless an earlier user remains
  /// that could not recompute it.
  void storeIn(linalg::GenericOp reader, Value value) {
    for (Operation *user : value.getUsers())
      if (inBlockOf(reader, user)->isBeforeInBlock(reader))
        return;
    const Origin origin =
        Origin::of(value.getDefiningOp()).with(Origin::of(reader));
    OpOperand *use = nullptr;
    for (OpOperand *input : reader.getDpsInputOperands())
      if (input->get() == value)
        use = input;
    rewriter.setInsertionPoint(reader);
    FailureOr<linalg::ElementwiseOpFusionResult> fused =
        linalg::fuseElementwiseOps(rewriter, use);
    if (failed(fused))
      return;
    rewriter.replaceAllUsesExcept(value, fused->replacements.lookup(value),
                                  reader);
    for (Value result : reader->getResults())
      rewriter.replaceAllUsesWith(result, fused->replacements.lookup(result));
    rewriter.eraseOp(reader);
    origin.mark(brew::passes::mergeDuplicateInputs(
        rewriter, cast<linalg::GenericOp>(fused->fusedOp)));
  }

  /// Returns the ancestor of `op` in the nest's block.
  static Operation *inBlockOf(linalg::GenericOp nest, Operation *op) {
    return nest->getBlock()->findAncestorOpInBlock(*op);
  }

  /// Returns whether `reader` can store the result of `nest` for all other
  /// users.
  static bool canStore(linalg::GenericOp nest, linalg::GenericOp reader,
                       ArrayRef<Operation *> otherUsers) {
    return reader.getNumReductionLoops() == 0 && !gathers(reader) &&
           Origin::of(nest).isBackward == Origin::of(reader).isBackward &&
           llvm::count(reader.getDpsInputs(), nest->getResult(0)) == 1 &&
           llvm::all_of(otherUsers, [&](Operation *other) {
             return reader->isBeforeInBlock(inBlockOf(reader, other));
           });
  }

  /// Inlines a nest that gathers single elements into all its readers: it is
  /// not worth a launch.
  void inlineGather(linalg::GenericOp nest) {
    Value value = nest->getResult(0);
    SetVector<Operation *> readers;
    for (OpOperand &use : value.getUses()) {
      auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (!reader || !reader.isDpsInput(&use) ||
          (!readsEachOnce(use) &&
           !(isSmall(value, reader) && reader.getNumReductionLoops() > 0)))
        return;
      readers.insert(reader);
    }
    for (Operation *reader : readers)
      brew::passes::fuseProducer(rewriter, cast<linalg::GenericOp>(reader),
                                 value, true);
  }

  /// Fuses the producer of `value` into `reader`, recursively down to tensors
  /// in `available` and tensors that cannot be recomputed. Returns the new
  /// nest.
  linalg::GenericOp fuseInto(Value value, Values available,
                             linalg::GenericOp reader, int depth,
                             bool isFullyFused = false) {
    Values inputs = value.getDefiningOp<linalg::GenericOp>().getDpsInputs();
    reader = brew::passes::fuseProducer(rewriter, reader, value, isFullyFused);
    for (Value input : inputs) {
      int64_t operations = 0;
      if (llvm::is_contained(available, input) || isSmall(input, reader))
        continue;
      if (depth > 0 &&
          extraBytesFor(input, available, reader, operations, depth - 1) == 0)
        reader = fuseInto(input, available, reader, depth - 1);
      else
        available.push_back(input);
    }
    return reader;
  }

  ProgramOp program;
  IRRewriter rewriter;
  double bytesPerOperation;
  bool isForGpu;
};

struct RematerializeProducers
    : brew::passes::impl::RematerializeProducersBase<RematerializeProducers> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    const bool isForGpu = brew::dialects::target::isForGpu(program);
    ProducerRematerializer(
        program,
        isForGpu ? brew::dialects::target::gpuOf(program).bytesPerOperation()
                 : brew::dialects::target::cpuOf(program).bytesPerOperation(),
        isForGpu)
        .run();
  }
};

} // namespace
