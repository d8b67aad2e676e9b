//===- CudaSim.h - Fixture for plans on the CUDA simulator ------*- C++ -*-===//
#pragma once

#include "PlanBuilder.h"
#include "support/Error.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace brew::test {

/// Makes PlanBuilder build plans for the simulator, and the executor load the
/// simulator.
class CudaSim : public testing::Test {
protected:
  void SetUp() override {
    setenv("BREW_TEST_CUDASIM", "1", 1);
    setenv("BREW_CUDASIM", CUDASIM_FOLDER, 1);
  }

  /// Adds a kernel of CudaTestKernels.cu with one block. Returns its index.
  static std::uint32_t kernel(PlanBuilder &builder, const std::string &symbol,
                              std::uint32_t arguments) {
    int image = -1;
    for (int i = 0; i < builder.manifest.segments_size(); ++i)
      if (builder.manifest.segments(i).kind() == plan::Segment::KERNEL_IMAGE)
        image = i;
    if (image < 0)
      image = static_cast<int>(builder.segment(plan::Segment::KERNEL_IMAGE,
                                               readFile(CUDA_TEST_KERNELS)));
    plan::Kernel &added = *builder.manifest.add_kernels();
    added.set_symbol(symbol);
    added.set_argument_count(arguments);
    added.set_blocks(1);
    added.set_threads(32);
    plan::KernelImage &code = *added.add_images();
    code.set_arch("sim");
    code.set_segment_index(static_cast<std::uint32_t>(image));
    return static_cast<std::uint32_t>(builder.manifest.kernels_size() - 1);
  }

  /// Returns the Error that `action` throws as "STATUS: TEXT", or "".
  template <typename Action> static std::string errorOf(Action &&action) {
    try {
      action();
    } catch (const Error &error) {
      return std::to_string(static_cast<int>(error.status())) + ": " +
             error.what();
    }
    return "";
  }
};

} // namespace brew::test
