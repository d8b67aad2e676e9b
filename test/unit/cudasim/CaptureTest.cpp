//===- CaptureTest.cpp - Operations that stream captures forbid -----------===//
#include "DriverFixture.h"
#include "runtime/cuda/VendorTable.h"

#include <functional>
#include <thread>

using namespace brew::runtime::cuda;
using namespace brew::test;

// Brew does not query events, but the libraries that it calls may.
extern "C" int cuEventQuery(void *);
extern "C" int cublasLtCreate(void **);
extern "C" int cublasLtDestroy(void *);

namespace {

struct NcclId {
  char internal[128];
};
extern "C" int ncclGetUniqueId(NcclId *);
extern "C" int ncclCommInitRank(void **, int, NcclId, int);
extern "C" int ncclCommDestroy(void *);

/// A fixture that captures `stream`; `otherStream` does not capture at first.
class CudasimCapture : public DriverTest {
protected:
  CUstream otherStream = nullptr;
  CUevent event = nullptr;

  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(api.cuStreamCreate(&otherStream, CU_STREAM_NON_BLOCKING), 0);
    ASSERT_EQ(api.cuEventCreate(&event, CU_EVENT_DEFAULT), 0);
  }
  void TearDown() override {
    EXPECT_EQ(api.cuEventDestroy(event), 0);
    EXPECT_EQ(api.cuStreamDestroy(otherStream), 0);
    DriverTest::TearDown();
  }

  void beginCapture(int mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) {
    ASSERT_EQ(api.cuStreamBeginCapture(stream, mode), 0);
  }
  /// Ends the capture and destroys its graph, if there is one.
  CUresult endCapture() {
    CUgraph graph = nullptr;
    const CUresult result = api.cuStreamEndCapture(stream, &graph);
    EXPECT_EQ(graph != nullptr, result == 0);
    if (graph) {
      EXPECT_EQ(api.cuGraphDestroy(graph), 0);
    }
    return result;
  }
};

/// Values of CUresult.
constexpr int kIllegalState = 401, kUnsupported = 900, kInvalidated = 901,
              kMerge = 902, kUnmatched = 903, kIsolation = 905, kImplicit = 906,
              kCapturedEvent = 907, kWrongThread = 908;

TEST_F(CudasimCapture, CapturedEventsHaveNoState) {
  float milliseconds = 0;
  const std::function<CUresult()> calls[] = {
      [&] { return cuEventQuery(event); },
      [&] { return api.cuEventSynchronize(event); },
      [&] { return api.cuEventElapsedTime(&milliseconds, event, event); }};
  for (const auto &call : calls)
    // Global, thread-local and relaxed captures forbid these calls, because
    // they depend on the event's state.
    for (int mode : {0, 1, 2}) {
      beginCapture(mode);
      EXPECT_EQ(api.cuEventRecord(event, stream), 0);
      EXPECT_EQ(call(), kCapturedEvent);
      EXPECT_EQ(endCapture(), kInvalidated);
      EXPECT_EQ(call(), kCapturedEvent) << "until it is recorded again";
    }
  EXPECT_EQ(api.cuEventRecord(event, stream), 0);
  EXPECT_EQ(cuEventQuery(event), 600);
  EXPECT_EQ(api.cuEventSynchronize(event), 0);
  EXPECT_EQ(cuEventQuery(event), 0);
}

TEST_F(CudasimCapture, OnlyRelaxedCapturesAllowWaitingForOtherEvents) {
  EXPECT_EQ(api.cuEventRecord(event, otherStream), 0);
  for (int mode : {0, 1, 2}) {
    const bool isRelaxed = mode == 2;
    beginCapture(mode);
    EXPECT_EQ(api.cuEventSynchronize(event), isRelaxed ? 0 : kUnsupported);
    EXPECT_EQ(endCapture(), isRelaxed ? 0 : kInvalidated);
    beginCapture(mode);
    EXPECT_EQ(cuEventQuery(event), isRelaxed ? 0 : kUnsupported);
    EXPECT_EQ(endCapture(), isRelaxed ? 0 : kInvalidated);
  }
}

TEST_F(CudasimCapture, WaitsDoNotCrossTheBoundaryOfACapture) {
  // A captured stream must not wait for work that was not captured, even if the
  // work is done.
  EXPECT_EQ(api.cuEventRecord(event, otherStream), 0);
  EXPECT_EQ(api.cuEventSynchronize(event), 0);
  beginCapture();
  EXPECT_EQ(api.cuStreamWaitEvent(stream, event, 0), kIsolation);
  EXPECT_EQ(endCapture(), kInvalidated);
  // Other streams must not wait for captured work, even after the capture.
  beginCapture();
  EXPECT_EQ(api.cuEventRecord(event, stream), 0);
  EXPECT_EQ(endCapture(), 0);
  EXPECT_EQ(api.cuStreamWaitEvent(otherStream, event, 0), kCapturedEvent);
  // Two captures must not wait for each other.
  beginCapture();
  ASSERT_EQ(api.cuStreamBeginCapture(otherStream, 1), 0);
  EXPECT_EQ(api.cuEventRecord(event, stream), 0);
  EXPECT_EQ(api.cuStreamWaitEvent(otherStream, event, 0), kMerge);
  CUgraph graph;
  EXPECT_EQ(api.cuStreamEndCapture(otherStream, &graph), kInvalidated);
  EXPECT_EQ(endCapture(), kInvalidated);
}

TEST_F(CudasimCapture, EndsOnTheStreamAndThreadWhereItBegan) {
  CUgraph graph;
  EXPECT_EQ(api.cuStreamEndCapture(otherStream, &graph), kIllegalState);
  beginCapture();
  EXPECT_EQ(api.cuEventRecord(event, stream), 0);
  EXPECT_EQ(api.cuStreamWaitEvent(otherStream, event, 0), 0);
  EXPECT_EQ(api.cuStreamEndCapture(otherStream, &graph), kUnmatched);
  EXPECT_EQ(endCapture(), kInvalidated);
  for (int mode : {0, 1, 2}) {
    beginCapture(mode);
    std::thread([&] {
      ASSERT_EQ(api.cuCtxSetCurrent(context), 0);
      EXPECT_EQ(endCapture(), mode == 2 ? 0 : kWrongThread);
    }).join();
    EXPECT_EQ(endCapture(), mode == 2 ? kIllegalState : kInvalidated);
  }
}

TEST_F(CudasimCapture, RejectsCallsAfterAnError) {
  const CUdeviceptr memory = allocate(4);
  beginCapture();
  EXPECT_EQ(api.cuStreamSynchronize(stream), kUnsupported);
  EXPECT_EQ(api.cuMemsetD8Async(memory, 0, 4, stream), kInvalidated);
  EXPECT_EQ(api.cuEventRecord(event, stream), kInvalidated);
  EXPECT_EQ(endCapture(), kInvalidated);
  EXPECT_EQ(api.cuMemsetD8Async(memory, 0, 4, stream), 0);
}

/// The legacy default stream only waits for blocking streams.
TEST_F(CudasimCapture, TheDefaultStreamWaitsForBlockingStreams) {
  const CUdeviceptr memory = allocate(4);
  beginCapture(2);
  EXPECT_EQ(api.cuMemsetD8Async(memory, 0, 4, nullptr), 0);
  EXPECT_EQ(endCapture(), 0);
  CUstream blocking;
  CUgraph graph;
  ASSERT_EQ(api.cuStreamCreate(&blocking, 0), 0);
  ASSERT_EQ(api.cuStreamBeginCapture(blocking, 2), 0);
  EXPECT_EQ(api.cuMemsetD8Async(memory, 0, 4, nullptr), kImplicit);
  EXPECT_EQ(api.cuStreamEndCapture(blocking, &graph), kInvalidated);
  EXPECT_EQ(api.cuStreamDestroy(blocking), 0);
}

TEST_F(CudasimCapture, ForbidsPinnedAllocations) {
  void *memory = nullptr;
  beginCapture();
  EXPECT_EQ(api.cuMemHostAlloc(&memory, 4, 0), kUnsupported);
  EXPECT_EQ(endCapture(), kInvalidated);
}

TEST_F(CudasimCapture, OlderDriversLoadNoModules) {
  Kernel kernel("k", "BREW_KERNEL(k, 32)(BREW_OUT(float, y, 1)) {}\n");
  CUmodule module;
  auto load = [&] {
    return api.cuModuleLoadDataEx(&module, kernel.image().data(), 0, nullptr,
                                  nullptr);
  };
  beginCapture();
  EXPECT_EQ(load(), 0);
  EXPECT_EQ(endCapture(), 0);
  EXPECT_EQ(api.cuModuleUnload(module), 0);
  ScopedVariable version("CUDASIM_DRIVER_VERSION", "12020");
  beginCapture();
  EXPECT_EQ(load(), kUnsupported);
  EXPECT_EQ(endCapture(), kInvalidated);
}

/// Only immediate copies stage pageable memory.
TEST_F(CudasimCapture, CapturedCopiesReadTheirSourceWhenTheyRun) {
  const CUdeviceptr memory = allocate(4);
  float source = 1;
  CUgraph graph;
  CUgraphExec executable;
  beginCapture();
  EXPECT_EQ(api.cuMemcpyHtoDAsync(memory, &source, 4, stream), 0);
  ASSERT_EQ(api.cuStreamEndCapture(stream, &graph), 0);
  ASSERT_EQ(api.cuGraphInstantiate(&executable, graph, 0), 0);
  source = 2;
  EXPECT_EQ(api.cuGraphLaunch(executable, stream), 0);
  EXPECT_EQ(download<float>(memory, 1)[0], 2);
  EXPECT_EQ(api.cuGraphExecDestroy(executable), 0);
  EXPECT_EQ(api.cuGraphDestroy(graph), 0);
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

TEST_F(CudasimCapture, LibrariesCannotBeOpened) {
  char message[BREW_VENDOR_MESSAGE_SIZE] = "";
  void *handle = nullptr, *communicator = nullptr;
  BrewVendorContext *vendor = nullptr;
  NcclId id;
  ASSERT_EQ(ncclGetUniqueId(&id), 0);
  beginCapture();
  EXPECT_NE(cublasLtCreate(&handle), 0);
  EXPECT_EQ(endCapture(), kInvalidated);
  beginCapture();
  EXPECT_NE(brewVendorTable.open(&vendor, message), 0);
  EXPECT_STREQ(message,
               "the library allocates memory, which a capturing stream "
               "forbids");
  EXPECT_EQ(endCapture(), kInvalidated);
  beginCapture();
  EXPECT_EQ(ncclCommInitRank(&communicator, 1, id, 0), 1);
  EXPECT_EQ(endCapture(), kInvalidated);

  EXPECT_EQ(cublasLtCreate(&handle), 0);
  EXPECT_EQ(cublasLtDestroy(handle), 0);
  EXPECT_EQ(brewVendorTable.open(&vendor, message), 0);
  brewVendorTable.close(vendor);
  EXPECT_EQ(ncclCommInitRank(&communicator, 1, id, 0), 0);
  EXPECT_EQ(ncclCommDestroy(communicator), 0);
}

/// Returns a convolution of one element.
BrewVendorConvolution oneElementConvolution() {
  BrewVendorConvolution call = {};
  call.direction = BREW_VENDOR_FORWARD;
  call.math = BREW_VENDOR_STRICT;
  for (BrewVendorTensor *tensor : {&call.x, &call.w, &call.y}) {
    tensor->type = BREW_VENDOR_F32;
    tensor->rank = 4;
    for (int i = 0; i < 4; ++i)
      tensor->dims[i] = tensor->strides[i] = 1;
  }
  for (int i = 0; i < 2; ++i)
    call.stride[i] = call.dilation[i] = 1;
  call.groups = 1;
  return call;
}

TEST_F(CudasimCapture, CandidatesAreBuiltBeforeTheCapture) {
  const CUdeviceptr x = upload(std::vector<float>{2}), y = allocate(4);
  const BrewVendorConvolution description = oneElementConvolution();
  char message[BREW_VENDOR_MESSAGE_SIZE] = "";
  BrewVendorContext *vendor = nullptr;
  BrewVendorCall *call = nullptr;
  const int candidate = 2;
  ASSERT_EQ(brewVendorTable.open(&vendor, message), 0);
  ASSERT_EQ(brewVendorTable.create_convolution(vendor, &description, 0, &call,
                                               message),
            0)
      << message;
  auto run = [&] {
    return brewVendorTable.run(call, candidate, at<void>(x), at<void>(x),
                               nullptr, at<void>(y), nullptr, stream, message);
  };
  beginCapture();
  EXPECT_NE(run(), 0);
  EXPECT_EQ(endCapture(), kInvalidated);
  EXPECT_EQ(brewVendorTable.workspace(call, candidate), 0u);
  beginCapture();
  EXPECT_EQ(run(), 0) << message;
  EXPECT_EQ(endCapture(), 0);
  brewVendorTable.release(call, candidate);
  beginCapture();
  EXPECT_EQ(brewVendorTable.workspace(call, candidate), UINT64_MAX);
  EXPECT_EQ(endCapture(), kInvalidated);
  brewVendorTable.destroy(call);
  brewVendorTable.close(vendor);
}

} // namespace
