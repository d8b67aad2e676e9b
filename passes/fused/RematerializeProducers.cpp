//===- RematerializeProducers.cpp - Values computed again where they are read -----===//
//
// A value that costs a few operations per element is worth no memory: each nest
// that reads it computes it again, from tensors that it mostly reads anyway. A
// normalised blob is not stored (the backward pass makes it from the bottom and
// the statistics), nor is the mask of a ReLU, nor a gradient between two layers
// that work element by element.
//
// Upstream's pass over producers and consumers fuses every pair it is allowed
// to and keeps the producer's result as one of the fused nest. Here one
// decision is about all readers of a value at once, so this pass clones the
// producer for each of them and has upstream fuse the clone.
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

/// Operations of a body beyond which it is always stored.
constexpr int64_t kMostOperations = 32;
/// Producers of producers that one reader computes again.
constexpr int kDepth = 6;
/// Iterations of a nest for each element of what it reads at next to no cost.
constexpr int64_t kReuse = 64;

int64_t bytesOf(Value value) { return brew::passes::bytesOf(tensorTypeOf(value)); }

/// Operations of an iteration; too many where one is dear.
int64_t operationsOf(linalg::GenericOp nest) {
  int64_t count = 0;
  for (Operation &op : nest.getBody()->without_terminator()) {
    if (isa<linalg::IndexOp>(op) || op.hasTrait<OpTrait::ConstantLike>())
      continue;
    if (op.getDialect()->getNamespace() == "math" || isa<arith::DivFOp>(op))
      return kMostOperations + 1;
    ++count;
  }
  return count;
}

/// Operations of an iteration, of any nest.
int64_t weightOf(linalg::GenericOp nest) {
  int64_t count = 0;
  for (Operation &op : nest.getBody()->without_terminator())
    count += op.getDialect()->getNamespace() == "math" ? 10
             : isa<linalg::IndexOp>(op) || op.hasTrait<OpTrait::ConstantLike>()
                 ? 0
                 : 1;
  return count;
}

bool extracts(linalg::GenericOp nest) {
  return nest.getBody()
      ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// The nest that computes `value` element by element, if it is cheap.
linalg::GenericOp cheapProducer(Value value) {
  auto nest = value.getDefiningOp<linalg::GenericOp>();
  if (!nest || nest->getNumResults() != 1 ||
      nest.getNumParallelLoops() != nest.getNumLoops() ||
      operationsOf(nest) > kMostOperations)
    return {};
  OpOperand *init = nest.getDpsInitOperand(0);
  return nest.getMatchingIndexingMap(init).isPermutation() &&
                 !nest.payloadUsesValueFromOperand(init)
             ? nest
             : linalg::GenericOp();
}

/// Whether `use` is a nest's, which reads one element in each of its
/// iterations.
bool readsEachOnce(OpOperand &use) {
  auto nest = dyn_cast<linalg::GenericOp>(use.getOwner());
  return nest && nest.isDpsInput(&use) &&
         nest.getMatchingIndexingMap(&use).isPermutation();
}

class Cloning {
public:
  Cloning(ProgramOp program, double bytesPerOperation, bool isForGpu)
      : program(program), rewriter(program.getContext()),
        bytesPerOperation(bytesPerOperation), isForGpu(isForGpu) {}

  void run() {
    // Producers first: what they read is then as it will be. Fusing makes the
    // nests anew, so they are found by what they stand before.
    Block &block = program.getBody().front();
    for (Operation *op = block.empty() ? nullptr : &block.front(); op;
         op = op->getNextNode()) {
      auto nest = dyn_cast<linalg::GenericOp>(op);
      if (!nest || !cheapProducer(nest->getResult(0)))
        continue;
      if (!extracts(nest))
        clone(nest);
      else if (isForGpu)
        cloneProbe(nest);
    }
    brew::passes::eraseDeadNests(rewriter, block);
  }

private:
  using Values = SmallVector<Value>;

  static bool isSmall(Value value, linalg::GenericOp reader) {
    return !isa<RankedTensorType>(value.getType()) ||
           countOf(shapeOf(value)) * kReuse <=
               countOf(reader.getStaticLoopRanges());
  }

  /// Bytes that `reader`, which reads `had`, reads more to have `value`; 0 if
  /// it can compute it, which takes so many more `operations`.
  int64_t costOf(Value value, ArrayRef<Value> had, linalg::GenericOp reader,
                 int64_t &operations, int depth = kDepth) const {
    if (llvm::is_contained(had, value) || isSmall(value, reader))
      return 0;
    linalg::GenericOp nest = cheapProducer(value);
    if (!nest || depth == 0 || extracts(nest))
      return bytesOf(value);
    int64_t more = operationsOf(nest);
    for (OpOperand *input : nest.getDpsInputOperands())
      if (!readsEachOnce(*input) && !isSmall(input->get(), reader))
        return bytesOf(value);
      else if (costOf(input->get(), had, reader, more, depth - 1) > 0)
        return bytesOf(value);
    operations += more;
    return 0;
  }

  /// What `reader` costs more, in bytes, when it computes `nest`'s result.
  /// Operations are free as long as memory takes longer.
  double differenceFor(linalg::GenericOp nest, linalg::GenericOp reader) const {
    Value value = nest->getResult(0);
    Values had = otherInputs(reader, value);
    int64_t before = bytesOf(value), operations = operationsOf(nest), after = 0;
    for (Value input : nest.getDpsInputs()) {
      int64_t more = costOf(input, had, reader, operations);
      after += more;
      if (more > 0)
        had.push_back(input);
    }
    int64_t others = 0;
    SetVector<Value> tensors;
    tensors.insert_range(otherInputs(reader, value));
    tensors.insert_range(reader->getResults());
    for (Value tensor : tensors)
      if (isa<RankedTensorType>(tensor.getType()))
        others += bytesOf(tensor);
    auto time = [&](int64_t bytes, int64_t operations) {
      return std::max(
          static_cast<double>(others + bytes),
          static_cast<double>(operations) * bytesPerOperation *
              static_cast<double>(countOf(reader.getStaticLoopRanges())));
    };
    int64_t own = weightOf(reader);
    return time(after, own + operations) - time(before, own);
  }

  static Values otherInputs(linalg::GenericOp reader, Value value) {
    Values inputs = reader.getDpsInputs();
    llvm::erase(inputs, value);
    return inputs;
  }

  void clone(linalg::GenericOp nest) {
    Value value = nest->getResult(0);
    SetVector<Operation *> readers;
    SmallVector<Operation *> others;
    for (OpOperand &use : value.getUses())
      if (readsEachOnce(use))
        readers.insert(use.getOwner());
      else
        others.push_back(use.getOwner());
    for (Operation *other : others)
      readers.remove(other);
    double all = others.empty() ? -static_cast<double>(bytesOf(value)) : 0;
    SmallVector<double> differences;
    for (Operation *reader : readers)
      all += differences.emplace_back(
          differenceFor(nest, cast<linalg::GenericOp>(reader)));
    const bool isForAll = others.empty() && all < 0;
    if (!isForAll &&
        storeInReader(nest, readers.getArrayRef(), others, differences))
      return;
    for (auto [reader, difference] : llvm::zip(readers, differences))
      if (isForAll || difference < 0) {
        auto computing = cast<linalg::GenericOp>(reader);
        compute(value, otherInputs(computing, value), computing, kDepth,
                isForAll);
      }
  }

  /// Bytes that `nest` reads, but for what is small.
  static double readBy(linalg::GenericOp nest) {
    double bytes = 0;
    for (Value input : nest.getDpsInputs())
      if (!isSmall(input, nest))
        bytes += static_cast<double>(bytesOf(input));
    return bytes;
  }

  /// Lets one of the nests that read a value store it, if the bytes that the
  /// nest which only makes it has read are more than what this costs. Readers
  /// before that one compute the value themselves, so they cost their
  /// `differences`; a first reader that needs nothing between shares a kernel
  /// with the maker anyway.
  bool storeInReader(linalg::GenericOp nest, ArrayRef<Operation *> readers,
                     ArrayRef<Operation *> others,
                     ArrayRef<double> differences) {
    auto order = llvm::to_vector(
        llvm::seq<unsigned>(0, static_cast<unsigned>(readers.size())));
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return readers[a]->isBeforeInBlock(readers[b]);
    });
    double before = 0, least = 0;
    for (double difference : differences)
      least += std::min(difference, 0.0);
    std::optional<unsigned> chosen;
    for (auto [i, number] : llvm::enumerate(order)) {
      double all = before + differences[number] - readBy(nest);
      for (unsigned later : ArrayRef(order).drop_front(i + 1))
        all += std::min(differences[later], 0.0);
      before += differences[number];
      if (i == 0 || all >= least ||
          !canStore(nest, cast<linalg::GenericOp>(readers[number]), others))
        continue;
      least = all;
      chosen = i;
    }
    if (!chosen)
      return false;
    const Value value = nest->getResult(0);
    for (auto [i, number] : llvm::enumerate(order)) {
      auto reader = cast<linalg::GenericOp>(readers[number]);
      if (i != *chosen && (i < *chosen || differences[number] < 0))
        compute(value, otherInputs(reader, value), reader, kDepth);
    }
    storeIn(cast<linalg::GenericOp>(readers[order[*chosen]]), value);
    return true;
  }

  /// Lets `reader` compute and store `value`, unless something that could not
  /// compute it itself reads it before that.
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

  /// The operation of a nest's block that `op` is, or is in.
  static Operation *inBlockOf(linalg::GenericOp nest, Operation *op) {
    return nest->getBlock()->findAncestorOpInBlock(*op);
  }

  /// Whether `reader` can make the only place of what `nest` computes.
  static bool canStore(linalg::GenericOp nest, linalg::GenericOp reader,
                       ArrayRef<Operation *> others) {
    return reader.getNumReductionLoops() == 0 && !extracts(reader) &&
           Origin::of(nest).isBackward == Origin::of(reader).isBackward &&
           llvm::count(reader.getDpsInputs(), nest->getResult(0)) == 1 &&
           llvm::all_of(others, [&](Operation *other) {
             return reader->isBeforeInBlock(inBlockOf(reader, other));
           });
  }

  /// A few elements that a sum begins with are not worth a launch.
  void cloneProbe(linalg::GenericOp nest) {
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

  /// Lets `reader` compute `value` from what it `had` and what cannot be
  /// computed. Returns the nest that is there now.
  linalg::GenericOp compute(Value value, Values had, linalg::GenericOp reader,
                            int depth, bool isFullyFused = false) {
    Values inputs = value.getDefiningOp<linalg::GenericOp>().getDpsInputs();
    reader = brew::passes::fuseProducer(rewriter, reader, value, isFullyFused);
    for (Value input : inputs) {
      int64_t operations = 0;
      if (llvm::is_contained(had, input) || isSmall(input, reader))
        continue;
      if (depth > 0 && costOf(input, had, reader, operations, depth - 1) == 0)
        reader = compute(input, had, reader, depth - 1);
      else
        had.push_back(input);
    }
    return reader;
  }

  ProgramOp program;
  IRRewriter rewriter;
  double bytesPerOperation;
  bool isForGpu;
};

struct RematerializeProducers : brew::passes::impl::RematerializeProducersBase<RematerializeProducers> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      const bool isForGpu = brew::dialects::target::isForGpu(program);
      Cloning(program,
              isForGpu
                  ? brew::dialects::target::gpuOf(program).bytesPerOperation()
                  : brew::dialects::target::cpuOf(program).bytesPerOperation(),
              isForGpu)
          .run();
    }
  }
};

} // namespace
