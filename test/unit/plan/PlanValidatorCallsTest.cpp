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

Step &step(Manifest &m, int i) {
  return *m.mutable_programs(0)->mutable_steps(i);
}
ConvolutionCall &conv(Manifest &m) { return *step(m, 0).mutable_convolution(); }
ConvolutionCall &backwardConv(Manifest &m) {
  return *step(m, 6).mutable_convolution();
}
Window &window(Manifest &m) { return *conv(m).mutable_window(); }
InnerProductCall &innerProduct(Manifest &m) {
  return *step(m, 1).mutable_inner_product();
}
CopyCall &copy(Manifest &m) { return *step(m, 2).mutable_copy(); }
HostCall &host(Manifest &m) { return *step(m, 7).mutable_host(); }
HostCall &hostBackward(Manifest &m) { return *step(m, 8).mutable_host(); }
Launch &launch(Manifest &m) { return *step(m, 3).mutable_launch(); }
Buffer &buffer(Manifest &m, std::uint32_t index) {
  return *m.mutable_buffers(static_cast<int>(index));
}

const BrokenStep kBrokenSteps[] = {
    {"NoAction", [](Manifest &m) { step(m, 0).clear_action(); },
     "step 0: it has no action"},
    {"KernelMissing", [](Manifest &m) { launch(m).set_kernel_index(2); },
     "its kernel does not exist"},
    {"NoKernel", [](Manifest &m) { launch(m).clear_kernel_index(); },
     "its kernel does not exist"},
    {"TooFewArguments",
     [](Manifest &m) { launch(m).mutable_buffer_indices()->RemoveLast(); },
     "not the kernel's argument count"},
    {"TooManyArguments", [](Manifest &m) { launch(m).add_buffer_indices(0); },
     "not the kernel's argument count"},
    {"ArgumentMissing",
     [](Manifest &m) { launch(m).set_buffer_indices(0, 0xffffffffu); },
     "an argument does not exist"},
    {"ArgumentOfOtherProgram",
     [](Manifest &m) { launch(m).set_buffer_indices(0, Private); },
     "an argument belongs to another program"},
    {"GeneratedBesideALaunch",
     [](Manifest &m) {
       *step(m, 3).mutable_generated_alternative() = launch(m);
     },
     "only a convolution has a generated alternative"},
    {"GeneratedWithoutKernel",
     [](Manifest &m) {
       step(m, 0).mutable_generated_alternative()->set_kernel_index(2);
     },
     "its kernel does not exist"},
    {"GeneratedForOtherBuffers",
     [](Manifest &m) {
       Launch &generated = *step(m, 0).mutable_generated_alternative();
       generated = launch(m);
       generated.set_buffer_indices(0, Data);
       generated.set_buffer_indices(1, Ip);
     },
     "its generated alternative has a buffer that the call lacks"},
    // zero and all-reduce
    {"NoZeroBuffer",
     [](Manifest &m) { step(m, 4).mutable_zero()->clear_buffer_index(); },
     "the buffer to clear is missing"},
    {"ZeroConstant",
     [](Manifest &m) { step(m, 4).mutable_zero()->set_buffer_index(Constant); },
     "writes to a constant"},
    {"AllReduceMissing",
     [](Manifest &m) {
       auto &call = *step(m, 4).mutable_all_reduce();
       call.set_kind(brew::plan::AllReduceCall::WAIT);
       call.set_bucket(0);
       call.add_buffer_indices(99);
     },
     "the buffer to reduce does not exist"},
    {"AllReduceNoBucket",
     [](Manifest &m) {
       auto &call = *step(m, 4).mutable_all_reduce();
       call.set_kind(brew::plan::AllReduceCall::WAIT);
       call.add_buffer_indices(ConvDw);
     },
     "the kind or the bucket of an all-reduce is missing"},
    {"AllReduceSources",
     [](Manifest &m) {
       auto &call = *step(m, 4).mutable_all_reduce();
       call.set_kind(brew::plan::AllReduceCall::START);
       call.set_bucket(0);
       call.add_buffer_indices(ConvDw);
     },
     "the numbers of sources and sums differ"},
    {"AllReduceIntegers",
     [](Manifest &m) {
       auto &call = *step(m, 4).mutable_all_reduce();
       call.set_kind(brew::plan::AllReduceCall::WAIT);
       call.set_bucket(0);
       call.add_buffer_indices(Status);
     },
     "neither F32 nor F64"},
    {"AllReduceOtherShape",
     [](Manifest &m) {
       auto &call = *step(m, 4).mutable_all_reduce();
       call.set_kind(brew::plan::AllReduceCall::START);
       call.set_bucket(0);
       call.add_buffer_indices(ConvDw);
       call.add_source_buffer_indices(ConvDb);
     },
     "the layouts of a source and its sum differ"},
    {"AllReduceTwice",
     [](Manifest &m) {
       auto &call = *step(m, 4).mutable_all_reduce();
       call.set_kind(brew::plan::AllReduceCall::WAIT);
       call.set_bucket(0);
       call.add_buffer_indices(ConvDw);
       call.add_buffer_indices(ConvDw);
     },
     "its result overlaps an operand"},
    {"AllReduceConstant",
     [](Manifest &m) {
       auto &call = *step(m, 4).mutable_all_reduce();
       call.set_kind(brew::plan::AllReduceCall::WAIT);
       call.set_bucket(0);
       call.add_buffer_indices(Constant);
     },
     "writes to a constant"},
    // copy
    {"NoCopySource", [](Manifest &m) { copy(m).clear_source_buffer_index(); },
     "the source is missing"},
    {"CopyTargetMissing",
     [](Manifest &m) { copy(m).set_target_buffer_index(99); },
     "the target does not exist"},
    {"CopyTypes", [](Manifest &m) { buffer(m, Copied).set_type(I32); },
     "the types differ"},
    {"CopyDims", [](Manifest &m) { copy(m).set_source_buffer_index(Label); },
     "the dimensions differ"},
    {"CopyToConstant",
     [](Manifest &m) { copy(m).set_target_buffer_index(Constant); },
     "writes to a constant"},
    {"CopyOverItself", [](Manifest &m) { copy(m).set_target_buffer_index(Ip); },
     "its result overlaps an operand"},
    // convolution
    {"NoDirection", [](Manifest &m) { conv(m).clear_direction(); },
     "direction is missing"},
    {"NoX", [](Manifest &m) { conv(m).clear_x_buffer_index(); },
     "x is missing"},
    {"NoW", [](Manifest &m) { conv(m).clear_w_buffer_index(); },
     "w is missing"},
    {"NoY", [](Manifest &m) { conv(m).clear_y_buffer_index(); },
     "y is missing"},
    {"BiasMissing", [](Manifest &m) { conv(m).set_b_buffer_index(99); },
     "b does not exist"},
    {"IntegerX", [](Manifest &m) { buffer(m, Data).set_type(I32); },
     "contains no floating-point numbers"},
    {"IntegerY", [](Manifest &m) { buffer(m, Conv).set_type(I32); },
     "contains no floating-point numbers"},
    {"MixedTypes", [](Manifest &m) { buffer(m, Conv).set_type(F16); },
     "types differ"},
    {"HalvesOnCpu", [](Manifest &m) { buffer(m, Data).set_type(F16); },
     "only CUDA plans have calls with f16 operands"},
    {"RankOfX", [](Manifest &m) { conv(m).set_x_buffer_index(Ip); },
     "have three to five dimensions"},
    {"BiasOfDataGradient",
     [](Manifest &m) { conv(m).set_direction(BACKWARD_DATA); },
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
    {"BiasOfOtherRank", [](Manifest &m) { conv(m).set_b_buffer_index(Status); },
     "types differ"},
    {"BiasOfOtherSize", [](Manifest &m) { conv(m).set_b_buffer_index(Label); },
     "one element per channel"},
    {"NoWindow", [](Manifest &m) { conv(m).clear_window(); },
     "one number for each spatial dimension"},
    {"NoKernel", [](Manifest &m) { window(m).clear_kernel(); },
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
    {"ReluInBackward",
     [](Manifest &m) { backwardConv(m).mutable_epilogue()->set_relu(true); },
     "only a forward call can apply a ReLU"},
    {"ResultIsOperand",
     [](Manifest &m) {
       backwardConv(m).set_direction(FORWARD);
       backwardConv(m).set_b_buffer_index(ConvB);
       // y over x: same offset, both dense
       buffer(m, Conv).set_offset(buffer(m, Data).offset());
       conv(m).set_b_buffer_index(ConvB);
     },
     "its result overlaps an operand"},
    // inner product
    {"ProductNoDirection",
     [](Manifest &m) { innerProduct(m).clear_direction(); },
     "direction is missing"},
    {"ProductNoX", [](Manifest &m) { innerProduct(m).clear_x_buffer_index(); },
     "x is missing"},
    {"ProductTypes", [](Manifest &m) { buffer(m, Ip).set_type(BF16); },
     "types differ"},
    {"ProductBiasOfDataGradient",
     [](Manifest &m) {
       innerProduct(m).set_direction(BACKWARD_DATA);
       innerProduct(m).set_b_buffer_index(ConvB);
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
    {"InnerDimsDiffer",
     [](Manifest &m) { innerProduct(m).set_x_buffer_index(Data); },
     "dimensions of x and w do not agree"},
    {"ColumnsDiffer", [](Manifest &m) { buffer(m, Ip).set_dims(1, 4); },
     "w's columns"},
    {"RowsDiffer", [](Manifest &m) { buffer(m, Ip).set_dims(0, 1); },
     "leading dimensions of x and y"},
    {"ProductBiasSize",
     [](Manifest &m) { innerProduct(m).set_b_buffer_index(ConvB); },
     "one element per column"},
    {"ProductIntoConstant",
     [](Manifest &m) { innerProduct(m).set_y_buffer_index(Constant); },
     "writes to a constant"},
    {"ProductReluInBackward",
     [](Manifest &m) {
       innerProduct(m).set_direction(BACKWARD_DATA);
       innerProduct(m).mutable_epilogue()->set_relu(true);
     },
     "only a forward call can apply a ReLU"},
    // host layer
    {"HostNoType", [](Manifest &m) { host(m).clear_type(); },
     "step 7: the host layer's type or name is missing"},
    {"HostNoName", [](Manifest &m) { host(m).set_layer(""); },
     "type or name is missing"},
    {"HostNoDirection", [](Manifest &m) { host(m).clear_direction(); },
     "must have direction FORWARD or BACKWARD_DATA"},
    {"HostBackwardWeights",
     [](Manifest &m) { hostBackward(m).set_direction(BACKWARD_WEIGHTS); },
     "must have direction FORWARD or BACKWARD_DATA"},
    {"HostBottomMissing",
     [](Manifest &m) { host(m).set_bottom_buffer_indices(0, 99); },
     "a bottom does not exist"},
    {"HostBottomOfOtherProgram",
     [](Manifest &m) { host(m).set_bottom_buffer_indices(0, Private); },
     "a bottom belongs to another program"},
    {"HostTopMissing",
     [](Manifest &m) { host(m).set_top_buffer_indices(1, 0xffffffffu); },
     "a top does not exist"},
    {"HostTopConstant",
     [](Manifest &m) { host(m).set_top_buffer_indices(0, Constant); },
     "writes to a constant"},
    {"HostTopIsBottom",
     [](Manifest &m) { host(m).set_top_buffer_indices(0, Ip); },
     "its result overlaps an operand"},
    {"HostTopsAreTheSame",
     [](Manifest &m) { host(m).set_top_buffer_indices(1, Own0); },
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
       step(m, 8).clear_host();
       step(m, 8).mutable_zero()->set_buffer_index(Ip);
     },
     "its result overlaps an operand"},
    {"HostForwardWithTopGradients",
     [](Manifest &m) { host(m).add_top_gradient_buffer_indices(Own0Gradient); },
     "number of tops' gradients does not match"},
    {"HostTopGradientLacking",
     [](Manifest &m) {
       hostBackward(m).mutable_top_gradient_buffer_indices()->RemoveLast();
     },
     "number of tops' gradients does not match"},
    {"HostTopGradientMissing",
     [](Manifest &m) {
       hostBackward(m).set_top_gradient_buffer_indices(0, 99);
     },
     "a top's gradient does not exist"},
    {"HostTopGradientDims",
     [](Manifest &m) {
       hostBackward(m).set_top_gradient_buffer_indices(0, Own1Gradient);
     },
     "a gradient does not have its value's dimensions"},
    {"HostForwardWithBottomGradients",
     [](Manifest &m) { host(m).add_bottom_gradients(); },
     "a forward call has bottoms' gradients"},
    {"HostGradientOfNoBottom",
     [](Manifest &m) {
       hostBackward(m).mutable_bottom_gradients(1)->set_bottom(2);
     },
     "the bottom of a gradient does not exist"},
    {"HostGradientWithoutBottom",
     [](Manifest &m) {
       hostBackward(m).mutable_bottom_gradients(1)->clear_bottom();
     },
     "the bottom of a gradient does not exist"},
    {"HostGradientTwice",
     [](Manifest &m) {
       hostBackward(m).mutable_bottom_gradients(1)->set_bottom(0);
     },
     "not in the order of bottoms"},
    {"HostGradientWithoutBuffer",
     [](Manifest &m) {
       hostBackward(m).mutable_bottom_gradients(1)->clear_buffer_index();
     },
     "a bottom's gradient is missing"},
    {"HostGradientMissing",
     [](Manifest &m) {
       hostBackward(m).mutable_bottom_gradients(1)->set_buffer_index(99);
     },
     "a bottom's gradient does not exist"},
    {"HostGradientDims",
     [](Manifest &m) {
       hostBackward(m).mutable_bottom_gradients(0)->set_buffer_index(Label);
     },
     "a gradient does not have its value's dimensions"},
    {"HostGradientIsTopGradient",
     [](Manifest &m) {
       hostBackward(m).mutable_bottom_gradients(0)->set_buffer_index(
           Own0Gradient);
     },
     "its result overlaps an operand"},
    {"HostGradientIsBottom",
     [](Manifest &m) {
       hostBackward(m).mutable_bottom_gradients(0)->set_buffer_index(Ip);
     },
     "its result overlaps an operand"},
    {"HostGradientIntoConstant",
     [](Manifest &m) {
       hostBackward(m).mutable_bottom_gradients(0)->set_buffer_index(Constant);
     },
     "writes to a constant"},
};

INSTANTIATE_TEST_SUITE_P(Steps, PlanValidatorCalls,
                         testing::ValuesIn(kBrokenSteps), [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace
