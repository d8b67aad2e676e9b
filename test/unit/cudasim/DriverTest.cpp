//===- DriverTest.cpp - Tests of the simulated driver ---------------------===//
#include "DriverFixture.h"
#include "Kernel.h"

#include <cmath>
#include <cstring>
#include <thread>

using namespace brew::runtime::cuda;
using namespace brew::test;

namespace {

using CudasimDriver = DriverTest;

/// Values of CUresult.
constexpr int kInvalidContext = 201, kNoBinaryForGpu = 209, kNotFound = 500,
              kNotReady = 600, kCaptureUnsupported = 900,
              kCaptureInvalidated = 901, kCaptureUnjoined = 904;

TEST_F(CudasimDriver, FreshMemoryIsNotANumber) {
  CUdeviceptr memory = allocate(64);
  for (float value : download<float>(memory, 16))
    EXPECT_TRUE(std::isnan(value));
}

TEST_F(CudasimDriver, PinnedMemoryIsReadWhenTheCopyRuns) {
  CUdeviceptr memory = allocate(4);
  PinnedFloats source(api, 1);
  *source.data = 1;
  api.cuMemcpyHtoDAsync(memory, source.data, 4, stream);
  *source.data = 2; // changes the value before the copy runs
  EXPECT_EQ(download<float>(memory, 1)[0], 2);
  // Pageable memory is copied immediately.
  float pageable = 3;
  api.cuMemcpyHtoDAsync(memory, &pageable, 4, stream);
  pageable = 4;
  EXPECT_EQ(download<float>(memory, 1)[0], 3);
}

TEST_F(CudasimDriver, CopiesToTheHostCompleteOnlyWhenAwaited) {
  CUdeviceptr memory = upload(std::vector<float>{5});
  PinnedFloats target(api, 1);
  *target.data = 0;
  api.cuMemcpyDtoHAsync(target.data, memory, 4, stream);
  EXPECT_EQ(*target.data, 0);
  EXPECT_EQ(api.cuStreamSynchronize(stream), 0);
  EXPECT_EQ(*target.data, 5);
}

TEST_F(CudasimDriver, OnlyAnEventOrdersStreams) {
  CUdeviceptr memory = allocate(4);
  CUstream otherStream;
  CUevent event;
  ASSERT_EQ(api.cuStreamCreate(&otherStream, CU_STREAM_NON_BLOCKING), 0);
  ASSERT_EQ(api.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), 0);
  float value = 1;
  api.cuMemcpyHtoDAsync(memory, &value, 4, otherStream);
  EXPECT_TRUE(std::isnan(download<float>(memory, 1)[0]));
  api.cuEventRecord(event, otherStream);
  api.cuStreamWaitEvent(stream, event, 0);
  EXPECT_EQ(download<float>(memory, 1)[0], 1);
  EXPECT_EQ(api.cuEventDestroy(event), 0);
  EXPECT_EQ(api.cuStreamDestroy(otherStream), 0);
}

TEST_F(CudasimDriver, CopiesOutsideAllocationsAreFound) {
  CUdeviceptr memory = allocate(64);
  char bytes[128] = {};
  EXPECT_EXIT(
      {
        api.cuMemcpyHtoDAsync(memory + 32, bytes, 33, stream);
        api.cuStreamSynchronize(stream);
      },
      testing::ExitedWithCode(70),
      "copy to the device: 33 bytes at offset 32 of an allocation of 64");
  EXPECT_EXIT(api.cuMemcpyDtoHAsync(bytes, memory, 65, stream),
              testing::ExitedWithCode(70), "copy from the device: 65 bytes");
  EXPECT_EXIT(
      {
        api.cuMemcpyDtoDAsync(memory, memory + 8, 16, stream);
        api.cuStreamSynchronize(stream);
      },
      testing::ExitedWithCode(70), "source and target overlap");
  EXPECT_EXIT(
      {
        api.cuMemsetD8Async(memory, 0, 80, stream);
        api.cuStreamSynchronize(stream);
      },
      testing::ExitedWithCode(70), "fill: 80 bytes at offset 0");
  EXPECT_EXIT(
      {
        CUdeviceptr freed;
        api.cuMemAlloc(&freed, 16);
        api.cuMemFree(freed);
        api.cuMemcpyDtoHAsync(bytes, freed, 16, stream);
      },
      testing::ExitedWithCode(70), "where nothing is allocated");
}

TEST_F(CudasimDriver, MemoryIsLimited) {
  ScopedVariable setting("CUDASIM_MEMORY", "4096");
  std::size_t free = 0, total = 0;
  CUdeviceptr memory = allocate(4000), second = 0;
  EXPECT_EQ(api.cuMemGetInfo(&free, &total), 0);
  EXPECT_EQ(total, 4096u);
  EXPECT_EQ(free, 96u);
  EXPECT_EQ(api.cuMemAlloc(&second, 97), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(api.text(CUDA_ERROR_OUT_OF_MEMORY),
            "out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
  (void)memory;
}

TEST_F(CudasimDriver, IsConfiguredByTheEnvironment) {
  int value = 0;
  api.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                           0);
  EXPECT_EQ(value, 9);
  ScopedVariable capability("CUDASIM_CAPABILITY", "75");
  ScopedVariable version("CUDASIM_DRIVER_VERSION", "11040");
  api.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                           0);
  EXPECT_EQ(value, 5);
  api.cuDriverGetVersion(&value);
  EXPECT_EQ(value, 11040);
  ScopedVariable devices("CUDASIM_DEVICES", "0");
  EXPECT_EQ(api.cuInit(0), CUDA_ERROR_NO_DEVICE);
}

TEST_F(CudasimDriver, EachThreadNeedsTheContext) {
  std::thread([&] {
    CUdeviceptr memory;
    EXPECT_EQ(api.cuMemAlloc(&memory, 16), kInvalidContext);
    EXPECT_EQ(api.cuCtxSetCurrent(context), 0);
    EXPECT_EQ(api.cuMemAlloc(&memory, 16), 0);
    EXPECT_EQ(api.cuMemFree(memory), 0);
  }).join();
}

TEST_F(CudasimDriver, EventsMeasureTime) {
  CUevent start, end;
  ASSERT_EQ(api.cuEventCreate(&start, CU_EVENT_DEFAULT), 0);
  ASSERT_EQ(api.cuEventCreate(&end, CU_EVENT_DEFAULT), 0);
  CUdeviceptr memory = allocate(1 << 22);
  float milliseconds = -1;
  api.cuEventRecord(start, stream);
  api.cuMemsetD8Async(memory, 0, 1 << 22, stream);
  api.cuEventRecord(end, stream);
  EXPECT_EQ(api.cuEventElapsedTime(&milliseconds, start, end), kNotReady);
  EXPECT_EQ(api.cuEventSynchronize(end), 0);
  EXPECT_EQ(api.cuEventElapsedTime(&milliseconds, start, end), 0);
  EXPECT_GT(milliseconds, 0);
  api.cuEventDestroy(start);
  api.cuEventDestroy(end);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

TEST_F(CudasimDriver, GraphsRunTheirCapturedWork) {
  CUdeviceptr a = upload(std::vector<float>{1, 2}), b = allocate(8);
  ASSERT_EQ(api.cuStreamSynchronize(stream), 0);
  ASSERT_EQ(
      api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), 0);
  api.cuMemcpyDtoDAsync(b, a, 4, stream);
  api.cuMemcpyDtoDAsync(b + 4, a, 4, stream);
  CUgraph graph;
  CUgraphExec executable;
  ASSERT_EQ(api.cuStreamEndCapture(stream, &graph), 0);
  std::size_t nodes = 0;
  EXPECT_EQ(api.cuGraphGetNodes(graph, nullptr, &nodes), 0);
  EXPECT_EQ(nodes, 2u);
  ASSERT_EQ(api.cuGraphInstantiate(&executable, graph, 0), 0);
  EXPECT_EQ(api.cuGraphDestroy(graph), 0);
  EXPECT_TRUE(std::isnan(download<float>(b, 2)[0])) << "capturing runs nothing";
  for (float value : {1.0f, 9.0f}) {
    api.cuMemcpyHtoDAsync(a, &value, 4, stream);
    EXPECT_EQ(api.cuGraphLaunch(executable, stream), 0);
    EXPECT_EQ(download<float>(b, 2), (std::vector<float>{value, value}));
  }
  EXPECT_EQ(api.cuGraphExecDestroy(executable), 0);
}

TEST_F(CudasimDriver, ForbiddenCallsInvalidateACapture) {
  ASSERT_EQ(api.cuStreamBeginCapture(stream, 1), 0);
  CUdeviceptr memory;
  EXPECT_EQ(api.cuMemAlloc(&memory, 16), kCaptureUnsupported);
  CUgraph graph;
  EXPECT_EQ(api.cuStreamEndCapture(stream, &graph), kCaptureInvalidated);
  ASSERT_EQ(api.cuStreamBeginCapture(stream, 1), 0);
  EXPECT_EQ(api.cuStreamSynchronize(stream), kCaptureUnsupported);
  EXPECT_EQ(api.cuStreamEndCapture(stream, &graph), kCaptureInvalidated);
}

TEST_F(CudasimDriver, OnlyGlobalCapturesForbidCallsOfOtherThreads) {
  // The modes are global, thread-local and relaxed.
  for (int mode : {0, 1, 2}) {
    ASSERT_EQ(api.cuStreamBeginCapture(stream, mode), 0);
    std::thread([&] {
      ASSERT_EQ(api.cuCtxSetCurrent(context), 0);
      CUdeviceptr memory;
      EXPECT_EQ(api.cuMemAlloc(&memory, 16),
                mode == 0 ? kCaptureUnsupported : 0);
      if (mode != 0) {
        EXPECT_EQ(api.cuMemFree(memory), 0);
      }
    }).join();
    CUgraph graph;
    EXPECT_EQ(api.cuStreamEndCapture(stream, &graph),
              mode == 0 ? kCaptureInvalidated : 0);
    if (mode != 0) {
      EXPECT_EQ(api.cuGraphDestroy(graph), 0);
    }
  }
}

TEST_F(CudasimDriver, AnotherStreamJoinsACapture) {
  CUdeviceptr memory = allocate(8);
  CUstream otherStream;
  CUevent fork, join;
  ASSERT_EQ(api.cuStreamCreate(&otherStream, CU_STREAM_NON_BLOCKING), 0);
  ASSERT_EQ(api.cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING), 0);
  ASSERT_EQ(api.cuEventCreate(&join, CU_EVENT_DISABLE_TIMING), 0);
  for (bool isJoined : {true, false}) {
    ASSERT_EQ(api.cuStreamBeginCapture(stream, 1), 0);
    api.cuEventRecord(fork, stream);
    api.cuStreamWaitEvent(otherStream, fork, 0);
    api.cuMemsetD8Async(memory, 0, 8, otherStream);
    if (isJoined) {
      api.cuEventRecord(join, otherStream);
      api.cuStreamWaitEvent(stream, join, 0);
    }
    CUgraph graph = nullptr;
    EXPECT_EQ(api.cuStreamEndCapture(stream, &graph),
              isJoined ? 0 : kCaptureUnjoined);
    if (graph)
      api.cuGraphDestroy(graph);
  }
  api.cuEventDestroy(fork);
  api.cuEventDestroy(join);
  EXPECT_EQ(api.cuStreamDestroy(otherStream), 0);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

const char *const kScale = R"(
BREW_KERNEL(scale, 32)(BREW_IN(float, x, 64), BREW_OUT(float, y, 64)) {
  int i = blockIdx.x * 32 + threadIdx.x;
  y[i] = 2.0f * x[i];
}
)";

TEST_F(CudasimDriver, LaunchesCopyTheirArgumentsWhenQueued) {
  Kernel kernel("scale", kScale);
  CUmodule module;
  CUfunction function;
  ASSERT_EQ(api.cuModuleLoadDataEx(&module, kernel.image().data(), 0, nullptr,
                                   nullptr),
            0);
  EXPECT_EQ(api.cuModuleGetFunction(&function, module, "other"), kNotFound);
  ASSERT_EQ(api.cuModuleGetFunction(&function, module, "scale"), 0);
  CUdeviceptr x = upload(std::vector<float>(64, 3)), y = allocate(256);
  CUdeviceptr arguments[] = {x, y};
  void *pointers[] = {&arguments[0], &arguments[1]};
  EXPECT_EQ(api.cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, stream, pointers,
                               nullptr),
            0);
  arguments[0] = arguments[1] = 0;
  EXPECT_EQ(download<float>(y, 64), std::vector<float>(64, 6));
  EXPECT_EQ(api.cuModuleUnload(module), 0);
}

TEST_F(CudasimDriver, ModulesAreLoadedSideBySide) {
  Kernel first("first", "BREW_KERNEL(first, 32)(BREW_OUT(float, y, 1)) {}\n");
  Kernel second("second",
                "BREW_KERNEL(second, 32)(BREW_OUT(float, y, 1)) {}\n");
  CUmodule modules[2];
  CUfunction function;
  const Kernel *kernels[] = {&first, &second};
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(api.cuModuleLoadDataEx(&modules[i], kernels[i]->image().data(), 0,
                                     nullptr, nullptr),
              0);
  EXPECT_EQ(api.cuModuleGetFunction(&function, modules[0], "first"), 0);
  EXPECT_EQ(api.cuModuleGetFunction(&function, modules[1], "second"), 0);
  EXPECT_EQ(api.cuModuleGetFunction(&function, modules[1], "first"), kNotFound);
  for (CUmodule module : modules)
    EXPECT_EQ(api.cuModuleUnload(module), 0);
}

TEST_F(CudasimDriver, ArgumentsThatAreTooSmallAreFound) {
  Kernel kernel("scale", kScale);
  CUmodule module;
  CUfunction function;
  ASSERT_EQ(api.cuModuleLoadDataEx(&module, kernel.image().data(), 0, nullptr,
                                   nullptr),
            0);
  ASSERT_EQ(api.cuModuleGetFunction(&function, module, "scale"), 0);
  CUdeviceptr x = allocate(256), y = allocate(252);
  void *pointers[] = {&x, &y};
  auto launch = [&](unsigned shared) {
    api.cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, shared, stream, pointers,
                       nullptr);
    api.cuStreamSynchronize(stream);
  };
  EXPECT_EXIT(
      launch(0), testing::ExitedWithCode(70),
      "kernel 'scale': argument y \\(64 elements of 4 bytes\\) does not "
      "lie in one allocation");
  EXPECT_EXIT(launch(16), testing::ExitedWithCode(70),
              "16 bytes of dynamic shared memory");
  EXPECT_EQ(api.cuModuleUnload(module), 0);
}

TEST_F(CudasimDriver, CodeForAGpuDoesNotRun) {
  CUmodule module;
  EXPECT_EQ(api.cuModuleLoadDataEx(&module, ".version 9.0\n.target sm_90\n", 0,
                                   nullptr, nullptr),
            kNoBinaryForGpu);
  unsigned char cubin[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
  cubin[16] = 2;
  cubin[18] = 190;
  EXPECT_EQ(api.cuModuleLoadDataEx(&module, cubin, 0, nullptr, nullptr),
            kNoBinaryForGpu);
}

} // namespace
