//===- CopiesTest.cpp - Two-dimensional copies ----------------------------===//
#include "DriverFixture.h"

using namespace brew::runtime::cuda;
using namespace brew::test;

namespace {

using CudasimCopies = DriverTest;

constexpr int kInvalidValue = 1;

TEST_F(CudasimCopies, TwoDimensionalCopies) {
  CUdeviceptr memory = upload(std::vector<float>(12, 7));
  std::vector<float> packed = {1, 2, 3};
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = 1;
  copy.srcHost = packed.data();
  copy.srcPitch = 4;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory;
  copy.dstXInBytes = 12;
  copy.dstPitch = 16;
  copy.WidthInBytes = 4;
  copy.Height = 3;
  EXPECT_EQ(api.cuMemcpy2DAsync(&copy, stream), 0);
  EXPECT_EQ(download<float>(memory, 12),
            (std::vector<float>{7, 7, 7, 1, 7, 7, 7, 2, 7, 7, 7, 3}));
}

/// Returns a copy of two rows of 4 bytes within the device.
CUDA_MEMCPY2D twoRows(CUdeviceptr source, std::size_t sourcePitch,
                      CUdeviceptr target, std::size_t targetPitch) {
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = source;
  copy.srcPitch = sourcePitch;
  copy.dstDevice = target;
  copy.dstPitch = targetPitch;
  copy.WidthInBytes = 4;
  copy.Height = 2;
  return copy;
}

TEST_F(CudasimCopies, PitchesHaveLimits) {
  const CUdeviceptr memory = allocate(256);
  int maximum = 0;
  EXPECT_EQ(
      api.cuDeviceGetAttribute(&maximum, CU_DEVICE_ATTRIBUTE_MAX_PITCH, 0), 0);
  EXPECT_EQ(maximum, 2147483647);
  const std::size_t tooLarge = std::size_t(1) << 31;
  for (auto [pitch, result] : {std::pair<std::size_t, int>(3, kInvalidValue),
                               {4, 0},
                               {tooLarge, kInvalidValue}}) {
    SCOPED_TRACE(pitch);
    CUDA_MEMCPY2D copy = twoRows(memory, pitch, memory + 128, 4);
    EXPECT_EQ(api.cuMemcpy2DAsync(&copy, stream), result);
    copy = twoRows(memory, 4, memory + 128, pitch);
    EXPECT_EQ(api.cuMemcpy2DAsync(&copy, stream), result);
  }
  CUDA_MEMCPY2D offset = twoRows(memory, 8, memory + 128, 8);
  offset.dstXInBytes = 5;
  EXPECT_EQ(api.cuMemcpy2DAsync(&offset, stream), kInvalidValue);
}

TEST_F(CudasimCopies, RowsMayInterleaveButNotOverlap) {
  const CUdeviceptr memory = upload(std::vector<float>{1, 2, 3, 4, 5, 6});
  CUDA_MEMCPY2D copy = twoRows(memory, 8, memory + 4, 8);
  EXPECT_EQ(api.cuMemcpy2DAsync(&copy, stream), 0);
  EXPECT_EQ(download<float>(memory, 6), (std::vector<float>{1, 1, 3, 3, 5, 6}));
  auto run = [&](CUdeviceptr source, std::size_t sourcePitch,
                 CUdeviceptr target, std::size_t targetPitch) {
    CUDA_MEMCPY2D copy = twoRows(source, sourcePitch, target, targetPitch);
    api.cuMemcpy2DAsync(&copy, stream);
    api.cuStreamSynchronize(stream);
  };
  const char *message = "two-dimensional copy: source and target overlap";
  EXPECT_EXIT(run(memory, 8, memory + 2, 8), testing::ExitedWithCode(70),
              message);
  // The second row of one side overlaps the first row of the other.
  EXPECT_EXIT(run(memory, 16, memory + 16, 4), testing::ExitedWithCode(70),
              message);
  EXPECT_EXIT(run(memory + 16, 4, memory, 16), testing::ExitedWithCode(70),
              message);
}

TEST_F(CudasimCopies, DevicesMayRejectUnalignedPitches) {
  const CUdeviceptr memory = allocate(256);
  CUDA_MEMCPY2D unaligned = twoRows(memory, 24, memory + 128, 32),
                aligned = twoRows(memory, 64, memory + 128, 32);
  EXPECT_EQ(api.cuMemcpy2DAsync(&unaligned, stream), 0);
  ScopedVariable setting("CUDASIM_PITCH_ALIGNMENT", "32");
  EXPECT_EQ(api.cuMemcpy2DAsync(&unaligned, stream), kInvalidValue);
  EXPECT_EQ(api.cuMemcpy2DAsync(&aligned, stream), 0);
  std::swap(unaligned.srcPitch, unaligned.dstPitch);
  EXPECT_EQ(api.cuMemcpy2DAsync(&unaligned, stream), kInvalidValue);
  // Copies from the host may have any pitch.
  float rows[12] = {};
  unaligned.srcMemoryType = 1;
  unaligned.srcHost = rows;
  EXPECT_EQ(api.cuMemcpy2DAsync(&unaligned, stream), 0);
}

} // namespace
