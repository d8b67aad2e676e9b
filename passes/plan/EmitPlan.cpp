//===- EmitPlan.cpp - The steps of a planned program ----------------------===//
#include "passes/plan/EmitPlan.h"

#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/communication/Communication.h"
#include "dialects/Brew/layers/external/External.h"
#include "dialects/SubviewType.h"
#include "passes/analysis/FuseKernels.h"
#include "passes/analysis/LibraryCalls.h"
#include "passes/analysis/ValueStorage.h"
#include "passes/plan/PlanSubviews.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace brew;
using namespace brew::passes;
using namespace brew::dialects;

namespace {

class PlanEmitter {
public:
  PlanEmitter(ProgramOp program, const BufferAssignment &roots, OpBuilder &b,
              llvm::StringMap<int> &kernelNames)
      : program(program), roots(roots), b(b), kernelNames(kernelNames) {}

  FailureOr<dialects::plan::ProgramOp> run();

private:
  Value buffer(Value value);
  Value unpadded(Value whole, int64_t channels);
  void emitFeed(DataInputOp feed);
  void emitLaunch(KernelOp kernel, dialects::plan::ProgramOp plan);
  LogicalResult emitCall(PlanStepInterface call);
  void emitCopies(int64_t step);
  LogicalResult emitSteps(dialects::plan::ProgramOp plan);
  LogicalResult emitSinks();
  dialects::plan::KernelOp outline(KernelOp kernel,
                                   dialects::plan::ProgramOp plan);
  const std::string &uniqueName(Value owner);

  ProgramOp program;
  const BufferAssignment &roots;
  OpBuilder &b;
  llvm::StringMap<int> &kernelNames;
  llvm::DenseMap<Value, Value> buffers;
  llvm::StringMap<int> names;
  llvm::DenseMap<Value, std::string> valueNames;
  bool isBackward = false; ///< whether the last step is one of backward
};

} // namespace

/// A name that a reader of reports recognises: the blob's, or the layer's.
static std::string nameOf(Value value) {
  for (Operation *user : value.getUsers())
    if (auto keep = dyn_cast<PinOp>(user)) {
      std::string blob = keep.getBlob().str();
      switch (keep.getWhat()) {
      case dialects::plan::BlobValue::Data:
        return blob;
      case dialects::plan::BlobValue::Count:
        return blob + ".count";
      case dialects::plan::BlobValue::Diff:
        return blob + ".diff";
      }
    }
  Operation *op = value.getDefiningOp();
  if (auto seed = dyn_cast<OutputGradientOp>(op))
    return (seed.getBlob() + ".seed").str();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto tops = op->getAttrOfType<ArrayAttr>("tops"))
    if (number < tops.size() && !cast<StringAttr>(tops[number]).empty())
      return cast<StringAttr>(tops[number]).str();
  if (auto kernel = dyn_cast<KernelOp>(op))
    return (kernel.getName() + "." + std::to_string(number)).str();
  if (auto param = dyn_cast<ParamValueOp>(op))
    return (param.getParam() + ".before").str();
  if (auto layer = op->getAttrOfType<StringAttr>("layer"))
    return (layer.getValue() + "." +
            op->getName().getStringRef().split('.').second)
        .str();
  if (isa<AllReduceStartOp>(op))
    if (StringAttr layer = Origin::of(op).layer)
      return (layer.getValue() + ".all_reduce." + std::to_string(number)).str();
  return "value";
}

const std::string &PlanEmitter::uniqueName(Value owner) {
  std::string &name = valueNames[owner];
  if (!name.empty())
    return name;
  const std::optional<FixedBuffer> &fixed = roots.of(owner).fixed;
  bool isWhole = storageOf(owner).owner == owner;
  name = fixed && isWhole ? fixed->name : nameOf(owner);
  if (fixed && isWhole)
    return name;
  if (int repeat = names[name]++)
    name += "#" + std::to_string(repeat);
  return name;
}

Value PlanEmitter::buffer(Value value) {
  // Sums over ranks that layers wait for stay where they are on their way to.
  if (auto wait = value.getDefiningOp<AllReduceWaitOp>();
      wait && wait.getStatistic())
    return buffer(wait.getXs()[cast<OpResult>(value).getResultNumber()]);
  Value &known = buffers[value];
  if (known)
    return known;
  const Allocation &root = roots.of(value);
  // A view of another shape has the name of what it views.
  Value owner = stripReshapes(value);
  std::string name = uniqueName(owner);
  DenseI64ArrayAttr live;
  if (!root.fixed)
    live = b.getDenseI64ArrayAttr(
        {root.live.first,
         std::min(root.live.last, std::max<int64_t>(roots.steps() - 1, 0))});
  Place place = storageOf(value);
  int64_t start = root.fixed ? root.fixed->offset : root.live.offset;
  auto buffer = dialects::plan::BufferOp::create(
      b, value.getLoc(), memrefTypeOf(tensorTypeOf(value)), name,
      root.fixed ? root.fixed->arena : root.arena,
      start + place.offset * (tensorTypeOf(value).getElementTypeBitWidth() / 8),
      live,
      // An earlier value in the same bytes may be overwritten in place.
      !root.fixed && roots.isPinned(owner), nullptr);
  if (isSubview(tensorTypeOf(owner)))
    buffer->setAttr(brew::passes::kBaseAttr,
                    b.getArrayAttr({b.getStringAttr(uniqueName(place.owner)),
                                    b.getI64IntegerAttr(start)}));
  known = buffer;
  return known;
}

dialects::plan::KernelOp PlanEmitter::outline(KernelOp kernel,
                                              dialects::plan::ProgramOp plan) {
  OpBuilder outer(plan);
  // A number behind one name may make another layer's name, so every candidate
  // is looked up.
  std::string name = kernel.getName().str();
  while (!kernelNames.try_emplace(name, 1).second)
    name = (kernel.getName() + "_" +
            std::to_string(kernelNames[kernel.getName()]++))
               .str();
  auto outlined = dialects::plan::KernelOp::create(
      outer, kernel.getLoc(), name,
      outer.getDenseI64ArrayAttr(roots.inPlaceOf(kernel)),
      kernel.getLayersAttr() ? kernel.getLayersAttr() : outer.getArrayAttr({}),
      nullptr);
  IRMapping map;
  kernel.getBody().cloneInto(&outlined.getBody(), map);
  return outlined;
}

/// The channels of a feed's first buffer that are its top's: layers read the
/// others, which are zeros, too.
Value PlanEmitter::unpadded(Value whole, int64_t channels) {
  auto buffer = whole.getDefiningOp<dialects::plan::BufferOp>();
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> shape(type.getShape()), strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    llvm_unreachable("buffers have strides");
  const int64_t padded = std::exchange(shape[1], channels);
  return dialects::plan::BufferOp::create(
      b, buffer.getLoc(),
      MemRefType::get(shape, type.getElementType(),
                      StridedLayoutAttr::get(b.getContext(), offset, strides)),
      buffer.getName(), buffer.getArena(), buffer.getOffset(),
      buffer.getLiveAttr(), buffer.getPinned(), b.getI64IntegerAttr(padded));
}

void PlanEmitter::emitFeed(DataInputOp feed) {
  SmallVector<Value> tops;
  for (Value value : feed.getValues())
    tops.push_back(buffer(value));
  if (auto channels = feed.getChannels())
    tops[0] = unpadded(tops[0], *channels);
  dialects::plan::DataInputOp::create(b, feed.getLoc(), feed.getLayerAttr(),
                                 feed.getKindAttr(), feed.getConfigAttr(),
                                 feed.getFolderAttr(), tops, nullptr, nullptr);
}

void PlanEmitter::emitLaunch(KernelOp kernel, dialects::plan::ProgramOp plan) {
  SmallVector<Value> arguments;
  for (Value input : kernel.getInputs())
    arguments.push_back(buffer(input));
  for (Value result : kernel.getOutputs())
    arguments.push_back(buffer(result));
  dialects::plan::LaunchOp::create(
      b, kernel.getLoc(), outline(kernel, plan).getSymName(), arguments,
      kernel.getLayersAttr(), isBackward, nullptr, isRematerialized(kernel));
}

LogicalResult PlanEmitter::emitCall(PlanStepInterface call) {
  Operation *built =
      call.buildPlanStep(b, [&](Value value) { return buffer(value); });
  auto step = dyn_cast_or_null<dialects::plan::StepInterface>(built);
  if (!step)
    return call.emitError("phase plan: this call has no step");
  if (auto generated = call->getAttrOfType<dialects::plan::GeneratedAttr>(
          brew::passes::kGeneratedAttr))
    cast<dialects::plan::ConvolutionOp>(built).setGeneratedAttr(generated);
  if (auto layer = call->getAttrOfType<StringAttr>("layer"))
    step.setLayersAttr(b.getStrArrayAttr({layer.getValue()}));
  else if (StringAttr layer = Origin::of(call).layer;
           layer && isa<AllReduceStartOp, AllReduceWaitOp>(call.getOperation()))
    step.setLayersAttr(b.getStrArrayAttr({layer.getValue()}));
  step.setBackward(isBackward);
  step.setRematerialized(Origin::of(call).isRematerialized);
  step.setFlopsAttr(b.getI64IntegerAttr(call.countFlops()));
  return success();
}

/// The layers that compute a value; null if none is known.
static ArrayAttr layersOf(OpBuilder &b, Value value) {
  Operation *op = storageOf(value).owner.getDefiningOp();
  if (auto kernel = dyn_cast<KernelOp>(op))
    return kernel.getLayersAttr();
  if (StringAttr layer = Origin::of(op).layer)
    return b.getStrArrayAttr({layer.getValue()});
  return nullptr;
}

/// Copies between values and parameters that stand before a step. A store
/// belongs to the layers that compute the value: whoever runs them alone
/// (Session::runLayers) stores it too. A load has no layer, and so belongs to
/// the step that follows.
void PlanEmitter::emitCopies(int64_t step) {
  auto place = [&](const PlannedCopy &copy) -> Value {
    return dialects::plan::BufferOp::create(
        b, copy.value.getLoc(), memrefTypeOf(tensorTypeOf(copy.value)), copy.place.name,
        copy.place.arena, copy.place.offset, nullptr, false, nullptr);
  };
  auto emit = [&](const PlannedCopy &copy, Value from, Value to,
                  ArrayAttr layers) {
    dialects::plan::CopyOp::create(b, copy.value.getLoc(), from, to, layers,
                                   copy.isBackward, nullptr);
  };
  for (const PlannedCopy &copy : roots.loads())
    if (copy.step == step)
      emit(copy, place(copy), buffer(copy.value), nullptr);
  for (bool backward : {false, true})
    for (const PlannedCopy &copy : roots.stores())
      if (copy.step == step && copy.isBackward == backward)
        emit(copy, buffer(copy.value), place(copy), layersOf(b, copy.value));
}

LogicalResult PlanEmitter::emitSteps(dialects::plan::ProgramOp plan) {
  int64_t step = 0;
  for (Operation &op : program.getBody().front()) {
    if (isStep(&op)) {
      emitCopies(step);
      isBackward = step++ >= roots.forwardStepCount();
    }
    auto kernel = dyn_cast<KernelOp>(op);
    if (kernel) {
      emitLaunch(kernel, plan);
    } else if (auto feed = dyn_cast<DataInputOp>(op)) {
      emitFeed(feed);
    } else if (auto seed = dyn_cast<OutputGradientOp>(op)) {
      dialects::plan::OutputGradientOp::create(
          b, seed.getLoc(), buffer(seed.getGradient()), seed.getBlobAttr());
    } else if (auto call = dyn_cast<PlanStepInterface>(op)) {
      if (failed(emitCall(call)))
        return failure();
    } else if (!op.hasTrait<IsView>() && !op.hasTrait<IsPersistentRead>() &&
               !op.hasTrait<IsSink>()) {
      return op.emitError("phase plan: this operation is no step");
    }
  }
  emitCopies(step);
  return success();
}

LogicalResult PlanEmitter::emitSinks() {
  for (Operation &op : program.getBody().front()) {
    // What is stored has been made, or copied, where it belongs.
    if (!op.hasTrait<IsSink>() || op.hasTrait<IsStore>())
      continue;
    if (auto output = dyn_cast<OutputOp>(op))
      dialects::plan::OutputOp::create(
          b, op.getLoc(), buffer(output.getValue()), output.getBlobAttr(),
          output.getLossWeightAttr(), output.getUnreportedAttr());
    else if (auto keep = dyn_cast<PinOp>(op))
      dialects::plan::PinOp::create(b, op.getLoc(), buffer(keep.getValue()),
                                     keep.getWhat(), keep.getBlob());
    else if (auto keep = dyn_cast<PinLayerValueOp>(op))
      dialects::plan::PinLayerValueOp::create(
          b, op.getLoc(), buffer(keep.getValue()), keep.getWhat(),
          keep.getLayer(), keep.getIndex());
    else if (auto check = dyn_cast<CheckLabelsOp>(op))
      dialects::plan::CheckLabelsOp::create(
          b, op.getLoc(), buffer(check.getStatus()), buffer(check.getLabels()),
          check.getLimitAttr(), check.getLayerAttr(), check.getBlobAttr());
    else
      return op.emitError("phase plan: nothing takes what ends here");
  }
  return success();
}

FailureOr<dialects::plan::ProgramOp> PlanEmitter::run() {
  auto plan = dialects::plan::ProgramOp::create(
      b, program.getLoc(), program.getSymName(),
      program.getNetPhase() == NetPhase::Test, program.getBlobsAttr(),
      program.getParamsAttr(), roots.arenaBytes, roots.lowerBoundBytes,
      program.getCaffeBytes().value_or(0));
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&plan.getBody());
  if (failed(emitSteps(plan)) || failed(emitSinks()))
    return failure();
  return plan;
}

FailureOr<dialects::plan::ProgramOp>
brew::passes::emitPlan(ProgramOp program, const BufferAssignment &roots, OpBuilder &b,
                       llvm::StringMap<int> &kernelNames) {
  return PlanEmitter(program, roots, b, kernelNames).run();
}
