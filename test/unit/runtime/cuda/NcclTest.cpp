//===- NcclTest.cpp - All-reduces that fail, or have one rank -------------===//
#include "runtime/cuda/Nccl.h"
#include "CudaSim.h"

#include <thread>

using namespace brew;
using namespace brew::runtime;
using namespace brew::runtime::cuda;

namespace {

class NcclTest : public test::CudaSim {
protected:
  const std::string folder = CUDASIM_FOLDER;
  const Device device{DriverApi::open(folder + "/libcuda.so.1"), 0};
  const Stream stream{device};
};

/// The starting thread holds the lock when the watcher aborts. ThreadSanitizer
/// (preset tsan) checks how the error reaches other threads.
TEST_F(NcclTest, AllReducesThatNeverEndAreAborted) {
  const DeviceMemory memory(device, 64, "test");
  Nccl nccl(device, {FAKE_NCCL}, nullptr);
  std::string started;
  std::thread starter([&] {
    device.makeCurrent();
    started = errorOf([&] {
      nccl.startAllReduce({{memory.address(), 4, false}}, stream);
    });
  });
  std::string reported;
  while (reported.empty()) {
    reported = errorOf([&] { nccl.checkForErrors(); });
    std::this_thread::yield();
  }
  starter.join();
  EXPECT_EQ(reported, "3: adding gradients up over GPUs: NCCL: the remote "
                      "process exited");
  EXPECT_EQ(started, reported);
  EXPECT_EQ(errorOf([&] {
              nccl.startAllReduce({{memory.address(), 4, false}}, stream);
            }),
            reported);
}

TEST_F(NcclTest, OneRankAddsNothing) {
  const float values[] = {1, 2, 3, 4};
  const DeviceMemory memory(device, sizeof values, "test");
  const DriverApi &api = device.api();
  api.check(api.cuMemcpyHtoDAsync(memory.address(), values, sizeof values,
                                  stream.get()),
            "copying");
  Nccl nccl(device, {folder + "/libnccl.so.2"}, nullptr);
  EXPECT_TRUE(nccl.reducesInSteps());
  EXPECT_EQ(nccl.name(), "NCCL 2.27.3");
  {
    const Graph graph = Graph::capture(device, stream, [&] {
      nccl.startAllReduce({{memory.address(), 4, false}}, stream);
      nccl.waitForAllReduce(stream);
    });
    graph.launch(stream);
    graph.launch(stream);
    stream.synchronize("adding up");
  }
  nccl.checkForErrors();
  float sums[4] = {};
  api.check(
      api.cuMemcpyDtoHAsync(sums, memory.address(), sizeof sums, stream.get()),
      "copying");
  stream.synchronize("copying");
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(sums[i], values[i]);
}

} // namespace
