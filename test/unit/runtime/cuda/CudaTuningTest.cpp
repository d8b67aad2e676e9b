//===- CudaTuningTest.cpp - Tuning of vendor library calls ----------------===//
#include "CudaSim.h"
#include "runtime/cuda/CallWithAlternative.h"
#include "runtime/cuda/CublasLt.h"
#include "runtime/cuda/CudaBenchmark.h"
#include "runtime/cuda/Modules.h"
#include "runtime/cuda/VendorCall.h"
#include "runtime/executor/Executor.h"
#include "runtime/executor/TimingCache.h"
#include "test/common/Folder.h"
#include "test/common/ReplacedDriverCall.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
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

/// A call whose candidates clear different amounts of memory. A candidate that
/// clears 0 bytes is unusable.
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
  void release(int candidate) override { unreleased.erase(candidate); }
  std::uint64_t scratchBytes(int candidate) const override {
    return bytes[std::size_t(candidate)] == 0 ? kUnusable : 16;
  }
  void run(int candidate, const LaunchContext &context) override {
    ++runs;
    candidatesRun.insert(candidate);
    unreleased.insert(candidate);
    if (failingCandidate == candidate)
      throw unavailable("this engine fails");
    EXPECT_NE(context.scratch, 0u);
    device.api().check(device.api().cuMemsetD8Async(
                           memory.address(), 1, bytes[std::size_t(candidate)],
                           context.stream.get()),
                       "clearing");
    if (waitingCandidate == candidate)
      context.stream.synchronize("waiting");
  }

  int runs = 0, failingCandidate = -1;
  std::vector<std::string> engines; ///< by candidate; empty: all different
  std::set<int> candidatesRun, unreleased;
  /// This candidate synchronizes the stream, which captures forbid.
  int waitingCandidate = -1;

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

  CallTuner tunerFor(TimingCache &timings, bool enabled = true) const {
    return {timings, device.name() + " ", kCudaTuningPolicy, enabled};
  }
  int choose(CallTuner &tuner, VendorCall &call,
             const CallTuner::Action &prepare = {}) const {
    CudaBenchmark benchmark(device, stream, call);
    return tuner.choose(call, benchmark, prepare);
  }
  CallTuner::Result tune(CallTuner &tuner, VendorCall &call) const {
    CudaBenchmark benchmark(device, stream, call);
    tuner.startTuning();
    return tuner.tune(call, benchmark);
  }
};

TEST_F(CudaTuner, ChoosesTheFastestUsableCandidate) {
  ClearCall call(device, {1 << 26, 0, 16, 1 << 25});
  CallTuner tuner = tunerFor(cache);
  EXPECT_EQ(choose(tuner, call), 2);
  EXPECT_GT(call.runs, 3);
  // Later calls use the cache.
  call.runs = 0;
  EXPECT_EQ(choose(tuner, call), 2);
  EXPECT_EQ(call.runs, 0);
}

TEST_F(CudaTuner, MeasuresTwoSettingsOfEachEngine) {
  // 20 settings of one engine come first. The second engine has four settings:
  // the first is unusable, the next two are measured, the last one is not,
  // although it is the fastest.
  std::vector<std::uint64_t> bytes(20, 1 << 22);
  bytes.insert(bytes.end(), {0, 1 << 21, 16, 8});
  ClearCall call(device, bytes);
  call.engines.assign(20, "many");
  call.engines.insert(call.engines.end(), 4, "few");
  CallTuner tuner = tunerFor(cache);
  EXPECT_EQ(choose(tuner, call), 22);
  // The first two usable settings of each engine, then the next ones, 16 in
  // all.
  std::set<int> expected = {21, 22};
  for (int i = 0; i < 14; ++i)
    expected.insert(i);
  EXPECT_EQ(call.candidatesRun, expected);
  EXPECT_EQ(call.unreleased, std::set<int>({22}));
}

TEST_F(CudaTuner, WritesChoicesToTheFileAtOnce) {
  Folder folder;
  const std::string path = folder / "p.timing";
  TimingCache fileCache(path, warnings.sink());
  ClearCall call(device, {1 << 26, 16});
  CallTuner tuner = tunerFor(fileCache);
  choose(tuner, call);
  EXPECT_NE(TimingCache(path, warnings.sink()).find(device.name() + " clear"),
            nullptr);
  EXPECT_TRUE(warnings.texts.empty());
}

TEST_F(CudaTuner, SkipsFailingEngines) {
  ClearCall call(device, {1 << 26, 16});
  call.failingCandidate = 1;
  CallTuner tuner = tunerFor(cache);
  EXPECT_EQ(choose(tuner, call), 0);
  ClearCall unusable(device, {0, 0});
  EXPECT_EQ(errorOf([&] { choose(tuner, unusable); }).substr(0, 34),
            "3: no engine can be used for clear");
}

TEST_F(CudaTuner, PrefersCandidatesThatCanBeCaptured) {
  ClearCall call(device, {16, 1 << 26});
  call.waitingCandidate = 0;
  CallTuner tuner = tunerFor(cache);
  EXPECT_EQ(choose(tuner, call), 1);
  // A candidate that cannot be captured is chosen if there is no other.
  ClearCall uncapturable(device, {1 << 25, 0, 8});
  uncapturable.waitingCandidate = 2;
  uncapturable.failingCandidate = 0;
  TimingCache emptyCache{"", warnings.sink()};
  CallTuner emptyTuner = tunerFor(emptyCache);
  EXPECT_EQ(choose(emptyTuner, uncapturable), 2);
}

TEST_F(CudaTuner, TuneIgnoresTheCache) {
  cache.set(device.name() + " clear", {"clears 67108864", 1});
  ClearCall call(device, {0, 1 << 26, 16});
  CallTuner tuner = tunerFor(cache);
  EXPECT_EQ(choose(tuner, call), 1);
  EXPECT_EQ(call.runs, 0);
  const CallTuner::Result tuned = tune(tuner, call);
  EXPECT_EQ(tuned.first.index, 1);
  EXPECT_EQ(tuned.fastest.index, 2);
  EXPECT_LT(tuned.fastest.seconds, tuned.first.seconds);
  EXPECT_EQ(cache.find(device.name() + " clear")->candidate, "clears 16");
}

TEST_F(CudaTuner, ChoosesTheFirstUsableWithoutMeasuring) {
  ClearCall call(device, {0, 1 << 26, 16});
  CallTuner tuner = tunerFor(cache, /*enabled=*/false);
  EXPECT_EQ(choose(tuner, call), 1);
  EXPECT_EQ(call.runs, 0);
}

TEST_F(CudaTuner, MeasuresAgainIfTheCachedChoiceIsUnknown) {
  cache.set(device.name() + " clear", {"clears 5", 1});
  ClearCall call(device, {1 << 26, 16});
  CallTuner tuner = tunerFor(cache);
  EXPECT_EQ(choose(tuner, call), 1);
  EXPECT_EQ(cache.find(device.name() + " clear")->candidate, "clears 16");
}

/// `library` counts the runs of the candidates of the library.
TEST_F(CudaTuner, GeneratedCodeIsTheLastCandidate) {
  auto libraryCall = std::make_unique<ClearCall>(
      device, std::vector<std::uint64_t>{1 << 26, 1 << 25});
  ClearCall &library = *libraryCall;
  CallWithAlternative call(std::move(libraryCall), KernelLaunch{}, "brewc 1.2");
  EXPECT_EQ(call.key(), "clear beside brewc 1.2");
  ASSERT_EQ(call.candidates(), 3);
  EXPECT_EQ(call.describe(1), "clears 33554432");
  EXPECT_EQ(call.describe(2), "generated code");
  EXPECT_EQ(call.engine(2), "generated code");
  EXPECT_EQ(call.scratchBytes(0), 16u);
  EXPECT_EQ(call.scratchBytes(2), 0u);
  // The cache can select the generated code, whose release() is a no-op.
  cache.set(device.name() + " clear beside brewc 1.2", {"generated code", 1});
  CallTuner tuner = tunerFor(cache);
  EXPECT_EQ(choose(tuner, call), 2);
  call.release(2);
  EXPECT_EQ(library.runs, 0);
}

TEST_F(CudaTuner, GeneratedCodeReplacesTheCall) {
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
  auto libraryCall =
      std::make_unique<ClearCall>(device, std::vector<std::uint64_t>{16});
  ClearCall &library = *libraryCall;
  CallWithAlternative call(std::move(libraryCall), launch, "test");
  call.run(1, {device, stream});
  float results[4] = {};
  api.check(api.cuMemcpyDtoHAsync(results, y.address(), 16, stream.get()),
            "copying");
  stream.synchronize("waiting");
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(results[i], values[i] + 1);
  EXPECT_EQ(library.runs, 0);
}

/// cuBLASLt's suggestions for aligned operands may be invalid for less aligned
/// ones.
TEST_F(CudaTuner, ProductsOfOtherAlignmentHaveOtherKeys) {
  CublasLt library({std::string(CUDASIM_FOLDER) + "/libcublasLt.so.13"});
  PlanBuilder plan;
  for (const Dims &dims : {Dims{8, 16}, Dims{12, 16}, Dims{12}, Dims{8, 12}})
    plan.buffer("b", dims);
  InnerProductCall call;
  call.set_direction(FORWARD);
  call.set_axis(1);
  CallOptions options;
  options.workspaceLimit = 1 << 20;
  std::vector<DeviceMemory> memory;
  for (int i = 0; i < 4; ++i)
    memory.emplace_back(device, 4096, "test");
  // Returns the key if operand `moved` begins at offset `bytes`.
  auto keyWith = [&](int moved, CUdeviceptr bytes) {
    auto operand = [&](int i) {
      return DeviceBuffer{&plan.manifest.buffers(i),
                          memory[std::size_t(i)].address() +
                              (i == moved ? bytes : 0)};
    };
    return makeInnerProduct(device, library, call,
                            {operand(0), operand(1), operand(2), operand(3)},
                            options, "test")
        ->key();
  };
  const std::string aligned = keyWith(-1, 0);
  for (int operand = 0; operand < 4; ++operand) {
    EXPECT_NE(keyWith(operand, 8), aligned) << operand;
    EXPECT_NE(keyWith(operand, 8), keyWith(operand, 16)) << operand;
    EXPECT_EQ(keyWith(operand, 256), aligned) << operand;
  }
}

float fakeMilliseconds; // time that is reported between two events

int fakeElapsedTime(float *elapsed, CUevent, CUevent) {
  *elapsed = fakeMilliseconds;
  return CUDA_SUCCESS;
}

TEST_F(CudaTuner, TimesShortCallsTogether) {
  const ReplacedDriverCall clock(&DriverApi::cuEventElapsedTime,
                                 fakeElapsedTime);
  CallTuner tuner = tunerFor(cache);
  ClearCall call(device, {16, 8});
  // 5 to 20 short calls are timed together.
  fakeMilliseconds = 0.01f;
  const double secondsPerRun = tune(tuner, call).fastest.seconds;
  EXPECT_LE(secondsPerRun, 0.01e-3 / 5);
  EXPECT_GE(secondsPerRun, 0.01e-3 / 20);
  // Longer calls are timed one by one, at most five times per candidate.
  fakeMilliseconds = 0.05f;
  call.runs = 0;
  EXPECT_NEAR(tune(tuner, call).fastest.seconds, 0.05e-3, 1e-9);
  EXPECT_LE(call.runs, 2 * 5);
}

TEST_F(CudaTuner, PreparesBeforeMeasuring) {
  ClearCall call(device, {1 << 20, 16});
  CallTuner tuner = tunerFor(cache);
  int prepared = 0;
  const auto prepare = [&] {
    EXPECT_EQ(call.runs, 0);
    ++prepared;
  };
  choose(tuner, call, prepare);
  EXPECT_EQ(prepared, 1);
  choose(tuner, call, prepare); // now the cache has the choice
  EXPECT_EQ(prepared, 1);
}

/// Builds a plan with an inner product y = x w^T and with unrelated buffers.
class CudaTuningMemory : public CudaSim {
protected:
  void SetUp() override {
    CudaSim::SetUp();
    builder.emplace();
  }
  std::uint32_t add(const char *name, const Dims &dims, ArenaKind kind,
                    DataType type) {
    const std::uint32_t index = builder->buffer(name, dims, {}, type, kind);
    names[index] = name;
    return index;
  }
  void build(DataType type, ArenaKind resultArena = TRANSIENT) {
    labels = add("labels", {8}, TRANSIENT, F32);
    x = add("x", {8, 16}, TRANSIENT, type);
    w = add("w", {12, 16}, PARAMETERS, type);
    y = add("y", {8, 12}, resultArena, type);
    history = add("history", {12, 16}, STATE, F32);
    Step &step = *builder->program("main").add_steps();
    InnerProductCall &call = *step.mutable_inner_product();
    call.set_direction(FORWARD);
    call.set_axis(1);
    addCallOperands(step, x, w, y);
  }

  std::vector<std::byte> bytesOf(const Executor &executor,
                                 std::uint32_t buffer) const {
    std::vector<std::byte> bytes(
        builder->manifest.buffers(static_cast<int>(buffer)).size());
    executor.download(buffer, bytes.data());
    return bytes;
  }
  static bool isZero(const std::vector<std::byte> &bytes) {
    return std::all_of(bytes.begin(), bytes.end(),
                       [](std::byte byte) { return byte == std::byte(0); });
  }

  std::optional<PlanBuilder> builder;
  std::map<std::uint32_t, std::string> names;
  std::uint32_t labels, x, w, y, history;
};

// The functions below record device allocations, and their contents when
// measuring begins.
struct Allocation {
  std::size_t bytes;
  CUdeviceptr address;
};
std::vector<Allocation> allocated;
std::vector<std::vector<std::byte>> contents; ///< of each allocation
decltype(DriverApi::cuMemAlloc) originalAllocate = nullptr;
decltype(DriverApi::cuEventRecord) originalRecordEvent = nullptr;

int recordAllocation(CUdeviceptr *address, std::size_t bytes) {
  const int status = originalAllocate(address, bytes);
  allocated.push_back({bytes, *address});
  return status;
}

/// Reads device memory directly, because the simulator's memory is host memory.
int recordContentsAndEvent(CUevent event, CUstream stream) {
  if (contents.empty()) {
    simulatedDriver().cuStreamSynchronize(stream);
    for (const Allocation &slab : allocated) {
      const auto *first = reinterpret_cast<const std::byte *>(slab.address);
      contents.emplace_back(first, first + slab.bytes);
    }
  }
  return originalRecordEvent(event, stream);
}

template <typename Element> double valueOf(Element element) { return element; }
double valueOf(std::uint16_t bits) { // bf16
  const std::uint32_t wide = std::uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

/// Expects numbers in [-1, 1] of both signs, most of which differ.
template <typename Element>
void expectRandom(const std::vector<std::byte> &slab, std::uint64_t offset,
                  std::size_t count) {
  std::set<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    Element element;
    std::memcpy(&element, slab.data() + offset + i * sizeof element,
                sizeof element);
    EXPECT_TRUE(std::abs(valueOf(element)) <= 1) << valueOf(element);
    values.insert(valueOf(element));
  }
  EXPECT_GT(values.size(), count / 2);
  EXPECT_LT(*values.begin(), 0);
  EXPECT_GT(*values.rbegin(), 0);
}

TEST_F(CudaTuningMemory, MeasuresOnRandomNumbersWhileLoading) {
  for (DataType type : {F32, F64, BF16}) {
    builder.emplace();
    build(type);
    const plan::Manifest &manifest = builder->manifest;
    allocated.clear();
    contents.clear();
    ExecutorOptions options;
    options.tune = true;
    const ReplacedDriverCall allocations(&DriverApi::cuMemAlloc,
                                         recordAllocation);
    const ReplacedDriverCall records(&DriverApi::cuEventRecord,
                                     recordContentsAndEvent);
    originalAllocate = allocations.original();
    originalRecordEvent = records.original();
    const Executor executor(builder->build(), options);
    ASSERT_FALSE(contents.empty());
    for (std::uint32_t index : {x, w}) {
      const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
      const auto address =
          reinterpret_cast<CUdeviceptr>(executor.deviceData(index));
      bool wasFound = false;
      for (std::size_t i = 0; i < contents.size(); ++i)
        if (allocated[i].address == address - buffer.offset()) {
          wasFound = true;
          const auto count = std::size_t(plan::elementCount(buffer));
          SCOPED_TRACE(names[index] + " " + plan::DataType_Name(type));
          if (type == F64)
            expectRandom<double>(contents[i], buffer.offset(), count);
          else if (type == F32)
            expectRandom<float>(contents[i], buffer.offset(), count);
          else
            expectRandom<std::uint16_t>(contents[i], buffer.offset(), count);
        }
      EXPECT_TRUE(wasFound) << names[index];
    }
    // All buffers start with the same values as without measuring.
    for (std::uint32_t index : {labels, x, w, y, history})
      EXPECT_TRUE(isZero(bytesOf(executor, index))) << names[index];
  }
}

TEST_F(CudaTuningMemory, TuningPreservesPersistentBuffers) {
  // The result is in the STATE arena, beside the solver's history.
  build(F32, STATE);
  Executor executor(builder->build());
  std::map<std::uint32_t, std::vector<std::byte>> before;
  for (std::uint32_t index : {w, y, history}) {
    std::vector<std::byte> bytes = bytesOf(executor, index);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = std::byte(i % 61);
    executor.upload(index, bytes.data());
    before[index] = bytes;
  }
  int calls = 0;
  executor.tune([&](const TunedCall &) { ++calls; });
  EXPECT_EQ(calls, 1);
  for (const auto &[index, bytes] : before)
    EXPECT_EQ(bytesOf(executor, index), bytes) << names[index];
  // No random bits remain that the next run could read as labels.
  for (std::uint32_t index : {labels, x})
    EXPECT_TRUE(isZero(bytesOf(executor, index))) << names[index];
}

} // namespace
