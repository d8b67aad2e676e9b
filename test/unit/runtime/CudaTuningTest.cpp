//===- CudaTuningTest.cpp - How vendor calls are chosen, and kept ---------===//
#include "CudaSim.h"
#include "runtime/TimingCache.h"
#include "runtime/cuda/CallTuner.h"
#include "runtime/cuda/CublasLt.h"
#include "runtime/cuda/GeneratedCall.h"
#include "runtime/cuda/Modules.h"
#include "runtime/cuda/VendorCall.h"
#include "test/common/Folder.h"

#include <set>

using namespace brew;
using namespace brew::plan;
using namespace brew::runtime;
using namespace brew::runtime::cuda;
using namespace brew::test;

namespace {

struct Warnings {
  std::vector<std::string> texts;
  TimingCache::Warning sink() {
    return [this](const std::string &text) { texts.push_back(text); };
  }
};

/// A call whose candidates clear more or less memory.
class ClearCall : public VendorCall {
public:
  ClearCall(const Device &device, std::vector<std::uint64_t> bytes)
      : device(device), bytes(std::move(bytes)),
        memory(device, 1 << 26, "test") {}
  std::string key() const override { return "clear"; }
  int candidates() const override { return static_cast<int>(bytes.size()); }
  std::string describe(int candidate) const override {
    return "clears " + std::to_string(bytes[std::size_t(candidate)]);
  }
  std::string engine(int candidate) const override {
    return engines.empty() ? describe(candidate)
                           : engines[std::size_t(candidate)];
  }
  void release(int candidate) override { held.erase(candidate); }
  std::uint64_t workspaceBytes(int candidate) const override {
    return bytes[std::size_t(candidate)] == 0 ? kUnusable : 16;
  }
  void run(int candidate, CUdeviceptr workspace,
           const Stream &stream) override {
    ++runs;
    ran.insert(candidate);
    held.insert(candidate);
    if (fails == candidate)
      throw machineLacks("this engine fails");
    EXPECT_NE(workspace, 0u);
    device.api().check(
        device.api().cuMemsetD8Async(
            memory.address(), 1, bytes[std::size_t(candidate)], stream.get()),
        "clearing");
    if (waits == candidate)
      stream.synchronize("waiting");
  }

  int runs = 0, fails = -1;
  std::vector<std::string> engines; ///< of candidates, where they share them
  std::set<int> ran, held;          ///< and what was not released since
  int waits = -1; ///< which waits for the device, as no part of a graph may

private:
  const Device &device;
  std::vector<std::uint64_t> bytes;
  DeviceMemory memory;
};

class CudaTuner : public CudaSim {
protected:
  const Device device{
      DriverApi::open(std::string(CUDASIM_FOLDER) + "/libcuda.so.1"), 0};
  const Stream stream{device};
  Warnings warnings;
  TimingCache cache{"", warnings.sink()};
};

TEST_F(CudaTuner, TakesTheFastestThatWorks) {
  ClearCall call(device, {1 << 26, 0, 16, 1 << 25});
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  EXPECT_EQ(tuner.choose(call), 2);
  EXPECT_GT(call.runs, 3);
  // The cache answers from now on.
  call.runs = 0;
  EXPECT_EQ(tuner.choose(call), 2);
  EXPECT_EQ(call.runs, 0);
}

TEST_F(CudaTuner, MeasuresTwoSettingsOfEachEngine) {
  // 20 settings of one engine come first; the fastest is the last but one of
  // all, an engine's second setting. One of its settings cannot be used.
  std::vector<std::uint64_t> bytes(20, 1 << 22);
  bytes.insert(bytes.end(), {0, 1 << 21, 16, 8});
  ClearCall call(device, bytes);
  call.engines.assign(20, "many");
  call.engines.insert(call.engines.end(), 4, "few");
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  EXPECT_EQ(tuner.choose(call), 22);
  // The first two of each, then what comes next up to 16 in all.
  std::set<int> expected = {21, 22};
  for (int i = 0; i < 14; ++i)
    expected.insert(i);
  EXPECT_EQ(call.ran, expected);
  EXPECT_EQ(call.held, std::set<int>({22}));
}

TEST_F(CudaTuner, AChoiceIsInTheFileAtOnce) {
  Folder folder;
  const std::string path = folder / "p.timing";
  TimingCache kept(path, warnings.sink());
  ClearCall call(device, {1 << 26, 16});
  CallTuner(device, stream, kept, /*measure=*/true).choose(call);
  EXPECT_NE(TimingCache(path, warnings.sink()).find(device.name() + " clear"),
            nullptr);
  EXPECT_TRUE(warnings.texts.empty());
}

TEST_F(CudaTuner, PassesOverEnginesThatFail) {
  ClearCall call(device, {1 << 26, 16});
  call.fails = 1;
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  EXPECT_EQ(tuner.choose(call), 0);
  ClearCall none(device, {0, 0});
  EXPECT_EQ(errorOf([&] { tuner.choose(none); }).substr(0, 34),
            "3: no engine can be used for clear");
}

TEST_F(CudaTuner, PrefersWhatCanBePartOfAGraph) {
  ClearCall call(device, {16, 1 << 26});
  call.waits = 0;
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  EXPECT_EQ(tuner.choose(call), 1);
  // Alone it is taken all the same.
  ClearCall only(device, {1 << 25, 0, 8});
  only.waits = 2;
  only.fails = 0;
  TimingCache empty{"", warnings.sink()};
  EXPECT_EQ(CallTuner(device, stream, empty, true).choose(only), 2);
}

TEST_F(CudaTuner, TunesWhateverTheCacheSays) {
  cache.set(device.name() + " clear", {"clears 67108864", 1});
  ClearCall call(device, {0, 1 << 26, 16});
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  EXPECT_EQ(tuner.choose(call), 1);
  EXPECT_EQ(call.runs, 0);
  const CallTuner::Tuned tuned = tuner.tune(call);
  EXPECT_EQ(tuned.first, 1);
  EXPECT_EQ(tuned.fastest, 2);
  EXPECT_LT(tuned.fastestSeconds, tuned.firstSeconds);
  EXPECT_EQ(cache.find(device.name() + " clear")->candidate, "clears 16");
}

TEST_F(CudaTuner, WithoutMeasuringTheFirstUsable) {
  ClearCall call(device, {0, 1 << 26, 16});
  CallTuner tuner(device, stream, cache, /*measure=*/false);
  EXPECT_EQ(tuner.choose(call), 1);
  EXPECT_EQ(call.runs, 0);
}

TEST_F(CudaTuner, AnUnknownChoiceInTheCacheIsMeasuredAgain) {
  cache.set(device.name() + " clear", {"clears 5", 1});
  ClearCall call(device, {1 << 26, 16});
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  EXPECT_EQ(tuner.choose(call), 1);
  EXPECT_EQ(cache.find(device.name() + " clear")->candidate, "clears 16");
}

/// Counts what is asked of the library alone.
TEST_F(CudaTuner, GeneratedCodeIsTheLastCandidate) {
  auto clears = std::make_unique<ClearCall>(
      device, std::vector<std::uint64_t>{1 << 26, 1 << 25});
  ClearCall &library = *clears;
  GeneratedCall call(std::move(clears), KernelLaunch{}, device, "brewc 1.2");
  EXPECT_EQ(call.key(), "clear beside brewc 1.2");
  ASSERT_EQ(call.candidates(), 3);
  EXPECT_EQ(call.describe(1), "clears 33554432");
  EXPECT_EQ(call.describe(2), "generated code");
  EXPECT_EQ(call.engine(2), "generated code");
  EXPECT_EQ(call.workspaceBytes(0), 16u);
  EXPECT_EQ(call.workspaceBytes(2), 0u);
  // A cache that names it has it taken; release() of it is nothing's.
  cache.set(device.name() + " clear beside brewc 1.2", {"generated code", 1});
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  EXPECT_EQ(tuner.choose(call), 2);
  call.release(2);
  EXPECT_EQ(library.runs, 0);
}

TEST_F(CudaTuner, GeneratedCodeRunsInTheCallsPlace) {
  PlanBuilder builder;
  builder.buffer("x", {4});
  kernel(builder, "addOne", 2);
  builder.program("main");
  const auto plan = builder.build();
  const Modules modules(device, *plan, /*simulated=*/true);
  const DeviceMemory x(device, 16, "test"), y(device, 16, "test");
  const float values[] = {1, 2, 3, 4};
  const DriverApi &api = device.api();
  api.check(api.cuMemcpyHtoDAsync(x.address(), values, 16, stream.get()),
            "copying");
  KernelLaunch launch;
  launch.function = modules.function(0);
  launch.threads = 32;
  launch.arguments = {x.address(), y.address()};
  launch.symbol = "addOne";
  auto clears =
      std::make_unique<ClearCall>(device, std::vector<std::uint64_t>{16});
  ClearCall &library = *clears;
  GeneratedCall call(std::move(clears), launch, device, "test");
  call.run(1, 0, stream);
  float results[4] = {};
  api.check(api.cuMemcpyDtoHAsync(results, y.address(), 16, stream.get()),
            "copying");
  stream.synchronize("waiting");
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(results[i], values[i] + 1);
  EXPECT_EQ(library.runs, 0);
}

/// What cuBLASLt suggests for aligned operands may not run on others.
TEST_F(CudaTuner, ProductsOfOtherAlignmentShareNoChoice) {
  CublasLt library({std::string(CUDASIM_FOLDER) + "/libcublasLt.so.13"});
  PlanBuilder plan;
  for (const Dims &dims : {Dims{8, 16}, Dims{12, 16}, Dims{12}, Dims{8, 12}})
    plan.buffer("b", dims);
  InnerProductCall call;
  call.set_direction(FORWARD);
  call.set_axis(1);
  call.set_b_buffer_index(2);
  CallOptions options;
  options.workspaceLimit = 1 << 20;
  std::vector<DeviceMemory> memory;
  for (int i = 0; i < 4; ++i)
    memory.emplace_back(device, 4096, "test");
  // The key where operand `moved` begins `bytes` into its memory.
  auto key = [&](int moved, CUdeviceptr bytes) {
    auto operand = [&](int i) {
      return DeviceBuffer{&plan.manifest.buffers(i),
                          memory[std::size_t(i)].address() +
                              (i == moved ? bytes : 0)};
    };
    return makeInnerProduct(device, library, call, operand(0), operand(1),
                            operand(2), operand(3), options, "test")
        ->key();
  };
  const std::string aligned = key(-1, 0);
  for (int operand = 0; operand < 4; ++operand) {
    EXPECT_NE(key(operand, 8), aligned) << operand;
    EXPECT_NE(key(operand, 8), key(operand, 16)) << operand;
    EXPECT_EQ(key(operand, 256), aligned) << operand;
  }
}

} // namespace
