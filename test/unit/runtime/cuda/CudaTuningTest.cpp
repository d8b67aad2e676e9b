//===- CudaTuningTest.cpp - Tuning of vendor library calls ----------------===//
#include "CudaSim.h"
#include "runtime/cuda/CallTuner.h"
#include "runtime/cuda/CallWithAlternative.h"
#include "runtime/cuda/CublasLt.h"
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
      throw unavailable("this engine fails");
    EXPECT_NE(workspace, 0u);
    device.api().check(
        device.api().cuMemsetD8Async(
            memory.address(), 1, bytes[std::size_t(candidate)], stream.get()),
        "clearing");
    if (waits == candidate)
      stream.synchronize("waiting");
  }

  int runs = 0, fails = -1;
  std::vector<std::string> engines; ///< by candidate; empty: all different
  std::set<int> ran, held;          ///< `held`: those not released since
  int waits = -1; ///< synchronises the stream, which captures forbid

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
  // Later calls use the cache.
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
  // The first two of each engine, then the next ones up to 16 in all.
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

TEST_F(CudaTuner, SkipsFailingEngines) {
  ClearCall call(device, {1 << 26, 16});
  call.fails = 1;
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  EXPECT_EQ(tuner.choose(call), 0);
  ClearCall none(device, {0, 0});
  EXPECT_EQ(errorOf([&] { tuner.choose(none); }).substr(0, 34),
            "3: no engine can be used for clear");
}

TEST_F(CudaTuner, PrefersCandidatesThatCanBeCaptured) {
  ClearCall call(device, {16, 1 << 26});
  call.waits = 0;
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  EXPECT_EQ(tuner.choose(call), 1);
  // A candidate that cannot be captured is chosen if there is no other.
  ClearCall only(device, {1 << 25, 0, 8});
  only.waits = 2;
  only.fails = 0;
  TimingCache empty{"", warnings.sink()};
  EXPECT_EQ(CallTuner(device, stream, empty, true).choose(only), 2);
}

TEST_F(CudaTuner, TuneIgnoresTheCache) {
  cache.set(device.name() + " clear", {"clears 67108864", 1});
  ClearCall call(device, {0, 1 << 26, 16});
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  EXPECT_EQ(tuner.choose(call), 1);
  EXPECT_EQ(call.runs, 0);
  const CallTuner::TuningResult tuned = tuner.tune(call);
  EXPECT_EQ(tuned.first, 1);
  EXPECT_EQ(tuned.fastest, 2);
  EXPECT_LT(tuned.fastestSeconds, tuned.firstSeconds);
  EXPECT_EQ(cache.find(device.name() + " clear")->candidate, "clears 16");
}

TEST_F(CudaTuner, ChoosesTheFirstUsableWithoutMeasuring) {
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

/// `library` counts the library's runs only.
TEST_F(CudaTuner, GeneratedCodeIsTheLastCandidate) {
  auto clears = std::make_unique<ClearCall>(
      device, std::vector<std::uint64_t>{1 << 26, 1 << 25});
  ClearCall &library = *clears;
  CallWithAlternative call(std::move(clears), KernelLaunch{}, device,
                           "brewc 1.2");
  EXPECT_EQ(call.key(), "clear beside brewc 1.2");
  ASSERT_EQ(call.candidates(), 3);
  EXPECT_EQ(call.describe(1), "clears 33554432");
  EXPECT_EQ(call.describe(2), "generated code");
  EXPECT_EQ(call.engine(2), "generated code");
  EXPECT_EQ(call.workspaceBytes(0), 16u);
  EXPECT_EQ(call.workspaceBytes(2), 0u);
  // The cache can select it; its release() is a no-op.
  cache.set(device.name() + " clear beside brewc 1.2", {"generated code", 1});
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  EXPECT_EQ(tuner.choose(call), 2);
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
  auto clears =
      std::make_unique<ClearCall>(device, std::vector<std::uint64_t>{16});
  ClearCall &library = *clears;
  CallWithAlternative call(std::move(clears), launch, device, "test");
  call.run(1, 0, stream);
  float results[4] = {};
  api.check(api.cuMemcpyDtoHAsync(results, y.address(), 16, stream.get()),
            "copying");
  stream.synchronize("waiting");
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(results[i], values[i] + 1);
  EXPECT_EQ(library.runs, 0);
}

/// cuBLASLt's suggestions for aligned operands may be invalid for others.
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
  // Returns the key if operand `moved` begins at offset `bytes`.
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

float milliseconds; // between two events

int fakeElapsedTime(float *elapsed, CUevent, CUevent) {
  *elapsed = milliseconds;
  return CUDA_SUCCESS;
}

TEST_F(CudaTuner, ShortCallsAreTimedTogether) {
  const ReplacedDriverCall clock(&DriverApi::cuEventElapsedTime,
                                 fakeElapsedTime);
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  ClearCall call(device, {16, 8});
  milliseconds = 0.01f;
  const double together = tuner.tune(call).fastestSeconds;
  EXPECT_LE(together, 0.01e-3 / 5);
  EXPECT_GE(together, 0.01e-3 / 20);
  milliseconds = 0.05f;
  call.runs = 0;
  EXPECT_NEAR(tuner.tune(call).fastestSeconds, 0.05e-3, 1e-9);
  EXPECT_LE(call.runs, 2 * 5);
}

TEST_F(CudaTuner, PreparesBeforeItMeasures) {
  ClearCall call(device, {1 << 20, 16});
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  int prepared = 0;
  const auto prepare = [&] {
    EXPECT_EQ(call.runs, 0);
    ++prepared;
  };
  tuner.choose(call, prepare);
  EXPECT_EQ(prepared, 1);
  tuner.choose(call, prepare); // the cache knows it now
  EXPECT_EQ(prepared, 1);
}

/// A product x w^T of a type, in a plan with other buffers.
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
  void build(DataType type, ArenaKind result = TRANSIENT) {
    labels = add("labels", {8}, TRANSIENT, F32);
    x = add("x", {8, 16}, TRANSIENT, type);
    w = add("w", {12, 16}, PARAMETERS, type);
    y = add("y", {8, 12}, result, type);
    history = add("history", {12, 16}, STATE, F32);
    InnerProductCall &call =
        *builder->program("main").add_steps()->mutable_inner_product();
    call.set_direction(FORWARD);
    call.set_axis(1);
    call.set_x_buffer_index(x);
    call.set_w_buffer_index(w);
    call.set_y_buffer_index(y);
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

// Records device allocations and their contents when measuring begins.
struct Watched {
  std::size_t bytes;
  CUdeviceptr address;
};
std::vector<Watched> allocated;
std::vector<std::vector<std::byte>> seen; ///< contents of each allocation
decltype(DriverApi::cuMemAlloc) allocate = nullptr;
decltype(DriverApi::cuEventRecord) recordEvent = nullptr;

int watchedAllocation(CUdeviceptr *address, std::size_t bytes) {
  const int status = allocate(address, bytes);
  allocated.push_back({bytes, *address});
  return status;
}

/// Reads device memory directly: the simulator's is host memory.
int watchedRecord(CUevent event, CUstream stream) {
  if (seen.empty()) {
    simulatedDriver().cuStreamSynchronize(stream);
    for (const Watched &slab : allocated) {
      const auto *first = reinterpret_cast<const std::byte *>(slab.address);
      seen.emplace_back(first, first + slab.bytes);
    }
  }
  return recordEvent(event, stream);
}

template <typename Element> double valueOf(Element element) { return element; }
double valueOf(std::uint16_t bits) { // bf16
  const std::uint32_t wide = std::uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

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

TEST_F(CudaTuningMemory, LoadingMeasuresOnRandomNumbers) {
  for (DataType type : {F32, F64, BF16}) {
    builder.emplace();
    build(type);
    const plan::Manifest &manifest = builder->manifest;
    allocated.clear();
    seen.clear();
    ExecutorOptions options;
    options.tune = true;
    const ReplacedDriverCall allocations(&DriverApi::cuMemAlloc,
                                         watchedAllocation);
    const ReplacedDriverCall records(&DriverApi::cuEventRecord, watchedRecord);
    allocate = allocations.original();
    recordEvent = records.original();
    const Executor executor(builder->build(), options);
    ASSERT_FALSE(seen.empty());
    for (std::uint32_t index : {x, w}) {
      const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
      const auto address =
          reinterpret_cast<CUdeviceptr>(executor.deviceData(index));
      bool found = false;
      for (std::size_t i = 0; i < seen.size(); ++i)
        if (allocated[i].address == address - buffer.offset()) {
          found = true;
          const auto count = std::size_t(plan::elementCount(buffer));
          SCOPED_TRACE(names[index] + " " + plan::DataType_Name(type));
          if (type == F64)
            expectRandom<double>(seen[i], buffer.offset(), count);
          else if (type == F32)
            expectRandom<float>(seen[i], buffer.offset(), count);
          else
            expectRandom<std::uint16_t>(seen[i], buffer.offset(), count);
        }
      EXPECT_TRUE(found) << names[index];
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
