//===- Steps.cpp - Memory effects of steps --------------------------------===//
#include "dialects/Plan/PlanDialect.h"
#include "dialects/SubviewType.h"

using namespace mlir;
using namespace brew::dialects::plan;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addRead(OpOperand &operand, Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &operand);
}
static void addWrite(OpOperand &operand, Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &operand);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static KernelOp kernelOf(LaunchOp launch, SymbolTableCollection &symbols) {
  return symbols.lookupNearestSymbolFrom<KernelOp>(launch,
                                                   launch.getKernelAttr());
}

static unsigned inputCount(KernelOp kernel) {
  return kernel.getBody().front().getNumArguments();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  KernelOp kernel = kernelOf(*this, symbols);
  if (!kernel)
    return emitError("kernel does not exist");
  const size_t expected = inputCount(kernel) + kernel.getInPlace().size();
  if (getBuffers().size() != expected)
    return emitError("passes ")
           << getBuffers().size() << " buffers to a kernel of " << expected;
  if (getStrides() && getStrides()->size() != expected)
    return emitError("has ")
           << getStrides()->size() << " strides for " << expected << " buffers";
  return success();
}

static void addLaunchEffects(LaunchOp launch, KernelOp kernel,
                             Effects &effects) {
  for (OpOperand &operand : launch.getBuffersMutable())
    if (operand.getOperandNumber() < inputCount(kernel))
      addRead(operand, effects);
    else
      addWrite(operand, effects);
}

void LaunchOp::getEffects(Effects &effects) {
  addLaunchEffects(
      *this,
      SymbolTable::lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr()),
      effects);
}

void LaunchOp::addEffects(SymbolTableCollection &symbols, Effects &effects) {
  addLaunchEffects(*this, kernelOf(*this, symbols), effects);
}

/// Kernels require aligned buffers, except for subviews.
llvm::BitVector LaunchOp::alignedOperands(SymbolTableCollection &symbols) {
  Block &body = kernelOf(*this, symbols).getBody().front();
  llvm::BitVector aligned(getNumOperands(), true);
  auto types = llvm::concat<Type>(
      llvm::to_vector(body.getArgumentTypes()),
      llvm::to_vector(body.getTerminator()->getOperandTypes()));
  for (auto [i, type] : llvm::enumerate(types))
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      aligned[i] = !dialects::isSubview(tensor);
  return aligned;
}

/// A result may overwrite the input that the kernel declares for it.
bool LaunchOp::canOverwriteOperand(unsigned written, unsigned other,
                                   SymbolTableCollection &symbols) {
  KernelOp kernel = kernelOf(*this, symbols);
  return kernel.getInPlace()[written - inputCount(kernel)] ==
         static_cast<int64_t>(other);
}

//===----------------------------------------------------------------------===//
// Library calls
//===----------------------------------------------------------------------===//

/// Appends the effects of a call with operands x, w, b and y. A gradient
/// occupies the operand of its value.
template <typename Call>
static void addCallEffects(Call call, Effects &effects) {
  OpOperand &x = call.getXMutable(), &w = call.getWMutable(),
            &y = call.getYMutable();
  MutableOperandRange b = call.getBMutable();
  switch (call.getDirection()) {
  case Direction::Forward:
    addRead(x, effects);
    addRead(w, effects);
    for (OpOperand &bias : b)
      addRead(bias, effects);
    addWrite(y, effects);
    return;
  case Direction::BackwardData:
    addRead(y, effects);
    addRead(w, effects);
    addWrite(x, effects);
    return;
  case Direction::BackwardWeights:
    addRead(x, effects);
    addRead(y, effects);
    addWrite(w, effects);
    for (OpOperand &bias : b)
      addWrite(bias, effects);
    return;
  }
}

void ConvolutionOp::getEffects(Effects &effects) {
  for (OpOperand &sum : getSumMutable())
    addRead(sum, effects);
  addCallEffects(*this, effects);
}

Value ConvolutionOp::operandOf(CallOperand operand) {
  switch (operand) {
  case CallOperand::X:
    return getX();
  case CallOperand::W:
    return getW();
  case CallOperand::B:
    return getB();
  case CallOperand::Sum:
    return getSum();
  case CallOperand::Y:
    return getY();
  }
  llvm_unreachable("not an operand of a call");
}

SmallVector<Value> ConvolutionOp::generatedBuffers() {
  SmallVector<Value> buffers;
  for (CallOperand operand : getGenerated()->getBuffers())
    buffers.push_back(operand != CallOperand::Sum ? operandOf(operand)
                      : getDirection() == Direction::Forward ? getY()
                                                             : getX());
  return buffers;
}

LogicalResult ConvolutionOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getGenerated())
    return success();
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(
      *this, getGenerated()->getKernel());
  if (!kernel)
    return emitError("the generated kernel does not exist");
  const SmallVector<Value> buffers = generatedBuffers();
  // The pass VerifyPlan compares the types.
  if (buffers.size() != inputCount(kernel) + kernel.getInPlace().size() ||
      llvm::is_contained(buffers, Value()))
    return emitError("the generated kernel has other buffers");
  return success();
}

/// A call adds to `sum` in place.
bool ConvolutionOp::canOverwriteOperand(unsigned written, unsigned other,
                                        SymbolTableCollection &) {
  return getSum() && other == getSumMutable().begin()->getOperandNumber() &&
         written == (getDirection() == Direction::Forward ? getYMutable()
                                                          : getXMutable())
                        .getOperandNumber();
}
void InnerProductOp::getEffects(Effects &effects) {
  addCallEffects(*this, effects);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void LoopOp::getEffects(Effects &effects) {
  for (MutableOperandRange range : {getReadsMutable(), getInitialMutable()})
    for (OpOperand &operand : range)
      addRead(operand, effects);
  for (MutableOperandRange range : {getCarriedMutable(), getWritesMutable()})
    for (OpOperand &operand : range)
      addWrite(operand, effects);
}

/// A carried value overwrites its initial value.
bool LoopOp::canOverwriteOperand(unsigned written, unsigned other,
                                 SymbolTableCollection &) {
  const size_t initial = getReads().size(),
               carried = initial + getInitial().size();
  return written >= carried && written < carried + getCarried().size() &&
         other - initial == written - carried;
}

LogicalResult LoopOp::verify() {
  if (getInitial().getTypes() != getCarried().getTypes())
    return emitOpError("carries other values than it has initial ones");
  return success();
}

//===----------------------------------------------------------------------===//
// Host layers
//===----------------------------------------------------------------------===//

void HostCallOp::getEffects(Effects &effects) {
  const bool isForward = getDirection() == Direction::Forward;
  for (OpOperand &bottom : getBottomsMutable())
    addRead(bottom, effects);
  for (OpOperand &top : getTopsMutable())
    isForward ? addWrite(top, effects) : addRead(top, effects);
  for (OpOperand &gradient : getTopGradientsMutable())
    addRead(gradient, effects);
  for (OpOperand &gradient : getBottomGradientsMutable())
    addWrite(gradient, effects);
}

//===----------------------------------------------------------------------===//
// Sums over all ranks
//===----------------------------------------------------------------------===//

void AllReduceStartOp::getEffects(Effects &effects) {
  for (OpOperand &source : getSourcesMutable())
    addRead(source, effects);
  for (OpOperand &target : getTargetsMutable())
    addWrite(target, effects);
}

/// A sum may overwrite its source.
bool AllReduceStartOp::canOverwriteOperand(unsigned written, unsigned other,
                                           SymbolTableCollection &) {
  return written == other + getSources().size();
}

LogicalResult AllReduceStartOp::verify() {
  for (auto [i, source, target] : llvm::enumerate(getSources(), getTargets())) {
    auto type = cast<MemRefType>(source.getType());
    if (type != target.getType())
      return emitOpError("has a target ")
             << i << " of another type than its source";
    if (!type.getElementType().isF32() && !type.getElementType().isF64())
      return emitOpError("adds up ")
             << type.getElementType() << ", which is neither f32 nor f64";
    if (getTransferType() &&
        (!getTransferType()->isBF16() || !type.getElementType().isF32()))
      return emitOpError("sends ")
             << type.getElementType() << " as " << *getTransferType()
             << "; only f32 travels as bf16";
  }
  return success();
}

void AllReduceWaitOp::getEffects(Effects &effects) {
  for (OpOperand &target : getTargetsMutable()) {
    addRead(target, effects);
    addWrite(target, effects);
  }
}
