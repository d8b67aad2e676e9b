//===- PlanValidatorCallsTest.cpp - Broken rules of steps -----------------===//
#include "PlanBuilder.h"

#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <ostream>

using namespace brew::plan;
using namespace brew::test;

namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

/// A change that makes a step of completePlan() invalid, and a part of the
/// expected error.
struct BrokenStep {
  const char *name;
  std::function<void(Manifest &)> spoil;
  const char *message;
};

void PrintTo(const BrokenStep &rule, std::ostream *out) { *out << rule.name; }

class PlanValidatorCalls : public testing::TestWithParam<BrokenStep> {};

TEST_P(PlanValidatorCalls, RefusesBrokenStep) {
  PlanBuilder builder = completePlan();
  builder.segments.back().resize(200); // for speed; never run
  fixedOffsets(builder.manifest, builder.segments);
  GetParam().spoil(builder.manifest);
  std::string error = loadError(assemble(builder.manifest, builder.segments));
  EXPECT_EQ(error.rfind("p.plan: damaged plan: program 0 ", 0), 0u) << error;
  EXPECT_NE(error.find(GetParam().message), std::string::npos) << error;
}

// Buffers of completePlan(), in order.
enum : std::uint32_t {
  Data,
  Conv,
  Ip,
  Copied,
  Label,
  Status,
  ConvW,
  ConvB,
  IpW,
  ConvDw,
  ConvDb,
  History,
  Scalars,
  Constant,
  Private,
  LossScale,
  Own0,
  Own1,
  Own0Gradient,
  Own1Gradient,
  IpGradient,
  LabelGradient,
};

// Steps of completePlan(), in order.
enum {
  ConvStep,
  IpStep,
  CopyStep,
  CheckStep,
  ConstantStep,
  BackwardConvStep,
  HostStep,
  HostBackwardStep,
};

Step &step(Manifest &m, int i) {
  return *m.mutable_programs(0)->mutable_steps(i);
}
ConvolutionCall &conv(Manifest &m) {
  return *step(m, ConvStep).mutable_convolution();
}
Window &window(Manifest &m) { return *conv(m).mutable_window(); }
InnerProductCall &innerProduct(Manifest &m) {
  return *step(m, IpStep).mutable_inner_product();
}
HostCall &host(Manifest &m) { return *step(m, HostStep).mutable_host(); }
HostCall &hostBackward(Manifest &m) {
  return *step(m, HostBackwardStep).mutable_host();
}
Launch &launch(Manifest &m) { return *step(m, CheckStep).mutable_launch(); }
Buffer &buffer(Manifest &m, std::uint32_t index) {
  return *m.mutable_buffers(static_cast<int>(index));
}
/// Replaces the buffer of an operand.
void rebind(Manifest &m, int stepIndex, int operand, std::uint32_t buffer) {
  step(m, stepIndex).mutable_operands(operand)->set_buffer_index(buffer);
}
void setAccess(Manifest &m, int stepIndex, int operand,
               Operand::Access access) {
  step(m, stepIndex).mutable_operands(operand)->set_access(access);
}
/// Replaces a step by an all-reduce with these buffers: half of them sources if
/// the kind is START.
AllReduceCall &allReduce(Manifest &m, AllReduceCall::Kind kind,
                         const std::vector<std::uint32_t> &buffers) {
  Step &changed = step(m, ConstantStep);
  changed.clear_operands();
  AllReduceCall &call = *changed.mutable_all_reduce();
  call.set_kind(kind);
  call.set_bucket(0);
  for (std::size_t i = 0; i < buffers.size(); ++i)
    addOperand(changed, buffers[i],
               kind == AllReduceCall::WAIT ? Operand::READ_WRITE
               : i < buffers.size() / 2    ? Operand::READ
                                           : Operand::WRITE);
  return call;
}

const BrokenStep kBrokenSteps[] = {
    {"NoAction", [](Manifest &m) { step(m, 0).clear_action(); },
     "step 0: it has no action"},
    {"KernelMissing", [](Manifest &m) { launch(m).set_kernel_index(2); },
     "its kernel does not exist"},
    {"NoKernel", [](Manifest &m) { launch(m).clear_kernel_index(); },
     "its kernel does not exist"},
    {"TooFewArguments",
     [](Manifest &m) {
       step(m, CheckStep).mutable_operands()->RemoveLast();
     },
     "the number of operands does not match"},
    {"TooManyArguments",
     [](Manifest &m) {
       addOperand(step(m, CheckStep), Data, Operand::WRITE);
     },
     "a result in place does not have the bytes of an argument"},
    {"ArgumentMissing",
     [](Manifest &m) {
       rebind(m, CheckStep, 0, 0xffffffffu);
     },
     "an operand does not exist"},
    {"ArgumentOfOtherProgram",
     [](Manifest &m) {
       rebind(m, CheckStep, 0, Private);
     },
     "an operand belongs to another program"},
    {"GeneratedBesideALaunch",
     [](Manifest &m) {
       step(m, CheckStep).mutable_generated_alternative()->set_kernel_index(0);
     },
     "only a convolution has a generated alternative"},
    {"GeneratedWithoutKernel",
     [](Manifest &m) {
       step(m, 0).mutable_generated_alternative()->set_kernel_index(2);
     },
     "its kernel does not exist"},
    {"GeneratedForOtherBuffers",
     [](Manifest &m) {
       auto &generated = *step(m, ConvStep).mutable_generated_alternative();
       generated.set_kernel_index(0);
       generated.add_operand_indices(0);
       generated.add_operand_indices(4);
     },
     "its generated alternative has an operand that the call lacks"},
    // accesses
    {"NoAccess",
     [](Manifest &m) {
       step(m, CheckStep).mutable_operands(0)->clear_access();
     },
     "an operand's access is missing"},
    {"CopyReadsTarget",
     [](Manifest &m) {
       setAccess(m, CopyStep, 1, Operand::READ);
     },
     "an operand's access does not match the kind of step"},
    {"CopyWritesSource",
     [](Manifest &m) {
       setAccess(m, CopyStep, 0, Operand::READ_WRITE);
     },
     "an operand's access does not match the kind of step"},
    {"ConvolutionWritesX",
     [](Manifest &m) {
       setAccess(m, ConvStep, 0, Operand::WRITE);
     },
     "an operand's access does not match the kind of step"},
    {"ConvolutionAddsToY",
     [](Manifest &m) {
       setAccess(m, ConvStep, 2, Operand::READ_WRITE);
     },
     "an operand's access does not match the kind of step"},
    {"ConvolutionWritesBias",
     [](Manifest &m) {
       setAccess(m, ConvStep, 3, Operand::WRITE);
     },
     "an operand's access does not match the kind of step"},
    {"ProductReadsY",
     [](Manifest &m) {
       setAccess(m, IpStep, 2, Operand::READ);
     },
     "an operand's access does not match the kind of step"},
    {"AccumulationOverwritesW",
     [](Manifest &m) {
       setAccess(m, BackwardConvStep, 1, Operand::WRITE);
     },
     "an operand's access does not match the kind of step"},
    {"AccumulationOverwritesBias",
     [](Manifest &m) {
       setAccess(m, BackwardConvStep, 3, Operand::WRITE);
     },
     "an operand's access does not match the kind of step"},
    {"HostReadsTop",
     [](Manifest &m) {
       setAccess(m, HostStep, 2, Operand::READ);
     },
     "an operand's access does not match the kind of step"},
    {"HostBackwardWritesTop",
     [](Manifest &m) {
       setAccess(m, HostBackwardStep, 2, Operand::WRITE);
     },
     "an operand's access does not match the kind of step"},
    {"HostReadsBottomGradient",
     [](Manifest &m) {
       setAccess(m, HostBackwardStep, 6, Operand::READ);
     },
     "an operand's access does not match the kind of step"},
    {"StartOverwritesSource",
     [](Manifest &m) {
       allReduce(m, AllReduceCall::START, {ConvDw, ConvDw});
       setAccess(m, ConstantStep, 0, Operand::WRITE);
     },
     "an operand's access does not match the kind of step"},
    {"WaitReadsSum",
     [](Manifest &m) {
       allReduce(m, AllReduceCall::WAIT, {ConvDw});
       setAccess(m, ConstantStep, 0, Operand::READ);
     },
     "an operand's access does not match the kind of step"},
    {"LaunchWritesConstant",
     [](Manifest &m) {
       setAccess(m, ConstantStep, 0, Operand::WRITE);
     },
     "writes to a constant"},
    {"LaunchOverwritesArgument",
     [](Manifest &m) {
       rebind(m, ConstantStep, 0, Ip);
     },
     "its result overlaps an operand"},
    {"InPlaceOverWrittenArgument",
     [](Manifest &m) {
       addOperand(step(m, ConstantStep), Ip, Operand::WRITE);
     },
     "its result overlaps an operand"},
    // all-reduce
    {"AllReduceMissing",
     [](Manifest &m) {
       allReduce(m, AllReduceCall::WAIT, {99});
     },
     "an operand does not exist"},
    {"AllReduceNoBucket",
     [](Manifest &m) {
       allReduce(m, AllReduceCall::WAIT, {ConvDw}).clear_bucket();
     },
     "the bucket of an all-reduce is missing"},
    {"AllReduceSources",
     [](Manifest &m) {
       allReduce(m, AllReduceCall::START, {ConvDw, ConvDw});
       step(m, ConstantStep).mutable_operands()->RemoveLast();
     },
     "the number of operands does not match"},
    {"AllReduceIntegers",
     [](Manifest &m) {
       allReduce(m, AllReduceCall::WAIT, {Status});
     },
     "neither F32 nor F64"},
    {"AllReduceOtherShape",
     [](Manifest &m) {
       allReduce(m, AllReduceCall::START, {ConvDb, ConvDw});
     },
     "the layouts of a source and its sum differ"},
    {"AllReduceTwice",
     [](Manifest &m) {
       allReduce(m, AllReduceCall::WAIT, {ConvDw, ConvDw});
     },
     "its result overlaps an operand"},
    {"AllReduceConstant",
     [](Manifest &m) {
       allReduce(m, AllReduceCall::WAIT, {Constant});
     },
     "writes to a constant"},
    // copy
    {"NoCopySource",
     [](Manifest &m) {
       step(m, CopyStep).mutable_operands(0)->clear_buffer_index();
     },
     "an operand is missing"},
    {"CopyTargetMissing", [](Manifest &m) { rebind(m, CopyStep, 1, 99); },
     "an operand does not exist"},
    {"CopyTypes", [](Manifest &m) { buffer(m, Copied).set_type(I32); },
     "the types differ"},
    {"CopyDims", [](Manifest &m) { rebind(m, CopyStep, 0, Label); },
     "the dimensions differ"},
    {"CopyToConstant", [](Manifest &m) { rebind(m, CopyStep, 1, Constant); },
     "writes to a constant"},
    {"CopyOverItself", [](Manifest &m) { rebind(m, CopyStep, 1, Ip); },
     "its result overlaps an operand"},
    // convolution
    {"NoDirection", [](Manifest &m) { conv(m).clear_direction(); },
     "direction is missing"},
    {"NoX",
     [](Manifest &m) {
       step(m, ConvStep).mutable_operands(0)->clear_buffer_index();
     },
     "an operand is missing"},
    {"NoY",
     [](Manifest &m) {
       step(m, ConvStep).mutable_operands()->DeleteSubrange(2, 2);
     },
     "the number of operands does not match"},
    {"BiasMissing", [](Manifest &m) { rebind(m, ConvStep, 3, 99); },
     "an operand does not exist"},
    {"IntegerX", [](Manifest &m) { buffer(m, Data).set_type(I32); },
     "contains no floating-point numbers"},
    {"IntegerY", [](Manifest &m) { buffer(m, Conv).set_type(I32); },
     "contains no floating-point numbers"},
    {"MixedTypes", [](Manifest &m) { buffer(m, Conv).set_type(F16); },
     "types differ"},
    {"HalvesOnCpu", [](Manifest &m) { buffer(m, Data).set_type(F16); },
     "only CUDA plans have calls with f16 operands"},
    {"RankOfX", [](Manifest &m) { rebind(m, ConvStep, 0, Ip); },
     "have three to five dimensions"},
    {"BiasOfDataGradient",
     [](Manifest &m) {
       conv(m).set_direction(BACKWARD_DATA);
       conv(m).clear_epilogue();
       setAccess(m, ConvStep, 0, Operand::WRITE);
       setAccess(m, ConvStep, 2, Operand::READ);
     },
     "the gradient of the data has no bias"},
    {"GroupZero", [](Manifest &m) { conv(m).set_group(0); },
     "channels of x, w and the group"},
    {"GroupNegative", [](Manifest &m) { conv(m).set_group(-3); },
     "channels of x, w and the group"},
    {"GroupDoesNotDivide", [](Manifest &m) { conv(m).set_group(3); },
     "channels of x, w and the group"},
    {"ImagesDiffer", [](Manifest &m) { buffer(m, Conv).set_dims(0, 1); },
     "x's images"},
    {"ChannelsDiffer", [](Manifest &m) { buffer(m, Conv).set_dims(1, 3); },
     "w's channels"},
    {"BiasOfOtherRank", [](Manifest &m) { rebind(m, ConvStep, 3, Status); },
     "types differ"},
    {"BiasOfOtherSize", [](Manifest &m) { rebind(m, ConvStep, 3, Label); },
     "one element per channel"},
    {"NoWindow", [](Manifest &m) { conv(m).clear_window(); },
     "one number for each spatial dimension"},
    {"WindowWithoutKernel", [](Manifest &m) { window(m).clear_kernel(); },
     "one number for each spatial dimension"},
    {"StrideOfThreeDimensions", [](Manifest &m) { window(m).add_stride(1); },
     "one number for each spatial dimension"},
    {"NoPad", [](Manifest &m) { window(m).clear_pad(); },
     "one number for each spatial dimension"},
    {"NoEndPad", [](Manifest &m) { window(m).clear_pad_end(); },
     "one number for each spatial dimension"},
    {"NoDilation", [](Manifest &m) { window(m).clear_dilation(); },
     "one number for each spatial dimension"},
    {"KernelWidthDiffers", [](Manifest &m) { window(m).set_kernel(1, 5); },
     "window is not w's"},
    {"StrideZero", [](Manifest &m) { window(m).set_stride(0, 0); },
     "stride or dilation is out of range"},
    {"StrideHuge", [](Manifest &m) { window(m).set_stride(1, kHuge); },
     "stride or dilation is out of range"},
    {"DilationZero", [](Manifest &m) { window(m).set_dilation(1, 0); },
     "stride or dilation is out of range"},
    {"DilationHuge", [](Manifest &m) { window(m).set_dilation(1, kHuge); },
     "stride or dilation is out of range"},
    {"PadNegative", [](Manifest &m) { window(m).set_pad(0, -1); },
     "pad is out of range"},
    {"EndPadNegative", [](Manifest &m) { window(m).set_pad_end(0, -1); },
     "pad is out of range"},
    {"EndPadChangesExtent", [](Manifest &m) { window(m).set_pad_end(1, 3); },
     "extent of y"},
    {"PadHuge", [](Manifest &m) { window(m).set_pad(1, kHuge); },
     "pad is out of range"},
    {"ExtentDiffers", [](Manifest &m) { window(m).set_pad(0, 3); },
     "extent of y"},
    {"WindowLargerThanInput", [](Manifest &m) { window(m).set_dilation(0, 9); },
     "extent of y"},
    {"SlopeWithoutRelu",
     [](Manifest &m) { conv(m).mutable_epilogue()->clear_relu(); },
     "slope without a ReLU"},
    {"SlopeNotFinite",
     [](Manifest &m) {
       conv(m).mutable_epilogue()->set_negative_slope(
           std::numeric_limits<float>::quiet_NaN());
     },
     "negative slope is not finite"},
    {"ReluInBackward",
     [](Manifest &m) {
       ConvolutionCall &call =
           *step(m, BackwardConvStep).mutable_convolution();
       call.mutable_epilogue()->set_relu(true);
     },
     "only a forward call can apply a ReLU"},
    {"ResultIsOperand",
     [](Manifest &m) {
       buffer(m, Conv).set_offset(buffer(m, Data).offset());
     },
     "its result overlaps an operand"},
    // inner product
    {"ProductNoDirection",
     [](Manifest &m) { innerProduct(m).clear_direction(); },
     "direction is missing"},
    {"ProductNoX",
     [](Manifest &m) {
       step(m, IpStep).mutable_operands(0)->clear_buffer_index();
     },
     "an operand is missing"},
    {"ProductTypes", [](Manifest &m) { buffer(m, Ip).set_type(BF16); },
     "types differ"},
    {"ProductBiasOfDataGradient",
     [](Manifest &m) {
       innerProduct(m).set_direction(BACKWARD_DATA);
       setAccess(m, IpStep, 0, Operand::WRITE);
       setAccess(m, IpStep, 2, Operand::READ);
       addOperand(step(m, IpStep), ConvB, Operand::READ);
     },
     "the gradient of the data has no bias"},
    {"AxisBeyondRank", [](Manifest &m) { innerProduct(m).set_axis(5); },
     "axis is out of range"},
    {"AxisHuge", [](Manifest &m) { innerProduct(m).set_axis(0xffffffffu); },
     "axis is out of range"},
    {"AxisDiffers", [](Manifest &m) { innerProduct(m).set_axis(2); },
     "one dimension more than x"},
    {"Transposed", [](Manifest &m) { innerProduct(m).set_transpose(true); },
     "dimensions of x and w do not agree"},
    {"InnerDimsDiffer", [](Manifest &m) { rebind(m, IpStep, 0, Data); },
     "dimensions of x and w do not agree"},
    {"ColumnsDiffer", [](Manifest &m) { buffer(m, Ip).set_dims(1, 4); },
     "w's columns"},
    {"RowsDiffer", [](Manifest &m) { buffer(m, Ip).set_dims(0, 1); },
     "leading dimensions of x and y"},
    {"ProductBiasSize",
     [](Manifest &m) {
       addOperand(step(m, IpStep), ConvB, Operand::READ);
     },
     "one element per column"},
    {"ProductIntoConstant", [](Manifest &m) { rebind(m, IpStep, 2, Constant); },
     "writes to a constant"},
    {"ProductReluInBackward",
     [](Manifest &m) {
       innerProduct(m).set_direction(BACKWARD_DATA);
       setAccess(m, IpStep, 0, Operand::WRITE);
       setAccess(m, IpStep, 2, Operand::READ);
       innerProduct(m).mutable_epilogue()->set_relu(true);
     },
     "only a forward call can apply a ReLU"},
    // host layer
    {"HostNoType", [](Manifest &m) { host(m).clear_type(); },
     "step 6: the host layer's type or name is missing"},
    {"HostNoName", [](Manifest &m) { host(m).set_layer(""); },
     "type or name is missing"},
    {"HostNoDirection", [](Manifest &m) { host(m).clear_direction(); },
     "direction is missing"},
    {"HostBackwardWeights",
     [](Manifest &m) { hostBackward(m).set_direction(BACKWARD_WEIGHTS); },
     "must have direction FORWARD or BACKWARD_DATA"},
    {"HostBottomMissing", [](Manifest &m) { rebind(m, HostStep, 0, 99); },
     "an operand does not exist"},
    {"HostBottomOfOtherProgram",
     [](Manifest &m) {
       rebind(m, HostStep, 0, Private);
     },
     "an operand belongs to another program"},
    {"HostTopMissing", [](Manifest &m) { rebind(m, HostStep, 3, 0xffffffffu); },
     "an operand does not exist"},
    {"HostTopConstant", [](Manifest &m) { rebind(m, HostStep, 2, Constant); },
     "writes to a constant"},
    {"HostTopIsBottom", [](Manifest &m) { rebind(m, HostStep, 2, Ip); },
     "its result overlaps an operand"},
    {"HostTopsAreTheSame", [](Manifest &m) { rebind(m, HostStep, 3, Own0); },
     "its result overlaps an operand"},
    {"HostTopsShareABeginning",
     [](Manifest &m) {
       for (std::uint32_t top : {Own0, Own1}) {
         buffer(m, top).set_offset(buffer(m, Data).offset());
         buffer(m, top).mutable_dims()->Clear();
         buffer(m, top).mutable_strides()->Clear();
         buffer(m, top).add_dims(2);
         buffer(m, top).add_strides(top == Own0 ? 3 : 5);
         buffer(m, top).set_size(top == Own0 ? 16 : 24);
       }
       m.mutable_programs(0)->mutable_steps()->DeleteSubrange(
           HostBackwardStep, 1);
     },
     "its result overlaps an operand"},
    {"HostForwardWithTopGradients",
     [](Manifest &m) {
       addOperand(step(m, HostStep), Own0Gradient, Operand::READ);
     },
     "the number of operands does not match"},
    {"HostTopGradientLacking",
     [](Manifest &m) {
       step(m, HostBackwardStep).mutable_operands()->DeleteSubrange(4, 1);
     },
     "the number of operands does not match"},
    {"HostTopGradientMissing",
     [](Manifest &m) {
       rebind(m, HostBackwardStep, 4, 99);
     },
     "an operand does not exist"},
    {"HostTopGradientDims",
     [](Manifest &m) {
       rebind(m, HostBackwardStep, 4, Own1Gradient);
     },
     "a gradient does not have its value's dimensions"},
    {"HostForwardWithBottomGradients",
     [](Manifest &m) {
       host(m).add_gradient_bottoms(0);
       addOperand(step(m, HostStep), IpGradient, Operand::WRITE);
     },
     "a forward call has bottoms' gradients"},
    {"HostGradientOfNoBottom",
     [](Manifest &m) {
       hostBackward(m).set_gradient_bottoms(1, 2);
     },
     "the bottom of a gradient does not exist"},
    {"HostGradientWithoutBottom",
     [](Manifest &m) {
       hostBackward(m).mutable_gradient_bottoms()->RemoveLast();
     },
     "the number of operands does not match"},
    {"HostGradientTwice",
     [](Manifest &m) {
       hostBackward(m).set_gradient_bottoms(1, 0);
     },
     "not in the order of bottoms"},
    {"HostGradientWithoutBuffer",
     [](Manifest &m) {
       step(m, HostBackwardStep).mutable_operands(7)->clear_buffer_index();
     },
     "an operand is missing"},
    {"HostGradientMissing",
     [](Manifest &m) {
       rebind(m, HostBackwardStep, 7, 99);
     },
     "an operand does not exist"},
    {"HostGradientDims",
     [](Manifest &m) {
       rebind(m, HostBackwardStep, 6, ConvDb);
     },
     "a gradient does not have its value's dimensions"},
    {"HostGradientIsTopGradient",
     [](Manifest &m) {
       rebind(m, HostBackwardStep, 6, Own0Gradient);
     },
     "its result overlaps an operand"},
    {"HostGradientIsBottom",
     [](Manifest &m) {
       rebind(m, HostBackwardStep, 6, Ip);
     },
     "its result overlaps an operand"},
    {"HostGradientIntoConstant",
     [](Manifest &m) {
       rebind(m, HostBackwardStep, 6, Constant);
     },
     "writes to a constant"},
};

INSTANTIATE_TEST_SUITE_P(Steps, PlanValidatorCalls,
                         testing::ValuesIn(kBrokenSteps), [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace
