//===- DriverFixture.h - Fixture for the simulated driver -------*- C++ -*-===//
#ifndef BREW_TEST_CUDASIM_DRIVER_FIXTURE_H
#define BREW_TEST_CUDASIM_DRIVER_FIXTURE_H

#include "Kernel.h"
#include "runtime/cuda/DriverApi.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace brew::test {

/// Sets an environment variable until the end of its scope.
struct ScopedVariable {
  ScopedVariable(const char *name, const char *value) : name(name) {
    setenv(name, value, 1);
  }
  ~ScopedVariable() { unsetenv(name); }
  const char *name;
};

/// Pinned host memory of `count` floats, freed at the end of its scope.
struct PinnedFloats {
  PinnedFloats(const runtime::cuda::DriverApi &api, std::size_t count)
      : api(api) {
    void *memory = nullptr;
    EXPECT_EQ(api.cuMemHostAlloc(&memory, count * sizeof(float), 0), 0);
    data = static_cast<float *>(memory);
  }
  ~PinnedFloats() { EXPECT_EQ(api.cuMemFreeHost(data), 0); }
  const runtime::cuda::DriverApi &api;
  float *data;
};

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
    for (runtime::cuda::CUmodule module : modules)
      EXPECT_EQ(api.cuModuleUnload(module), 0);
    EXPECT_EQ(api.cuDevicePrimaryCtxRelease(0), 0);
  }

  /// Allocates device memory, which is freed at the end of the test.
  CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(api.cuMemAlloc(&address, bytes), 0);
    allocated.push_back(address);
    return address;
  }
  /// Copies values into new device memory.
  template <class T> CUdeviceptr upload(const std::vector<T> &values) {
    CUdeviceptr address = allocate(values.size() * sizeof(T));
    EXPECT_EQ(api.cuMemcpyHtoDAsync(address, values.data(),
                                    values.size() * sizeof(T), stream),
              0);
    return address;
  }
  /// Copies `count` values from the device after all work of the stream.
  template <class T>
  std::vector<T> download(CUdeviceptr address, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(api.cuMemcpyDtoHAsync(values.data(), address, count * sizeof(T),
                                    stream),
              0);
    return values;
  }

  /// Loads a kernel's image, which is unloaded at the end of the test. Returns
  /// one of its functions.
  runtime::cuda::CUfunction load(const Kernel &kernel,
                                 const std::string &name) {
    runtime::cuda::CUmodule module = nullptr;
    runtime::cuda::CUfunction function = nullptr;
    EXPECT_EQ(api.cuModuleLoadDataEx(&module, kernel.image().data(), 0, nullptr,
                                     nullptr),
              0);
    modules.push_back(module);
    EXPECT_EQ(api.cuModuleGetFunction(&function, module, name.c_str()), 0);
    return function;
  }

private:
  std::vector<CUdeviceptr> allocated;
  std::vector<runtime::cuda::CUmodule> modules;
};

/// Returns a device address as a pointer.
template <class T> T *at(runtime::cuda::CUdeviceptr address) {
  return reinterpret_cast<T *>(address);
}

} // namespace brew::test

#endif // BREW_TEST_CUDASIM_DRIVER_FIXTURE_H
