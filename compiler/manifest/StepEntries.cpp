//===- StepEntries.cpp - Steps in a plan file -----------------------------===//
#include "compiler/manifest/ManifestBuilder.h"

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

namespace {

/// Describes a launch of a kernel on `buffers`, which are the kernel's block
/// arguments followed by its results.
void setLaunch(StringRef name, ValueRange buffers, ManifestBuilder &builder,
               plan::Launch &entry) {
  KernelOp kernel = builder.kernelOf(name);
  unsigned inputs = kernel.getBody().front().getNumArguments();
  entry.set_kernel_index(builder.kernelIndexOf(name));
  for (auto [i, value] : llvm::enumerate(buffers))
    if (i < inputs || kernel.getInPlace()[i - inputs] < 0)
      entry.add_buffer_indices(builder.buffer(value));
    else
      builder.buffer(value); // listed, although the kernel receives it as an
                             // input
}

struct LaunchEntry : ManifestInterface::ExternalModel<LaunchEntry, LaunchOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto launch = cast<LaunchOp>(op);
    plan::Step &step = ManifestBuilder::addStep(launch, program);
    plan::Launch &entry = *step.mutable_launch();
    setLaunch(launch.getKernel(), launch.getBuffers(), builder, entry);
    const plan::Kernel &generated = builder.kernelEntry(entry.kernel_index());
    step.set_flops(generated.flops());
    step.set_bytes(generated.bytes());
  }
};

/// Sets the fields of calls on x, w, b and y.
template <typename Op, typename Call>
void setOperands(Op op, ManifestBuilder &builder, Call &call) {
  call.set_direction(static_cast<plan::Direction>(op.getDirection()));
  call.set_x_buffer_index(builder.buffer(op.getX()));
  call.set_w_buffer_index(builder.buffer(op.getW()));
  if (op.getB())
    call.set_b_buffer_index(builder.buffer(op.getB()));
  call.set_y_buffer_index(builder.buffer(op.getY()));
  if (auto slope = op.getRelu()) {
    call.mutable_epilogue()->set_relu(true);
    call.mutable_epilogue()->set_negative_slope(slope->convertToFloat());
  }
}

struct ConvolutionEntry
    : ManifestInterface::ExternalModel<ConvolutionEntry, ConvolutionOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto conv = cast<ConvolutionOp>(op);
    plan::Step &step = ManifestBuilder::addStep(conv, program);
    step.set_bytes(builder.bytesOf(op->getOperands()));
    plan::ConvolutionCall &entry = *step.mutable_convolution();
    brew::compiler::setWindow(conv, *entry.mutable_window());
    entry.set_group(conv.getGroup());
    setOperands(conv, builder, entry);
    if (conv.getSum())
      entry.mutable_epilogue()->set_accumulate(true);
    if (auto generated = conv.getGenerated())
      setLaunch(generated->getKernel().getValue(), conv.generatedBuffers(),
                builder, *step.mutable_generated_alternative());
  }
};

struct InnerProductEntry
    : ManifestInterface::ExternalModel<InnerProductEntry, InnerProductOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto product = cast<InnerProductOp>(op);
    plan::Step &step = ManifestBuilder::addStep(product, program);
    step.set_bytes(builder.bytesOf(op->getOperands()));
    plan::InnerProductCall &entry = *step.mutable_inner_product();
    entry.set_transpose(product.getTranspose());
    entry.set_axis(product.getAxis());
    setOperands(product, builder, entry);
  }
};

struct CopyEntry : ManifestInterface::ExternalModel<CopyEntry, CopyOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto copy = cast<CopyOp>(op);
    plan::Step &step = ManifestBuilder::addStep(copy, program);
    step.set_bytes(builder.bytesOf(op->getOperands()));
    plan::CopyCall &entry = *step.mutable_copy();
    entry.set_source_buffer_index(builder.buffer(copy.getSource()));
    entry.set_target_buffer_index(builder.buffer(copy.getTarget()));
  }
};

struct HostEntry : ManifestInterface::ExternalModel<HostEntry, HostCallOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto call = cast<HostCallOp>(op);
    plan::Step &step = ManifestBuilder::addStep(call, program);
    step.set_bytes(builder.bytesOf(op->getOperands()));
    plan::HostCall &entry = *step.mutable_host();
    entry.set_type(call.getKind().str());
    entry.set_layer(call.getLayer().str());
    entry.set_settings(call.getSettings().str());
    entry.set_param_str(call.getParamStr().str());
    entry.set_direction(static_cast<plan::Direction>(call.getDirection()));
    for (Value bottom : call.getBottoms())
      entry.add_bottom_buffer_indices(builder.buffer(bottom));
    for (Value top : call.getTops())
      entry.add_top_buffer_indices(builder.buffer(top));
    for (Value gradient : call.getTopGradients())
      entry.add_top_gradient_buffer_indices(builder.buffer(gradient));
    for (auto [bottom, gradient] :
         llvm::zip_equal(call.getGradientsOf(), call.getBottomGradients())) {
      plan::HostCall::BottomGradient &bottomGradient =
          *entry.add_bottom_gradients();
      bottomGradient.set_bottom(static_cast<uint32_t>(bottom));
      bottomGradient.set_buffer_index(builder.buffer(gradient));
    }
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
    plan::AllReduceCall &entry = *step.mutable_all_reduce();
    entry.set_kind(plan::AllReduceCall::START);
    entry.set_bucket(static_cast<uint32_t>(start.getBucket()));
    for (Value target : start.getTargets())
      entry.add_buffer_indices(builder.buffer(target));
    for (Value source : start.getSources())
      entry.add_source_buffer_indices(builder.buffer(source));
    if (start.getStatistic())
      entry.set_statistic(true);
    if (start.getTransferType())
      entry.set_transfer_type(plan::BF16); // the only type that the operation
                                           // accepts
  }
};

struct AllReduceWaitEntry
    : ManifestInterface::ExternalModel<AllReduceWaitEntry, AllReduceWaitOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto wait = cast<AllReduceWaitOp>(op);
    plan::Step &step = ManifestBuilder::addStep(wait, program);
    plan::AllReduceCall &entry = *step.mutable_all_reduce();
    entry.set_kind(plan::AllReduceCall::WAIT);
    entry.set_bucket(static_cast<uint32_t>(wait.getBucket()));
    if (wait.getStatistic())
      entry.set_statistic(true);
    for (Value target : wait.getTargets())
      entry.add_buffer_indices(builder.buffer(target));
  }
};

} // namespace

void brew::compiler::attachStepEntries(MLIRContext &context) {
  LaunchOp::attachInterface<LaunchEntry>(context);
  ConvolutionOp::attachInterface<ConvolutionEntry>(context);
  InnerProductOp::attachInterface<InnerProductEntry>(context);
  CopyOp::attachInterface<CopyEntry>(context);
  HostCallOp::attachInterface<HostEntry>(context);
  AllReduceStartOp::attachInterface<AllReduceStartEntry>(context);
  AllReduceWaitOp::attachInterface<AllReduceWaitEntry>(context);
}
