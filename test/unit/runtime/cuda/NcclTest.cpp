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

/// FAKE_NCCL's all-reduces block until they are aborted, so startAllReduce()
/// still holds Nccl's mutex when Nccl's watcher thread aborts them. With the
/// preset tsan, the test also detects data races on the error.
TEST_F(NcclTest, AbortsAllReducesThatNeverEnd) {
  const DeviceMemory memory(device, 64, "test");
  Nccl nccl(device, {FAKE_NCCL}, nullptr);
  std::string startError;
  std::thread starter([&] {
    device.makeCurrent();
    startError = errorOf([&] {
      nccl.startAllReduce({{memory.address(), 4, false}}, stream);
    });
  });
  std::string reportedError;
  while (reportedError.empty()) {
    reportedError = errorOf([&] { nccl.checkForErrors(); });
    std::this_thread::yield();
  }
  starter.join();
  EXPECT_EQ(reportedError, "3: adding gradients up over GPUs: NCCL: the remote "
                           "process exited");
  EXPECT_EQ(startError, reportedError);
  EXPECT_EQ(errorOf([&] {
              nccl.startAllReduce({{memory.address(), 4, false}}, stream);
            }),
            reportedError);
}

TEST_F(NcclTest, OneRankKeepsItsValues) {
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
