//===- LimitsTest.cpp - Limits of launches, and occupancy -----------------===//
#include "DriverFixture.h"

#include <sstream>

using namespace brew::runtime::cuda;
using namespace brew::test;

namespace {

/// Values of CUresult.
constexpr int kInvalidValue = 1, kOutOfResources = 701,
              kCooperativeLaunchTooLarge = 720;

/// Returns an empty kernel with the given attributes.
Kernel kernelWith(unsigned arguments, unsigned threads, unsigned minimumBlocks,
                  unsigned sharedBytes = 0) {
  std::ostringstream text;
  text
      << "BREW_KERNEL(k, 32)(BREW_OUT(float, y, 1)) {}\n"
      << "#define EXPORTED extern \"C\" "
      << "__attribute__((visibility(\"default\")))\n"
      << "static const unsigned bytes = " << sharedBytes << ";\n"
      << "EXPORTED const cudasim::KernelAttributes cudasim_attributes_empty = {"
      << arguments << ", {" << threads << ", " << minimumBlocks
      << "}, &bytes};\n"
      << "EXPORTED void cudasim_kernel_empty(const unsigned *, const unsigned "
      << "*, void **) {}\n";
  return Kernel("k", text.str());
}

class CudasimLimits : public DriverTest {
protected:
  CUresult launch(CUfunction function, unsigned blocks, unsigned threads) {
    return launch(function, blocks, 1, threads, 1);
  }
  CUresult launch(CUfunction function, unsigned gridX, unsigned gridY,
                  unsigned blockX, unsigned blockZ) {
    CUdeviceptr nothing = 0;
    std::vector<void *> arguments(5000, &nothing);
    return api.cuLaunchKernel(function, gridX, gridY, 1, blockX, 1, blockZ, 0,
                              stream, arguments.data(), nullptr);
  }
  int occupancy(CUfunction function, int threads) {
    int blocks = -1;
    EXPECT_EQ(api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function,
                                                              threads, 0),
              0);
    return blocks;
  }
  int attribute(int number) {
    int value = -1;
    EXPECT_EQ(api.cuDeviceGetAttribute(
                  &value, static_cast<CUdevice_attribute>(number), 0),
              0);
    return value;
  }
};

TEST_F(CudasimLimits, ArgumentsHaveAByteLimit) {
  const CUfunction fits = load(kernelWith(4095, 32, 0), "empty"),
                   exceeds = load(kernelWith(4096, 32, 0), "empty"),
                   fitsOld = load(kernelWith(512, 32, 0), "empty"),
                   exceedsOld = load(kernelWith(513, 32, 0), "empty");
  EXPECT_EQ(launch(fits, 1, 32), 0);
  EXPECT_EQ(launch(exceeds, 1, 32), kInvalidValue);
  for (auto [name, value] : {std::pair("CUDASIM_DRIVER_VERSION", "12000"),
                             {"CUDASIM_CAPABILITY", "60"}}) {
    ScopedVariable setting(name, value);
    EXPECT_EQ(launch(fitsOld, 1, 32), 0);
    EXPECT_EQ(launch(exceedsOld, 1, 32), kInvalidValue);
  }
  // Graph nodes have the same limit.
  ASSERT_EQ(api.cuStreamBeginCapture(stream, 1), 0);
  EXPECT_EQ(launch(exceeds, 1, 32), kInvalidValue);
  CUgraph graph;
  ASSERT_EQ(api.cuStreamEndCapture(stream, &graph), 0);
  std::size_t nodes = 1;
  EXPECT_EQ(api.cuGraphGetNodes(graph, nullptr, &nodes), 0);
  EXPECT_EQ(nodes, 0u);
  EXPECT_EQ(api.cuGraphDestroy(graph), 0);
}

TEST_F(CudasimLimits, GridsAndBlocksHaveExtents) {
  const CUfunction function = load(kernelWith(0, 256, 0), "empty");
  EXPECT_EQ(launch(function, 65536, 65535, 256, 1), 0);
  EXPECT_EQ(launch(function, 1, 65536, 32, 1), kInvalidValue);
  EXPECT_EQ(launch(function, 0, 32), kInvalidValue);
  EXPECT_EQ(launch(function, 1, 0), kInvalidValue);
  EXPECT_EQ(launch(function, 0x80000000, 32), kInvalidValue);
  EXPECT_EQ(launch(function, 1, 1, 2, 65), kInvalidValue);
  EXPECT_EQ(launch(function, 1, 257), kInvalidValue)
      << "more than its launch bounds";
  const CUfunction wide = load(kernelWith(0, 2048, 0), "empty");
  EXPECT_EQ(launch(wide, 1, 2048), kInvalidValue) << "more than a device has";
}

TEST_F(CudasimLimits, RegistersLimitTheThreadsOfABlock) {
  const CUfunction function = load(kernelWith(0, 512, 0), "empty");
  EXPECT_EQ(launch(function, 1, 512), 0);
  ScopedVariable registers("CUDASIM_REGISTERS", "200");
  EXPECT_EQ(launch(function, 1, 256), 0);
  EXPECT_EQ(launch(function, 1, 257), kOutOfResources)
      << "10 warps fit, but no multiple of 4";
  EXPECT_EQ(api.text(kOutOfResources),
            "too many resources requested for launch "
            "(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)");
}

TEST_F(CudasimLimits, OccupancyDependsOnRegistersAndSharedMemory) {
  struct Case {
    unsigned threads, minimumBlocks, sharedBytes;
    int occupancy;
    const char *capability = "90";
  };
  for (const Case &testCase : std::vector<Case>{
           // The bounds leave 64 registers to each of 1024 threads.
           {256, 4, 0, 4},
           {64, 16, 0, 16},
           {1024, 1, 0, 1},
           {1024, 2, 0, 2},
           // Without a minimum, a thread may have up to 255 registers.
           {256, 0, 0, 1},
           {64, 0, 0, 4},
           // A multiprocessor has at most 32 blocks; a larger minimum is
           // ignored.
           {32, 32, 0, 32},
           {32, 33, 0, 8},
           // There are 228 kB of shared memory, and each block takes 1 kB more
           // than it uses.
           {64, 16, 30000, 7},
           {64, 16, 48 * 1024, 4},
           {64, 16, 64 * 1024, 0},
           // Other devices have other limits.
           {1024, 2, 0, 1, "75"},
           {512, 3, 0, 3, "89"},
           {512, 4, 0, 1, "89"}, // 1536 threads have no room for 4
           {64, 16, 48 * 1024, 2, "86"},
           {64, 16, 48 * 1024, 3, "80"},
       }) {
    SCOPED_TRACE(std::to_string(testCase.threads) + " threads, at least " +
                 std::to_string(testCase.minimumBlocks) + " blocks of " +
                 std::to_string(testCase.sharedBytes) + " bytes on " +
                 testCase.capability);
    ScopedVariable capability("CUDASIM_CAPABILITY", testCase.capability);
    const CUfunction function =
        load(kernelWith(0, testCase.threads, testCase.minimumBlocks,
                        testCase.sharedBytes),
             "empty");
    EXPECT_EQ(occupancy(function, static_cast<int>(testCase.threads)),
              testCase.occupancy);
    EXPECT_EQ(occupancy(function, static_cast<int>(testCase.threads) + 1), 0);
  }
}

TEST_F(CudasimLimits, OccupancyFollowsFromTheKernelText) {
  std::string prelude = kPrelude;
  const std::string bounds = "__launch_bounds__(threads)";
  prelude.replace(prelude.find(bounds), bounds.size(),
                  "__launch_bounds__(threads, 1024 / threads)");
  const char *text = "BREW_COUNTERS(arrived, 1);\n"
                     "BREW_KERNEL(k, 128)(BREW_OUT(float, y, 128)) {\n"
                     "  BREW_SHARED(float, s, 8192);\n"
                     "  BREW_SHARED(float, t, 2048);\n"
                     "  BREW_LAST_BLOCK(arrived[0], 1);\n}\n";
  // Registers allow 8 blocks, shared memory 5: each block takes 40 kB, one byte
  // and 1 kB.
  EXPECT_EQ(occupancy(load(Kernel("k", text, prelude), "k"), 128), 5);
  // Without a minimum, registers allow 2 blocks.
  EXPECT_EQ(occupancy(load(Kernel("k", text), "k"), 128), 2);
}

TEST_F(CudasimLimits, CooperativeLaunchesAreResidentTogether) {
  const CUfunction function = load(kernelWith(0, 256, 4), "empty");
  auto launchCooperatively = [&](unsigned blocks, unsigned threads = 256) {
    return api.cuLaunchCooperativeKernel(function, blocks, 1, 1, threads, 1, 1,
                                         0, stream, nullptr);
  };
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 132);
  EXPECT_EQ(launchCooperatively(4 * 132), 0);
  EXPECT_EQ(launchCooperatively(4 * 132 + 1), kCooperativeLaunchTooLarge);
  EXPECT_EQ(launchCooperatively(8 * 132, 128), 0);
  EXPECT_EQ(launchCooperatively(1, 257), kInvalidValue);
  ScopedVariable fewer("CUDASIM_MULTIPROCESSORS", "2");
  EXPECT_EQ(launchCooperatively(8), 0);
  EXPECT_EQ(launchCooperatively(9), kCooperativeLaunchTooLarge);
  ScopedVariable fixed("CUDASIM_RESIDENT", "5");
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 1);
  EXPECT_EQ(occupancy(function, 256), 5);
  EXPECT_EQ(launchCooperatively(5), 0);
  EXPECT_EQ(launchCooperatively(6), kCooperativeLaunchTooLarge);
}

TEST_F(CudasimLimits, AttributesOfAMultiprocessor) {
  EXPECT_EQ(attribute(12), 65536);  // registers of a block
  EXPECT_EQ(attribute(39), 2048);   // threads
  EXPECT_EQ(attribute(51), 32);     // alignment of a texture's pitch
  EXPECT_EQ(attribute(81), 233472); // shared memory
  EXPECT_EQ(attribute(82), 65536);  // registers
  EXPECT_EQ(attribute(97), 232448); // shared memory of a block that opts in
  EXPECT_EQ(attribute(106), 32);    // blocks
  EXPECT_EQ(attribute(111), 1024);  // shared memory that the driver reserves
}

} // namespace
