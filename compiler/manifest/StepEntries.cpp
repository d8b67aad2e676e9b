//===- StepEntries.cpp - Steps in a plan file -----------------------------===//
#include "compiler/manifest/ManifestBuilder.h"

#include "plan/Operands.h"

#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace brew::dialects::plan;
using brew::compiler::ManifestBuilder;
using brew::compiler::ManifestInterface;
namespace plan = brew::plan;

void brew::compiler::setWindow(ConvolutionOp conv, plan::Window &window) {
  auto set = [](auto &to, ArrayRef<int64_t> values) {
    to.Assign(values.begin(), values.end());
  };
  set(*window.mutable_kernel(), conv.getKernel());
  set(*window.mutable_stride(), conv.getStride());
  set(*window.mutable_pad(), conv.getPad());
  set(*window.mutable_pad_end(), conv.getPadEnd().value_or(conv.getPad()));
  set(*window.mutable_dilation(), conv.getDilation());
}

SmallVector<plan::Operand::Access>
ManifestBuilder::accessesOf(StepInterface op) {
  SmallVector<MemoryEffects::EffectInstance> effects;
  op.addEffects(effectSymbols, effects);
  llvm::BitVector reads(op->getNumOperands()), writes(op->getNumOperands());
  for (const MemoryEffects::EffectInstance &effect : effects)
    if (auto *operand = effect.getEffectValue<OpOperand *>())
      (isa<MemoryEffects::Read>(effect.getEffect()) ? reads : writes)
          .set(operand->getOperandNumber());
  SmallVector<plan::Operand::Access> accesses;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    accesses.push_back(!writes[i]  ? plan::Operand::READ
                       : !reads[i] ? plan::Operand::WRITE
                                   : plan::Operand::READ_WRITE);
  return accesses;
}

plan::Operand &ManifestBuilder::addOperand(plan::Step &step, Value value,
                                           plan::Operand::Access access) {
  plan::Operand &operand = *step.add_operands();
  operand.set_buffer_index(buffer(value));
  operand.set_access(access);
  return operand;
}

void ManifestBuilder::addOperands(StepInterface op, plan::Step &step) {
  for (auto [value, access] :
       llvm::zip_equal(op->getOperands(), accessesOf(op)))
    addOperand(step, value, access);
}

namespace {

/// Returns the positions of the buffers that the generated function receives,
/// and the positions of results in place, which it does not receive. The
/// buffers are the kernel's block arguments, then its results.
std::pair<SmallVector<unsigned>, SmallVector<unsigned>>
splitBuffers(KernelOp kernel) {
  const unsigned inputs = kernel.getBody().front().getNumArguments();
  SmallVector<unsigned> arguments =
                            llvm::to_vector(llvm::seq<unsigned>(0, inputs)),
                        inPlace;
  for (auto [i, argument] : llvm::enumerate(kernel.getInPlace()))
    (argument < 0 ? arguments : inPlace).push_back(inputs + i);
  return {arguments, inPlace};
}

struct LaunchEntry : ManifestInterface::ExternalModel<LaunchEntry, LaunchOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto launch = cast<LaunchOp>(op);
    plan::Step &step = ManifestBuilder::addStep(launch, program);
    plan::Launch &to = *step.mutable_launch();
    to.set_kernel_index(builder.kernelIndexOf(launch.getKernel()));
    const auto accesses = builder.accessesOf(launch);
    const auto [arguments, inPlace] =
        splitBuffers(builder.kernelOf(launch.getKernel()));
    for (unsigned i : llvm::concat<const unsigned>(arguments, inPlace)) {
      plan::Operand &operand =
          builder.addOperand(step, launch.getBuffers()[i], accesses[i]);
      if (auto strides = launch.getStrides(); strides && (*strides)[i] != 0)
        operand.set_loop_stride((*strides)[i]);
    }
    const plan::Kernel &generated = builder.kernelEntry(to.kernel_index());
    step.set_flops(generated.flops());
    step.set_bytes(generated.bytes());
  }
};

/// Sets the fields of calls on x, w, b and y.
template <typename Op, typename Call>
void setCall(Op op, ManifestBuilder &builder, plan::Step &step, Call &call) {
  step.set_bytes(builder.bytesOf(op->getOperands()));
  call.set_direction(static_cast<plan::Direction>(op.getDirection()));
  if (auto slope = op.getRelu()) {
    call.mutable_epilogue()->set_relu(true);
    call.mutable_epilogue()->set_negative_slope(slope->convertToFloat());
  }
  const auto accesses = builder.accessesOf(op);
  SmallVector<OpOperand *> operands = {&op.getXMutable(), &op.getWMutable(),
                                       &op.getYMutable()};
  for (OpOperand &bias : op.getBMutable())
    operands.push_back(&bias);
  for (OpOperand *operand : operands) {
    plan::Operand::Access access = accesses[operand->getOperandNumber()];
    // A sum is read from the bytes of the result.
    if (access == plan::Operand::WRITE && call.epilogue().accumulate())
      access = plan::Operand::READ_WRITE;
    builder.addOperand(step, operand->get(), access);
  }
}

/// Describes the generated alternative of a convolution, whose operands are in
/// `step` already.
void setAlternative(ConvolutionOp conv, ManifestBuilder &builder,
                    plan::Step &step) {
  auto generated = conv.getGenerated();
  if (!generated)
    return;
  plan::GeneratedAlternative &to = *step.mutable_generated_alternative();
  const StringRef kernel = generated->getKernel().getValue();
  to.set_kernel_index(builder.kernelIndexOf(kernel));
  const SmallVector<Value> buffers = conv.generatedBuffers();
  const Value operands[] = {conv.getX(), conv.getW(), conv.getY(), conv.getB()};
  for (unsigned i : splitBuffers(builder.kernelOf(kernel)).first)
    to.add_operand_indices(static_cast<uint32_t>(
        llvm::find(operands, buffers[i]) - std::begin(operands)));
}

struct ConvolutionEntry
    : ManifestInterface::ExternalModel<ConvolutionEntry, ConvolutionOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto conv = cast<ConvolutionOp>(op);
    plan::Step &step = ManifestBuilder::addStep(conv, program);
    plan::ConvolutionCall &to = *step.mutable_convolution();
    brew::compiler::setWindow(conv, *to.mutable_window());
    to.set_group(conv.getGroup());
    if (conv.getSum())
      to.mutable_epilogue()->set_accumulate(true);
    setCall(conv, builder, step, to);
    setAlternative(conv, builder, step);
  }
};

struct InnerProductEntry
    : ManifestInterface::ExternalModel<InnerProductEntry, InnerProductOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto product = cast<InnerProductOp>(op);
    plan::Step &step = ManifestBuilder::addStep(product, program);
    plan::InnerProductCall &to = *step.mutable_inner_product();
    to.set_transpose(product.getTranspose());
    to.set_axis(product.getAxis());
    setCall(product, builder, step, to);
  }
};

struct LoopEntry : ManifestInterface::ExternalModel<LoopEntry, LoopOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto loop = cast<LoopOp>(op);
    plan::Step &step = ManifestBuilder::addStep(loop, program);
    plan::Loop &to = *step.mutable_loop();
    to.set_iterations(static_cast<int64_t>(loop.getIterations()));
    if (auto steps = loop.getLastIterationSteps())
      to.set_last_iteration_steps(static_cast<uint32_t>(*steps));
    plan::Program body;
    for (Operation &nested : loop.getBody().front())
      cast<ManifestInterface>(nested).addToManifest(builder, body);
    *to.mutable_steps() = body.steps();
    uint64_t flops = 0, bytes = 0;
    for (int i = 0; i < to.steps_size(); ++i) {
      flops += to.steps(i).flops() * plan::runsOf(to, i);
      bytes += to.steps(i).bytes() * plan::runsOf(to, i);
    }
    step.set_flops(flops);
    step.set_bytes(bytes);
    for (Value value : loop.getReads())
      builder.addOperand(step, value, plan::Operand::READ);
    for (Value value : loop.getCarried())
      builder.addOperand(step, value, plan::Operand::READ_WRITE);
    for (Value value : loop.getWrites())
      builder.addOperand(step, value, plan::Operand::WRITE);
  }
};

struct CopyEntry : ManifestInterface::ExternalModel<CopyEntry, CopyOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto copy = cast<CopyOp>(op);
    plan::Step &step = ManifestBuilder::addStep(copy, program);
    step.set_bytes(builder.bytesOf(op->getOperands()));
    step.mutable_copy();
    builder.addOperands(copy, step);
  }
};

struct HostEntry : ManifestInterface::ExternalModel<HostEntry, HostCallOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto call = cast<HostCallOp>(op);
    plan::Step &step = ManifestBuilder::addStep(call, program);
    step.set_bytes(builder.bytesOf(op->getOperands()));
    plan::HostCall &to = *step.mutable_host();
    to.set_type(call.getKind().str());
    to.set_layer(call.getLayer().str());
    to.set_settings(call.getSettings().str());
    to.set_param_str(call.getParamStr().str());
    to.set_direction(static_cast<plan::Direction>(call.getDirection()));
    to.set_bottom_count(static_cast<uint32_t>(call.getBottoms().size()));
    to.set_top_count(static_cast<uint32_t>(call.getTops().size()));
    for (int64_t bottom : call.getGradientsOf())
      to.add_gradient_bottoms(static_cast<uint32_t>(bottom));
    builder.addOperands(call, step);
  }
};

struct AllReduceStartEntry
    : ManifestInterface::ExternalModel<AllReduceStartEntry, AllReduceStartOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto start = cast<AllReduceStartOp>(op);
    plan::Step &step = ManifestBuilder::addStep(start, program);
    const auto bytes = builder.bytesOf(start.getTargets());
    step.set_bytes(start.getTransferType() ? bytes / 2 : bytes);
    plan::AllReduceCall &to = *step.mutable_all_reduce();
    to.set_kind(plan::AllReduceCall::START);
    to.set_bucket(static_cast<uint32_t>(start.getBucket()));
    if (start.getStatistic())
      to.set_statistic(true);
    if (start.getTransferType())
      to.set_transfer_type(plan::BF16); // the only type that the operation
                                        // accepts
    builder.addOperands(start, step);
  }
};

struct AllReduceWaitEntry
    : ManifestInterface::ExternalModel<AllReduceWaitEntry, AllReduceWaitOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto wait = cast<AllReduceWaitOp>(op);
    plan::Step &step = ManifestBuilder::addStep(wait, program);
    plan::AllReduceCall &to = *step.mutable_all_reduce();
    to.set_kind(plan::AllReduceCall::WAIT);
    to.set_bucket(static_cast<uint32_t>(wait.getBucket()));
    if (wait.getStatistic())
      to.set_statistic(true);
    builder.addOperands(wait, step);
  }
};

} // namespace

void brew::compiler::attachStepEntries(MLIRContext &context) {
  LaunchOp::attachInterface<LaunchEntry>(context);
  ConvolutionOp::attachInterface<ConvolutionEntry>(context);
  InnerProductOp::attachInterface<InnerProductEntry>(context);
  CopyOp::attachInterface<CopyEntry>(context);
  LoopOp::attachInterface<LoopEntry>(context);
  HostCallOp::attachInterface<HostEntry>(context);
  AllReduceStartOp::attachInterface<AllReduceStartEntry>(context);
  AllReduceWaitOp::attachInterface<AllReduceWaitEntry>(context);
}
