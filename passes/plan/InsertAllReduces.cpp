//===- InsertAllReduces.cpp - All-reduces of gradients --------------------===//
#include "dialects/Brew/layers/communication/Communication.h"
#include "dialects/Brew/layers/solver/Solver.h"
#include "dialects/SubviewType.h"
#include "dialects/Target/Interconnect.h"
#include "passes/Passes.h"
#include "passes/analysis/ParameterOffsets.h"
#include "passes/analysis/ValueStorage.h"
#include "plan/Contract.h"

#include "llvm/ADT/MapVector.h"

#include <cmath>

namespace brew::passes {
#define GEN_PASS_DEF_INSERTALLREDUCES
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// A gradient, stored for one or more parameters.
struct Gradient {
  Value value;
  int64_t readyStep = 0; ///< step that completes it
};

/// Gradients that are all-reduced together.
struct Bucket {
  SmallVector<Value> gradients;
  int64_t readyStep = 0;
  int64_t bytes = 0;
};

/// Divides gradients, sorted by completion, into buckets of at least `minBytes`
/// bytes; the last one may be smaller.
SmallVector<Bucket> divideIntoBuckets(ArrayRef<Gradient> gradients,
                                      int64_t minBytes) {
  SmallVector<Bucket> buckets;
  for (const Gradient &gradient : gradients) {
    if (buckets.empty() || buckets.back().bytes >= minBytes)
      buckets.emplace_back();
    Bucket &bucket = buckets.back();
    bucket.gradients.push_back(gradient.value);
    bucket.bytes += brew::passes::bytesOf(tensorTypeOf(gradient.value));
    bucket.readyStep = gradient.readyStep;
  }
  return buckets;
}

struct InsertAllReduces
    : brew::passes::impl::InsertAllReducesBase<InsertAllReduces> {
  using InsertAllReducesBase::InsertAllReducesBase;

  void runOnOperation() override {
    if (bucketBytes < 0) {
      getOperation().emitError("a bucket cannot have ")
          << int64_t(bucketBytes) << " bytes";
      return signalPassFailure();
    }
    Type element;
    for (auto program : getOperation().getOps<ProgramOp>()) {
      if (program.getRole() == ProgramRole::Reduce) {
        program.emitError("the gradients of this module are reduced already");
        return signalPassFailure();
      }
      if (program.getRole() == ProgramRole::ForwardBackward)
        if (failed(insertAllReduces(program, element)))
          return signalPassFailure();
      if (program.getRole() == ProgramRole::Update)
        reduceNonFiniteCount(program);
    }
    if (element)
      buildReduce(element);
  }

private:
  /// Returns the type in which gradients are sent, or null for their own type.
  TypeAttr wireTypeOf(Type element) {
    auto bf16 = BFloat16Type::get(&getContext());
    return reduceInBf16 && element.isF32() ? TypeAttr::get(bf16) : TypeAttr();
  }
  LogicalResult insertAllReduces(ProgramOp program, Type &element);
  void reduceNonFiniteCount(ProgramOp update);
  void buildReduce(Type element);
};

} // namespace

LogicalResult InsertAllReduces::insertAllReduces(ProgramOp program,
                                                 Type &element) {
  Block &block = program.getBody().front();
  // Number the all-reduces of layers first.
  int64_t layerAllReduces = 0;
  for (auto wait : block.getOps<AllReduceWaitOp>()) {
    IntegerAttr number =
        Builder(&getContext()).getI64IntegerAttr(layerAllReduces++);
    wait.getXs().front().getDefiningOp<AllReduceStartOp>().setBucketAttr(
        number);
    wait.setBucketAttr(number);
  }
  SmallVector<Operation *> steps;
  llvm::DenseMap<Operation *, int64_t> numberOf;
  for (Operation &op : block)
    if (brew::passes::isStep(&op)) {
      numberOf[&op] = steps.size();
      steps.push_back(&op);
    }
  // A value may be the gradient of several parameters. It is reduced once, even
  // if a kernel yields it once per parameter.
  llvm::MapVector<Value, SmallVector<StoreGradientOp>> stores;
  llvm::DenseMap<std::pair<Operation *, Value>, Value> yielded;
  for (auto store : block.getOps<StoreGradientOp>()) {
    Value value = store.getValue();
    if (auto kernel = value.getDefiningOp<KernelOp>()) {
      const unsigned number = cast<OpResult>(value).getResultNumber();
      value =
          yielded
              .try_emplace(
                  {kernel, kernel.getBody().front().getTerminator()->getOperand(
                               number)},
                  value)
              .first->second;
      store.getValueMutable().set(value);
    }
    stores[value].push_back(store);
  }
  if (stores.empty())
    return success();

  SmallVector<Gradient> gradients;
  int64_t total = 0;
  for (auto &[value, ops] : stores) {
    auto type = tensorTypeOf(value);
    if (!type.getElementType().isF32() && !type.getElementType().isF64())
      return ops.front().emitError("this gradient is of ")
             << type.getElementType() << ", which cannot be all-reduced";
    if (isSubview(type))
      return ops.front().emitError("this gradient is a slice of another "
                                   "tensor, which cannot be all-reduced");
    element = type.getElementType();
    total += brew::passes::bytesOf(type);
    // A value that no step computes is ready at step 0.
    Gradient gradient{value};
    Value owner = brew::passes::storageOf(value).base;
    auto waitForStep = [&](Operation *op) {
      if (auto found = numberOf.find(op); found != numberOf.end())
        gradient.readyStep = std::max(gradient.readyStep, found->second);
    };
    waitForStep(owner.getDefiningOp());
    gradients.push_back(gradient);
  }
  llvm::stable_sort(gradients, [](const Gradient &a, const Gradient &b) {
    return a.readyStep < b.readyStep;
  });

  // Minimize the time that no step hides for buckets of n bytes: the latency of
  // total / n all-reduces, and the transfer of the last bucket.
  int64_t minBytes = bucketBytes;
  if (!minBytes)
    minBytes = std::max<int64_t>(
        1,
        std::llround(std::sqrt(
            double(total) * brew::dialects::target::kAllReduceLatencySeconds *
            brew::dialects::target::kAllReduceBytesPerSecond)));

  auto waits = OpBuilder::atBlockEnd(&block);
  for (Operation &op : block)
    if (op.hasTrait<IsSink>()) {
      waits.setInsertionPoint(&op);
      break;
    }
  Operation *lastStart = nullptr;
  for (auto [number, bucket] :
       llvm::enumerate(divideIntoBuckets(gradients, minBytes))) {
    OpBuilder b(&getContext());
    Operation *after = steps.empty() ? nullptr : steps[bucket.readyStep];
    // Views come after the steps that compute their source.
    for (Value value : bucket.gradients)
      if (Operation *producer = value.getDefiningOp();
          !after || after->isBeforeInBlock(producer))
        after = producer;
    // Buckets start in order.
    if (lastStart && after->isBeforeInBlock(lastStart))
      after = lastStart;
    b.setInsertionPointAfter(after);
    SmallVector<Type> types =
        llvm::to_vector(ValueRange(bucket.gradients).getTypes());
    SmallVector<Location> locations;
    for (Value value : bucket.gradients)
      locations.push_back(value.getLoc());
    Location loc = b.getFusedLoc(locations);
    IntegerAttr index =
        b.getI64IntegerAttr(layerAllReduces + static_cast<int64_t>(number));
    auto start = AllReduceStartOp::create(b, loc, types, bucket.gradients,
                                          index, nullptr, wireTypeOf(element));
    lastStart = start;
    auto wait = AllReduceWaitOp::create(waits, loc, types, start.getYs(), index,
                                        nullptr);
    for (auto [value, sum] : llvm::zip_equal(bucket.gradients, wait.getYs()))
      for (StoreGradientOp store : stores[value])
        store.getValueMutable().assign(sum);
  }
  return success();
}

/// Reduces the count of non-finite gradients before the update. With loss
/// scaling, a non-finite gradient of one rank spoils the sum, so all ranks must
/// skip the update and halve the scale.
void InsertAllReduces::reduceNonFiniteCount(ProgramOp update) {
  SmallVector<ParamValueOp> counts;
  update.walk([&](ParamValueOp op) {
    if (op.getParam() == brew::plan::loss_scale::kNonFiniteGradients)
      counts.push_back(op);
  });
  if (counts.empty())
    return;
  // One all-reduce serves all reads.
  Value localCount = counts.front();
  OpBuilder b(&getContext());
  b.setInsertionPointAfter(counts.front());
  IntegerAttr index = b.getI64IntegerAttr(0);
  auto start =
      AllReduceStartOp::create(b, localCount.getLoc(), localCount.getType(),
                               localCount, index, b.getUnitAttr(), nullptr);
  auto wait =
      AllReduceWaitOp::create(b, localCount.getLoc(), localCount.getType(),
                              start.getYs(), index, b.getUnitAttr());
  for (ParamValueOp count : counts)
    count.getResult().replaceAllUsesExcept(wait.getYs()[0], start);
}

/// Builds the program that reduces accumulated gradients of several batches:
/// the full arena in one bucket, because there is no computation to overlap
/// with.
void InsertAllReduces::buildReduce(Type element) {
  ModuleOp module = getOperation();
  Location loc = module.getLoc();
  int64_t bytes = brew::passes::ParameterOffsets(module).size;
  auto type = RankedTensorType::get(
      {bytes * 8 / element.getIntOrFloatBitWidth()}, element);
  auto b = OpBuilder::atBlockEnd(module.getBody());
  auto program = ProgramOp::create(b, loc, programName(ProgramRole::Reduce),
                                   NetPhase::Train, ProgramRole::Reduce,
                                   nullptr, nullptr, nullptr, false);
  b.createBlock(&program.getBody());
  Value all = AllGradientsOp::create(b, loc, type, false);
  IntegerAttr index = b.getI64IntegerAttr(0);
  auto start =
      AllReduceStartOp::create(b, loc, TypeRange{type}, ValueRange{all}, index,
                               nullptr, wireTypeOf(element));
  auto wait = AllReduceWaitOp::create(b, loc, TypeRange{type}, start.getYs(),
                                      index, nullptr);
  StoreAllGradientsOp::create(b, loc, wait.getYs()[0], false);
}
