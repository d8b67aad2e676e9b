//===- PlanValidatorCudaTest.cpp - Rules of plans for CUDA ----------------===//
#include "PlanBuilder.h"

#include <functional>
#include <gtest/gtest.h>
#include <ostream>

using namespace brew::plan;
using namespace brew::test;

namespace {

/// Returns the complete plan as brewc would write it for two architectures.
PlanBuilder cudaPlan() {
  PlanBuilder builder = completePlan();
  Manifest &m = builder.manifest;
  PixelConversion &pixels = *m.mutable_programs(0)
                                 ->mutable_data_inputs(0)
                                 ->mutable_pixel_conversion();
  pixels.set_kernel_index(builder.kernel("pixels", 4, 1, 1));
  for (int dim : {3, 1, 1})
    pixels.add_mean_dims(dim);
  for (int dim : {8, 6}) // a crop of 6 x 6
    pixels.add_image_dims(dim);
  m.mutable_target()->set_kind(Target::CUDA);
  m.mutable_target()->add_archs("sm_90");
  m.mutable_target()->add_archs("compute_90");
  m.mutable_target()->set_nvrtc_version("13.0");
  std::uint32_t ptx =
      builder.segment(Segment::KERNEL_IMAGE, "// text of PTX\n");
  for (Kernel &kernel : *m.mutable_kernels()) {
    std::uint32_t cubin = kernel.image_segment_index();
    kernel.clear_image_segment_index();
    kernel.clear_domain();
    kernel.clear_grain();
    kernel.set_blocks(3);
    kernel.set_threads(256);
    for (auto [arch, segment] :
         {std::pair("sm_90", cubin), {"compute_90", ptx}}) {
      KernelImage &image = *kernel.add_images();
      image.set_arch(arch);
      image.set_segment_index(segment);
    }
  }
  return builder;
}

/// A change that makes cudaPlan() invalid, and a part of the expected error.
struct BrokenRule {
  const char *name;
  std::function<void(Manifest &)> spoil;
  const char *message;
};

void PrintTo(const BrokenRule &rule, std::ostream *out) { *out << rule.name; }

class PlanValidatorCuda : public testing::TestWithParam<BrokenRule> {};

TEST_P(PlanValidatorCuda, RefusesBrokenRule) {
  PlanBuilder builder = cudaPlan();
  fixedOffsets(builder.manifest, builder.segments);
  ASSERT_EQ(loadError(assemble(builder.manifest, builder.segments)), "");
  GetParam().spoil(builder.manifest);
  std::string error = loadError(assemble(builder.manifest, builder.segments));
  EXPECT_EQ(error.rfind("p.plan: damaged plan: ", 0), 0u) << error;
  EXPECT_NE(error.find(GetParam().message), std::string::npos) << error;
}

TEST(PlanValidatorCuda, AcceptsPlansOfBrewc) {
  PlanBuilder builder = cudaPlan();
  Manifest &m = builder.manifest;
  m.mutable_target()->set_math(Target::TF32);
  Buffer &half = *m.mutable_buffers(0);
  half.set_type(F16);
  m.mutable_programs(0)->mutable_steps()->DeleteSubrange(0, 7);
  m.mutable_buffers(1)->clear_first_step();
  m.mutable_buffers(1)->clear_last_step();
  m.mutable_programs(0)->set_first_backward_step(0);
  EXPECT_NO_THROW(builder.build());
}

TEST(PlanValidatorCuda, AcceptsArchitecturesOfEveryForm) {
  for (const char *arch : {"sm_75", "sm_90a", "sm_120f", "compute_120"}) {
    PlanBuilder builder = cudaPlan();
    Manifest &m = builder.manifest;
    m.mutable_target()->set_archs(0, arch);
    for (Kernel &kernel : *m.mutable_kernels())
      kernel.mutable_images(0)->set_arch(arch);
    EXPECT_NO_THROW(builder.build()) << arch;
  }
}

/// A plan for only the simulator has no NVRTC version.
TEST(PlanValidatorCuda, AcceptsSimulatorOnlyPlans) {
  PlanBuilder builder = cudaPlan();
  Manifest &m = builder.manifest;
  m.mutable_target()->clear_archs();
  m.mutable_target()->add_archs("sim");
  m.mutable_target()->clear_nvrtc_version();
  for (Kernel &kernel : *m.mutable_kernels()) {
    kernel.mutable_images()->RemoveLast();
    kernel.mutable_images(0)->set_arch("sim");
  }
  EXPECT_NO_THROW(builder.build());
}

Kernel &kernel(Manifest &m) { return *m.mutable_kernels(0); }
Target &target(Manifest &m) { return *m.mutable_target(); }
PixelConversion &pixels(Manifest &m) {
  return *m.mutable_programs(0)
              ->mutable_data_inputs(0)
              ->mutable_pixel_conversion();
}

const BrokenRule kRules[] = {
    {"EndPaddingOfAnotherExtent",
     [](Manifest &m) {
       for (Step &step : *m.mutable_programs(0)->mutable_steps())
         if (step.has_convolution())
           step.mutable_convolution()->mutable_window()->set_pad_end(1, 2);
     },
     "the extent of y does not match x and the window"},
    {"NoArchs", [](Manifest &m) { target(m).clear_archs(); },
     "target: archs are missing"},
    {"ArchTwice", [](Manifest &m) { target(m).add_archs("sm_90"); },
     "an architecture is listed twice"},
    {"ArchUnknown", [](Manifest &m) { target(m).set_archs(0, "gfx90"); },
     "not sm_N, compute_N or sim"},
    {"ArchWithoutNumber", [](Manifest &m) { target(m).set_archs(0, "sm_"); },
     "not sm_N, compute_N or sim"},
    {"ArchWithLetters", [](Manifest &m) { target(m).set_archs(0, "sm_90ab"); },
     "not sm_N, compute_N or sim"},
    {"ArchEmpty", [](Manifest &m) { target(m).set_archs(0, ""); },
     "not sm_N, compute_N or sim"},
    {"NoNvrtcVersion", [](Manifest &m) { target(m).clear_nvrtc_version(); },
     "the version of NVRTC is missing"},
    {"Tf32OfF64",
     [](Manifest &m) {
       target(m).set_math(Target::TF32);
       target(m).set_precision(F64);
     },
     "only F32 can be multiplied as TF32"},
    {"NoBlocks", [](Manifest &m) { kernel(m).clear_blocks(); },
     "the number of blocks is missing"},
    {"BlocksZero", [](Manifest &m) { kernel(m).set_blocks(0); },
     "the number of blocks is missing or out of range"},
    {"BlocksHuge", [](Manifest &m) { kernel(m).set_blocks(0x80000000u); },
     "the number of blocks is missing or out of range"},
    {"NoThreads", [](Manifest &m) { kernel(m).clear_threads(); },
     "the number of threads is missing"},
    {"ThreadsZero", [](Manifest &m) { kernel(m).set_threads(0); },
     "the number of threads is missing or out of range"},
    {"ThreadsHuge", [](Manifest &m) { kernel(m).set_threads(1025); },
     "the number of threads is missing or out of range"},
    {"StagesZero", [](Manifest &m) { kernel(m).set_stages(0); },
     "the number of stages is out of range"},
    {"StagesMany", [](Manifest &m) { kernel(m).set_stages(33); },
     "the number of stages is out of range"},
    {"CpuImage", [](Manifest &m) { kernel(m).set_image_segment_index(2); },
     "CPU image or range in a CUDA plan"},
    {"CpuDomain", [](Manifest &m) { kernel(m).set_domain(1); },
     "CPU image or range in a CUDA plan"},
    {"NoImages", [](Manifest &m) { kernel(m).clear_images(); },
     "one image for each of the target's architectures"},
    {"ImageOfOtherArch",
     [](Manifest &m) { kernel(m).mutable_images(0)->set_arch("sm_80"); },
     "one image for each of the target's architectures"},
    {"ImageTwice",
     [](Manifest &m) { *kernel(m).add_images() = kernel(m).images(0); },
     "two images for one architecture"},
    {"ImageMissing",
     [](Manifest &m) { kernel(m).mutable_images(1)->set_segment_index(99); },
     "image segment does not exist"},
    {"ImageIsData",
     [](Manifest &m) { kernel(m).mutable_images(1)->set_segment_index(0); },
     "its segment is not a kernel image"},
    {"NoPixelKernel", [](Manifest &m) { pixels(m).clear_kernel_index(); },
     "a data input's kernel does not exist"},
    {"PixelKernelMissing", [](Manifest &m) { pixels(m).set_kernel_index(99); },
     "a data input's kernel does not exist"},
    {"PixelKernelWithOtherArgumentCount",
     [](Manifest &m) { pixels(m).clear_mean_dims(); },
     "a data input's kernel has another number of arguments"},
    {"MeanOfTwoDimensions",
     [](Manifest &m) { pixels(m).mutable_mean_dims()->RemoveLast(); },
     "does not have three dimensions"},
    {"MeanEmpty", [](Manifest &m) { pixels(m).set_mean_dims(1, 0); },
     "the mean of a data input's pixels is empty"},
    {"MeanHuge",
     [](Manifest &m) {
       for (int i = 0; i < 3; ++i)
         pixels(m).set_mean_dims(i, INT64_MAX);
     },
     "the mean of a data input's pixels is too large"},
    {"ImagesOfOneDimension",
     [](Manifest &m) { pixels(m).mutable_image_dims()->RemoveLast(); },
     "do not have two dimensions"},
    {"ImagesSmallerThanTheirCrops",
     [](Manifest &m) { pixels(m).set_image_dims(1, 5); },
     "the images of a data input's pixels are smaller than its top's"},
    {"ImagesHuge", [](Manifest &m) { pixels(m).set_image_dims(0, INT64_MAX); },
     "the images of a data input's pixels are too large"},
    {"ImagesOfAnotherSizeThanTheMean",
     [](Manifest &m) { pixels(m).set_mean_dims(2, 7); },
     "the images of a data input's pixels do not have the mean's size"},
    {"PixelsOfLabels",
     [](Manifest &m) {
       DataInput &input = *m.mutable_programs(0)->mutable_data_inputs(0);
       input.set_buffer_indices(0, input.buffer_indices(1));
     },
     "the top of a pixel conversion does not have four dimensions"},
    {"NoImageSegment",
     [](Manifest &m) { kernel(m).mutable_images(0)->clear_segment_index(); },
     "image segment does not exist"},
};

INSTANTIATE_TEST_SUITE_P(Rules, PlanValidatorCuda, testing::ValuesIn(kRules),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace
