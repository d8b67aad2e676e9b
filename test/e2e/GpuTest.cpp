//===- GpuTest.cpp - brew-run with plans for a GPU ------------------------===//
//
// Uses the CUDA simulator, which a build with tests puts next to the tools.
//
//===----------------------------------------------------------------------===//
#include "RunFixture.h"

#include "formats/WeightFile.h"

using namespace brew;

namespace {

class Gpu : public test::RunFixture {
protected:
  Gpu() { setenv("BREW_TEST_CUDASIM", "1", 1); }
  ~Gpu() override {
    unsetenv("BREW_TEST_CUDASIM");
    unsetenv("BREW_CUDASIM");
  }
  static void useSimulatorAsDriver() {
    const std::filesystem::path tool = BREW_RUN;
    setenv("BREW_CUDASIM",
           (tool.parent_path().parent_path() / "lib" / "cudasim").c_str(), 1);
  }
  static void removeSimulator() { setenv("BREW_CUDASIM", "/no/such", 1); }
};

} // namespace

TEST_F(Gpu, TrainsToTheSameBitsAsTheCpu) {
  writeTrainingPlan();
  const auto done = run({"train", "net.plan", "-gpu", "0"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(contains(done.err, "caffe.cpp:218] Using GPUs 0"));
  EXPECT_TRUE(contains(done.err, "] GPU 0: "));
  const auto weights = [&] {
    const auto file = formats::readWeights(folder / "snap_iter_10.caffemodel");
    return file.layers.at(0).blobs.at(0).floats;
  };
  const auto onGpu = weights();
  std::filesystem::remove(folder / "snap_iter_10.caffemodel");
  unsetenv("BREW_TEST_CUDASIM");
  writeTrainingPlan();
  ASSERT_EQ(run({"train", "net.plan"}).status, 0);
  EXPECT_EQ(weights(), onGpu);
}

TEST_F(Gpu, TimeMeasuresGraphs) {
  writeTrainingPlan();
  const auto done = run({"time", "net.plan", "--iterations", "3"});
  EXPECT_EQ(done.status, 0) << done.err;
  for (const char *text :
       {"Use GPU with device ID 0", "ip\tforward: ", "Average on the GPU: ",
        "CUDA graph: 4 nodes; GPU memory: "})
    EXPECT_TRUE(contains(done.err, text)) << text << "\n" << done.err;
}

TEST_F(Gpu, InspectNamesTheArchitectures) {
  writeTrainingPlan();
  const auto done = run({"inspect", "net.plan"});
  EXPECT_EQ(done.status, 0);
  EXPECT_TRUE(contains(done.out, "target: CUDA sim, F32")) << done.out;
}

TEST_F(Gpu, ADamagedTimingCacheIsIgnored) {
  writeTrainingPlan();
  test::writeBytes(folder / "cache", "rubbish");
  const auto done = run({"train", "net.plan", "--timing-cache", "cache"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(contains(
      done.err, "cache: the timing cache is damaged or of another version"))
      << done.err;
}

TEST_F(Gpu, MissingGpusAndDriversAreErrors) {
  writeTrainingPlan();
  auto done = run({"train", "net.plan", "-gpu", "3"});
  EXPECT_EQ(done.status, 3);
  EXPECT_TRUE(
      contains(done.err, "there is no GPU 3: the CUDA driver finds one"))
      << done.err;
  done = run({"train", "net.plan", "-gpu", "0,1"});
  EXPECT_EQ(done.status, 3);
  EXPECT_TRUE(
      contains(done.err, "there is no GPU 1: the CUDA driver finds one"))
      << done.err;
  removeSimulator();
  done = run({"train", "net.plan"});
  EXPECT_EQ(done.status, 3);
  EXPECT_TRUE(contains(done.err, "the plan was built for the simulator"))
      << done.err;
}

TEST_F(Gpu, DeviceQueryPrintsCaffesList) {
  useSimulatorAsDriver();
  for (const char *gpu : {"0", "all"}) {
    const auto done = run({"device_query", "-gpu", gpu});
    EXPECT_EQ(done.status, 0) << done.err;
    for (const char *line :
         {"common.cpp:183] Device id:                     0",
          "Major revision number:         ", "Total global memory:           ",
          "Maximum dimension of block:    ", "Concurrent copy and execution: ",
          "Kernel execution timeout:      "})
      EXPECT_TRUE(contains(done.err, line)) << line << "\n" << done.err;
  }
  EXPECT_EQ(run({"device_query", "-gpu", "9"}).status, 3);
  EXPECT_EQ(run({"device_query", "-gpu", "first"}).status, 2);
  removeSimulator();
  const auto done = run({"device_query", "-gpu", "0"});
  EXPECT_EQ(done.status, 3);
  EXPECT_TRUE(contains(done.err, "the CUDA driver cannot be opened"));
}
