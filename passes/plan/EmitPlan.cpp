//===- EmitPlan.cpp - Emission of a program as a plan ---------------------===//
#include "passes/plan/EmitPlan.h"
#include "passes/analysis/LayerPrograms.h"

#include "dialects/Brew/Origin.h"
#include "dialects/Brew/RandomBits.h"
#include "dialects/Brew/layers/communication/Communication.h"
#include "dialects/Brew/layers/external/External.h"
#include "dialects/SubviewType.h"
#include "passes/analysis/FuseKernels.h"
#include "passes/analysis/LibraryCalls.h"
#include "passes/analysis/ValueStorage.h"
#include "passes/plan/LoopMemory.h"
#include "passes/plan/PlanSubviews.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace brew;
using namespace brew::passes;
using namespace brew::dialects;

namespace {

class PlanEmitter {
public:
  PlanEmitter(ProgramOp program, const BufferAssignment &assignment,
              OpBuilder &b, llvm::StringMap<int> &symbolUses)
      : program(program), assignment(assignment), b(b), symbolUses(symbolUses) {
  }

  FailureOr<dialects::plan::ProgramOp> run();

private:
  /// Returns the buffer of `value`, which it creates at the first call.
  Value bufferOf(Value value);
  Value unpadded(Value padded, int64_t channels);
  void emitDataInput(DataInputOp dataInput);
  void emitLaunch(KernelOp kernel, dialects::plan::ProgramOp plan);
  LogicalResult emitCall(PlanStepInterface call,
                         llvm::function_ref<Value(Value)> buffer);
  LogicalResult emitLoop(LoopOp loop, dialects::plan::ProgramOp plan);
  Value firstBufferOf(Value value, const LoopMemory &memory);
  void emitCopies(int64_t step);
  LogicalResult emitSteps(dialects::plan::ProgramOp plan);
  LogicalResult emitSinks();
  dialects::plan::KernelOp outlineKernel(KernelOp kernel,
                                         ArrayRef<int64_t> inPlace,
                                         dialects::plan::ProgramOp plan);
  const std::string &uniqueName(Value owner);

  ProgramOp program;
  const BufferAssignment &assignment;
  OpBuilder &b;
  llvm::StringMap<int> &symbolUses;
  llvm::DenseMap<Value, Value> buffers;
  llvm::StringMap<int> nameUses;
  llvm::DenseMap<Value, std::string> valueNames;
  /// Whether the last step belongs to the backward pass.
  bool isBackward = false;
};

} // namespace

/// Returns a recognizable name for reports, made from the name of the blob or
/// the layer.
static std::string nameOf(Value value) {
  for (Operation *user : value.getUsers())
    if (auto pin = dyn_cast<PinOp>(user)) {
      std::string blob = pin.getBlob().str();
      switch (pin.getKind()) {
      case dialects::plan::BlobValue::Data:
        return blob;
      case dialects::plan::BlobValue::Count:
        return blob + ".count";
      case dialects::plan::BlobValue::Diff:
        return blob + ".diff";
      }
    }
  Operation *op = value.getDefiningOp();
  if (auto outputGradient = dyn_cast<OutputGradientOp>(op))
    return (outputGradient.getBlob() + ".output_gradient").str();
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

/// Returns the name of the stream of a key: its layer's, with the number of a
/// further key.
static std::string keyName(RandomKeyOp key) {
  std::string name = key.getLayer().str();
  if (auto number = key->getAttrOfType<IntegerAttr>(kKeyNumberAttr))
    name += "/" + std::to_string(number.getInt());
  return name;
}

const std::string &PlanEmitter::uniqueName(Value owner) {
  std::string &name = valueNames[owner];
  if (!name.empty())
    return name;
  const std::optional<FixedBuffer> &fixed = assignment.of(owner).fixed;
  bool isFullTensor = storageOf(owner).base == owner;
  name = fixed && isFullTensor ? fixed->name : nameOf(owner);
  if (fixed && isFullTensor)
    return name;
  if (int earlierUses = nameUses[name]++)
    name += "#" + std::to_string(earlierUses);
  return name;
}

Value PlanEmitter::bufferOf(Value value) {
  // A layer's all-reduce leaves its results in the buffers of the start
  // operation.
  if (auto wait = value.getDefiningOp<AllReduceWaitOp>();
      wait && wait.getStatistic())
    return bufferOf(wait.getXs()[cast<OpResult>(value).getResultNumber()]);
  Value &cached = buffers[value];
  if (cached)
    return cached;
  const Allocation &allocation = assignment.of(value);
  // A reshaped view has the name of its source.
  Value owner = stripReshapes(value);
  std::string name = uniqueName(owner);
  DenseI64ArrayAttr live;
  if (!allocation.fixed)
    live = b.getDenseI64ArrayAttr(
        {allocation.live.first,
         std::min(allocation.live.last,
                  std::max<int64_t>(assignment.steps() - 1, 0))});
  Storage storage = storageOf(value);
  int64_t start =
      allocation.fixed ? allocation.fixed->offset : allocation.live.offset;
  auto buffer = dialects::plan::BufferOp::create(
      b, value.getLoc(), memrefTypeOf(tensorTypeOf(value)), name,
      allocation.fixed ? allocation.fixed->arena : allocation.arena,
      start +
          storage.offset * (tensorTypeOf(value).getElementTypeBitWidth() / 8),
      live,
      // Pinned if the value itself is: an earlier value in the same allocation
      // may be overwritten in place.
      !allocation.fixed && assignment.isPinned(owner), nullptr);
  if (isSubview(tensorTypeOf(owner)))
    buffer->setAttr(brew::passes::kBaseAttr,
                    b.getArrayAttr({b.getStringAttr(uniqueName(storage.base)),
                                    b.getI64IntegerAttr(start)}));
  cached = buffer;
  return cached;
}

dialects::plan::KernelOp
PlanEmitter::outlineKernel(KernelOp kernel, ArrayRef<int64_t> inPlace,
                           dialects::plan::ProgramOp plan) {
  OpBuilder outer(plan);
  // A name with a number appended may equal another layer's name, so look up
  // every candidate.
  std::string name = kernel.getName().str();
  while (!symbolUses.try_emplace(name, 1).second)
    name = (kernel.getName() + "_" +
            std::to_string(symbolUses[kernel.getName()]++))
               .str();
  auto outlined = dialects::plan::KernelOp::create(
      outer, kernel.getLoc(), name, outer.getDenseI64ArrayAttr(inPlace),
      kernel.getLayersAttr() ? kernel.getLayersAttr() : outer.getArrayAttr({}),
      nullptr);
  IRMapping map;
  kernel.getBody().cloneInto(&outlined.getBody(), map);
  return outlined;
}

/// Returns a view of a data layer's first buffer without the padding channels.
/// Layers also read the padding, which is zero.
Value PlanEmitter::unpadded(Value padded, int64_t channels) {
  auto buffer = padded.getDefiningOp<dialects::plan::BufferOp>();
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> shape(type.getShape()), strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    llvm_unreachable("buffers have strides");
  const int64_t paddedChannels = std::exchange(shape[1], channels);
  return dialects::plan::BufferOp::create(
      b, buffer.getLoc(),
      MemRefType::get(shape, type.getElementType(),
                      StridedLayoutAttr::get(b.getContext(), offset, strides)),
      buffer.getName(), buffer.getArena(), buffer.getOffset(),
      buffer.getLiveAttr(), buffer.getPinned(),
      b.getI64IntegerAttr(paddedChannels));
}

void PlanEmitter::emitDataInput(DataInputOp dataInput) {
  SmallVector<Value> tops;
  for (Value value : dataInput.getValues())
    tops.push_back(bufferOf(value));
  if (auto channels = dataInput.getChannels())
    tops[0] = unpadded(tops[0], *channels);
  dialects::plan::DataInputOp::create(
      b, dataInput.getLoc(), dataInput.getLayerAttr(), dataInput.getKindAttr(),
      dataInput.getConfigAttr(), dataInput.getFolderAttr(), tops,
      dataInput.getRecordDimsAttr(), dataInput.getMeanFileDimsAttr(),
      dataInput.getImageSizesVaryAttr(), nullptr, nullptr);
}

void PlanEmitter::emitLaunch(KernelOp kernel, dialects::plan::ProgramOp plan) {
  SmallVector<Value> arguments;
  for (Value input : kernel.getInputs())
    arguments.push_back(bufferOf(input));
  for (Value result : kernel.getOutputs())
    arguments.push_back(bufferOf(result));
  dialects::plan::LaunchOp::create(
      b, kernel.getLoc(),
      outlineKernel(kernel, assignment.inPlaceOf(kernel), plan).getSymName(),
      arguments, nullptr, kernel.getLayersAttr(), isBackward, nullptr,
      isRematerialized(kernel));
}

LogicalResult PlanEmitter::emitCall(PlanStepInterface call,
                                    llvm::function_ref<Value(Value)> buffer) {
  Operation *planOp = call.buildPlanStep(b, buffer);
  auto step = dyn_cast_or_null<dialects::plan::StepInterface>(planOp);
  if (!step)
    return call.emitError("phase plan: this call has no step");
  if (auto generated = call->getAttrOfType<dialects::plan::GeneratedAttr>(
          brew::passes::kGeneratedAttr))
    cast<dialects::plan::ConvolutionOp>(planOp).setGeneratedAttr(generated);
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

/// Returns the buffer of a value of a loop's body in the first iteration.
Value PlanEmitter::firstBufferOf(Value value, const LoopMemory &memory) {
  auto base = bufferOf(memory.full).getDefiningOp<dialects::plan::BufferOp>();
  const MemRefType type = memrefTypeOf(tensorTypeOf(value));
  if (type == base.getType())
    return base;
  auto buffer = dialects::plan::BufferOp::create(
      b, base.getLoc(), type,
      (base.getName() + (memory.stride ? ".item" : ".part")).str(),
      base.getArena(), base.getOffset() + memory.offset, base.getLiveAttr(),
      /*pinned=*/false, nullptr);
  buffer->setAttr(brew::passes::kBaseAttr,
                  b.getArrayAttr({base.getNameAttr(), base.getOffsetAttr()}));
  return buffer;
}

LogicalResult PlanEmitter::emitLoop(LoopOp loop,
                                    dialects::plan::ProgramOp plan) {
  auto buffersOf = [&](ValueRange values) {
    SmallVector<Value> buffers;
    for (Value value : values)
      if (Value buffer = bufferOf(value); !llvm::is_contained(buffers, buffer))
        buffers.push_back(buffer);
    return buffers;
  };
  SmallVector<Value> read(loop.getSequences()), written(loop.getStacked());
  llvm::append_range(read, loop.getInvariants());
  llvm::append_range(written, loop.getScratch());
  auto planLoop = dialects::plan::LoopOp::create(
      b, loop.getLoc(), loop.getIterations(), loop.getLastIterationStepsAttr(),
      buffersOf(read), buffersOf(loop.getInitial()),
      buffersOf(loop.getCarried()), buffersOf(written),
      b.getStrArrayAttr({loop.getLayer()}), isBackward, nullptr,
      Origin::of(loop).isRematerialized);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&planLoop.getBody());
  llvm::DenseMap<Value, Value> firstBuffers;
  for (Operation *step : loop.steps()) {
    SmallVector<LoopMemory> memory;
    SmallVector<int64_t> strides;
    for (ValueRange range :
         {ValueRange(step->getOperands()), ValueRange(step->getResults())})
      for (Value value : range) {
        std::optional<LoopMemory> found = findLoopMemory(loop, value);
        if (!found)
          return step->emitError("phase plan: a value of a loop has no memory");
        memory.push_back(*found);
        strides.push_back(found->stride);
      }
    auto bufferInLoop = [&](Value value) {
      Value &buffer = firstBuffers[value];
      if (!buffer) {
        OpBuilder::InsertionGuard outside(b);
        b.setInsertionPoint(planLoop);
        buffer = firstBufferOf(value, *findLoopMemory(loop, value));
      }
      return buffer;
    };
    b.setInsertionPointToEnd(body);
    if (auto call = dyn_cast<PlanStepInterface>(step)) {
      if (llvm::any_of(strides, [](int64_t stride) { return stride != 0; }))
        return step->emitError("phase plan: a library call in a loop cannot "
                               "access an item of a sequence");
      if (failed(emitCall(call, bufferInLoop)))
        return failure();
      continue;
    }
    auto kernel = cast<KernelOp>(step);
    FailureOr<SmallVector<int64_t>> inPlace = findInPlace(kernel, memory);
    if (failed(inPlace))
      return failure();
    SmallVector<Value> arguments;
    for (Value value : kernel.getInputs())
      arguments.push_back(bufferInLoop(value));
    for (Value value : kernel.getOutputs())
      arguments.push_back(bufferInLoop(value));
    dialects::plan::LaunchOp::create(
        b, kernel.getLoc(), outlineKernel(kernel, *inPlace, plan).getSymName(),
        arguments, b.getDenseI64ArrayAttr(strides), kernel.getLayersAttr(),
        isBackward, nullptr, isRematerialized(kernel));
  }
  return success();
}

/// Returns the layers that compute a value, or null.
static ArrayAttr layersOf(OpBuilder &b, Value value) {
  Operation *op = storageOf(value).base.getDefiningOp();
  if (auto kernel = dyn_cast<KernelOp>(op))
    return kernel.getLayersAttr();
  if (StringAttr layer = Origin::of(op).layer)
    return b.getStrArrayAttr({layer.getValue()});
  return nullptr;
}

/// Emits the copies between values and fixed buffers before a step. A store
/// belongs to the layers that compute the value, so that running only these
/// layers (Session::runLayers) stores it too. A load has no layer, and so
/// belongs to the step that follows.
void PlanEmitter::emitCopies(int64_t step) {
  auto fixedBuffer = [&](const PlannedCopy &copy) -> Value {
    return dialects::plan::BufferOp::create(
        b, copy.value.getLoc(), memrefTypeOf(tensorTypeOf(copy.value)),
        copy.buffer.name, copy.buffer.arena, copy.buffer.offset, nullptr, false,
        nullptr);
  };
  auto emit = [&](const PlannedCopy &copy, Value from, Value to,
                  ArrayAttr layers) {
    dialects::plan::CopyOp::create(b, copy.value.getLoc(), from, to, layers,
                                   copy.isBackward, nullptr);
  };
  for (const PlannedCopy &copy : assignment.loads())
    if (copy.step == step)
      emit(copy, fixedBuffer(copy), bufferOf(copy.value), nullptr);
  for (bool backward : {false, true})
    for (const PlannedCopy &copy : assignment.stores())
      if (copy.step == step && copy.isBackward == backward)
        emit(copy, bufferOf(copy.value), fixedBuffer(copy),
             layersOf(b, copy.value));
}

LogicalResult PlanEmitter::emitSteps(dialects::plan::ProgramOp plan) {
  int64_t step = 0;
  for (Operation &op : program.getBody().front()) {
    if (isStep(&op)) {
      emitCopies(step);
      isBackward = step++ >= assignment.forwardStepCount();
    }
    auto kernel = dyn_cast<KernelOp>(op);
    if (kernel) {
      emitLaunch(kernel, plan);
    } else if (auto dataInput = dyn_cast<DataInputOp>(op)) {
      emitDataInput(dataInput);
    } else if (auto key = dyn_cast<RandomKeyOp>(op)) {
      dialects::plan::RandomKeyOp::create(b, key.getLoc(), keyName(key),
                                          bufferOf(key.getKey()));
    } else if (auto outputGradient = dyn_cast<OutputGradientOp>(op)) {
      dialects::plan::OutputGradientOp::create(
          b, outputGradient.getLoc(), bufferOf(outputGradient.getGradient()),
          outputGradient.getBlobAttr());
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      if (failed(emitLoop(loop, plan)))
        return failure();
    } else if (auto call = dyn_cast<PlanStepInterface>(op)) {
      if (failed(emitCall(call, [&](Value value) { return bufferOf(value); })))
        return failure();
    } else if (!op.hasTrait<IsView>() && !op.hasTrait<IsPersistentRead>() &&
               !op.hasTrait<IsSink>()) {
      return op.emitError("phase plan: this operation is not a step");
    }
  }
  emitCopies(step);
  return success();
}

LogicalResult PlanEmitter::emitSinks() {
  for (Operation &op : program.getBody().front()) {
    // Stored values have been computed in their buffers or copied there.
    if (!op.hasTrait<IsSink>() || op.hasTrait<IsStore>())
      continue;
    if (auto output = dyn_cast<OutputOp>(op))
      dialects::plan::OutputOp::create(
          b, op.getLoc(), bufferOf(output.getValue()), output.getBlobAttr(),
          output.getLossWeightAttr(), output.getUnreportedAttr());
    else if (auto pin = dyn_cast<PinOp>(op))
      dialects::plan::PinOp::create(b, op.getLoc(), bufferOf(pin.getValue()),
                                    pin.getKind(), pin.getBlob());
    else if (auto pin = dyn_cast<PinLayerValueOp>(op))
      dialects::plan::PinLayerValueOp::create(
          b, op.getLoc(), bufferOf(pin.getValue()), pin.getKind(),
          pin.getLayer(), pin.getIndex());
    else if (auto check = dyn_cast<CheckLabelsOp>(op))
      dialects::plan::CheckLabelsOp::create(
          b, op.getLoc(), bufferOf(check.getStatus()),
          bufferOf(check.getLabels()), check.getLimitAttr(),
          check.getLayerAttr(), check.getBlobAttr());
    else
      return op.emitError("phase plan: this sink has no step");
  }
  return success();
}

FailureOr<dialects::plan::ProgramOp> PlanEmitter::run() {
  auto plan = dialects::plan::ProgramOp::create(
      b, program.getLoc(), program.getSymName(),
      program.getNetPhase() == NetPhase::Test, program.getBlobsAttr(),
      program.getParamsAttr(), assignment.arenaBytes,
      assignment.lowerBoundBytes, program.getCaffeBytes().value_or(0));
  if (Attribute reason = program->getAttr(brew::passes::kNoBackwardAttr))
    plan->setAttr(brew::passes::kNoBackwardAttr, reason);
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&plan.getBody());
  if (failed(emitSteps(plan)) || failed(emitSinks()))
    return failure();
  return plan;
}

FailureOr<dialects::plan::ProgramOp>
brew::passes::emitPlan(ProgramOp program, const BufferAssignment &assignment,
                       OpBuilder &b, llvm::StringMap<int> &symbolUses) {
  return PlanEmitter(program, assignment, b, symbolUses).run();
}
