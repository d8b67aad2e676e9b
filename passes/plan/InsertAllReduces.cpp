//===- InsertAllReduces.cpp - Sums of gradients over all ranks -------------===//
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

/// A stored gradient, whatever it is stored for.
struct Gradient {
  Value value;
  int64_t ready = 0; ///< step behind which it is there
};

struct Bucket {
  SmallVector<Value> gradients;
  int64_t ready = 0;
  int64_t bytes = 0;
};

/// The buckets of one program: gradients in the order in which steps finish
/// them, each bucket closed by the one that fills it.
SmallVector<Bucket> bucketsOf(ArrayRef<Gradient> gradients, int64_t most) {
  SmallVector<Bucket> buckets;
  for (const Gradient &gradient : gradients) {
    if (buckets.empty() || buckets.back().bytes >= most)
      buckets.emplace_back();
    Bucket &bucket = buckets.back();
    bucket.gradients.push_back(gradient.value);
    bucket.bytes += brew::passes::bytesOf(tensorTypeOf(gradient.value));
    bucket.ready = gradient.ready;
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
        if (failed(place(program, element)))
          return signalPassFailure();
      if (program.getRole() == ProgramRole::Update)
        shareNonFiniteCount(program);
    }
    if (element)
      buildReduce(element);
  }

private:
  /// The type in which gradients travel, if not their own.
  TypeAttr wireOf(Type element) {
    auto narrow = BFloat16Type::get(&getContext());
    return halfWire && element.isF32() ? TypeAttr::get(narrow) : TypeAttr();
  }
  LogicalResult place(ProgramOp program, Type &element);
  void shareNonFiniteCount(ProgramOp update);
  void buildReduce(Type element);
};

} // namespace

LogicalResult InsertAllReduces::place(ProgramOp program, Type &element) {
  Block &block = program.getBody().front();
  // Sums that layers have asked for come first.
  int64_t statistics = 0;
  for (auto wait : block.getOps<AllReduceWaitOp>()) {
    IntegerAttr number = Builder(&getContext()).getI64IntegerAttr(statistics++);
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
  // One value may be the gradient of several parameters, and is added up once,
  // also where a kernel yields it for each.
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
             << type.getElementType() << ", which is not added up over ranks";
    if (isSubview(type))
      return ops.front().emitError(
          "this gradient is part of another tensor, which is not added up "
          "over ranks");
    element = type.getElementType();
    total += brew::passes::bytesOf(type);
    // What is no result of a step is there from the start.
    Gradient gradient{value};
    Value owner = brew::passes::storageOf(value).owner;
    auto done = [&](Operation *op) {
      if (auto found = numberOf.find(op); found != numberOf.end())
        gradient.ready = std::max(gradient.ready, found->second);
    };
    done(owner.getDefiningOp());
    gradients.push_back(gradient);
  }
  llvm::stable_sort(gradients, [](const Gradient &a, const Gradient &b) {
    return a.ready < b.ready;
  });

  // Seconds that no step hides: those of beginning total / n buckets, and the
  // transfer of the last one of n bytes. The sum is least for this n.
  int64_t most = bucketBytes;
  if (!most)
    most = std::max<int64_t>(
        1, std::llround(
               std::sqrt(double(total) * brew::dialects::target::kAllReduceLatencySeconds *
                         brew::dialects::target::kAllReduceBytesPerSecond)));

  auto waits = OpBuilder::atBlockEnd(&block);
  for (Operation &op : block)
    if (op.hasTrait<IsSink>()) {
      waits.setInsertionPoint(&op);
      break;
    }
  Operation *lastStart = nullptr;
  for (auto [number, bucket] : llvm::enumerate(bucketsOf(gradients, most))) {
    OpBuilder b(&getContext());
    Operation *behind = steps.empty() ? nullptr : steps[bucket.ready];
    // Views of what the steps make stand behind them.
    for (Value value : bucket.gradients)
      if (Operation *made = value.getDefiningOp();
          !behind || behind->isBeforeInBlock(made))
        behind = made;
    // Buckets are started in their order.
    if (lastStart && behind->isBeforeInBlock(lastStart))
      behind = lastStart;
    b.setInsertionPointAfter(behind);
    SmallVector<Type> types =
        llvm::to_vector(ValueRange(bucket.gradients).getTypes());
    SmallVector<Location> places;
    for (Value value : bucket.gradients)
      places.push_back(value.getLoc());
    Location loc = b.getFusedLoc(places);
    IntegerAttr index =
        b.getI64IntegerAttr(statistics + static_cast<int64_t>(number));
    auto start = AllReduceStartOp::create(b, loc, types, bucket.gradients,
                                          index, nullptr, wireOf(element));
    lastStart = start;
    auto wait = AllReduceWaitOp::create(waits, loc, types, start.getYs(), index,
                                        nullptr);
    for (auto [value, sum] : llvm::zip_equal(bucket.gradients, wait.getYs()))
      for (StoreGradientOp store : stores[value])
        store.getValueMutable().assign(sum);
  }
  return success();
}

/// With a scale of losses a gradient of one rank that is not finite spoils the
/// sum, so that all ranks leave the update out and halve the scale: what they
/// count is added up in front of it.
void InsertAllReduces::shareNonFiniteCount(ProgramOp update) {
  SmallVector<ParamValueOp> counts;
  update.walk([&](ParamValueOp op) {
    if (op.getParam() == brew::plan::loss_scale::kNonFiniteGradients)
      counts.push_back(op);
  });
  if (counts.empty())
    return;
  // One is enough for all that read it.
  Value own = counts.front();
  OpBuilder b(&getContext());
  b.setInsertionPointAfter(counts.front());
  IntegerAttr index = b.getI64IntegerAttr(0);
  auto start = AllReduceStartOp::create(b, own.getLoc(), own.getType(), own,
                                        index, b.getUnitAttr(), nullptr);
  auto wait = AllReduceWaitOp::create(b, own.getLoc(), own.getType(),
                                      start.getYs(), index, b.getUnitAttr());
  for (ParamValueOp count : counts)
    count.getResult().replaceAllUsesExcept(wait.getYs()[0], start);
}

/// For iterations of several batches, whose gradients are added up before: all
/// of the arena as one bucket, since nothing runs beside it.
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
                               nullptr, wireOf(element));
  auto wait = AllReduceWaitOp::create(b, loc, TypeRange{type}, start.getYs(),
                                      index, nullptr);
  StoreAllGradientsOp::create(b, loc, wait.getYs()[0], false);
}
