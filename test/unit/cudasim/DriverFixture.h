//===- DriverFixture.h - The stand-in driver for tests ----------*- C++ -*-===//
#ifndef BREW_TEST_CUDASIM_DRIVER_FIXTURE_H
#define BREW_TEST_CUDASIM_DRIVER_FIXTURE_H

#include "runtime/cuda/DriverApi.h"

#include <gtest/gtest.h>
#include <vector>

namespace brew::test {

/// A context on the simulated device and a stream.
class DriverTest : public testing::Test {
protected:
  using CUdeviceptr = runtime::cuda::CUdeviceptr;

  const runtime::cuda::DriverApi &api =
      runtime::cuda::DriverApi::open(CUDASIM_FOLDER "/libcuda.so.1");
  runtime::cuda::CUcontext context = nullptr;
  runtime::cuda::CUstream stream = nullptr;

  void SetUp() override {
    ASSERT_EQ(api.cuDevicePrimaryCtxRetain(&context, 0), 0);
    ASSERT_EQ(api.cuCtxSetCurrent(context), 0);
    ASSERT_EQ(
        api.cuStreamCreate(&stream, runtime::cuda::CU_STREAM_NON_BLOCKING), 0);
  }
  void TearDown() override {
    EXPECT_EQ(api.cuStreamDestroy(stream), 0);
    for (CUdeviceptr address : allocated)
      EXPECT_EQ(api.cuMemFree(address), 0);
    EXPECT_EQ(api.cuDevicePrimaryCtxRelease(0), 0);
  }

  CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(api.cuMemAlloc(&address, bytes), 0);
    allocated.push_back(address);
    return address;
  }
  template <class T> CUdeviceptr upload(const std::vector<T> &values) {
    CUdeviceptr address = allocate(values.size() * sizeof(T));
    EXPECT_EQ(api.cuMemcpyHtoDAsync(address, values.data(),
                                    values.size() * sizeof(T), stream),
              0);
    return address;
  }
  template <class T>
  std::vector<T> download(CUdeviceptr address, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(api.cuMemcpyDtoHAsync(values.data(), address, count * sizeof(T),
                                    stream),
              0);
    return values;
  }

private:
  std::vector<CUdeviceptr> allocated;
};

template <class T> T *at(runtime::cuda::CUdeviceptr address) {
  return reinterpret_cast<T *>(address);
}

} // namespace brew::test

#endif // BREW_TEST_CUDASIM_DRIVER_FIXTURE_H
