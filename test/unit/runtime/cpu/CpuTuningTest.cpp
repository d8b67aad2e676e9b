//===- CpuTuningTest.cpp - Tuning of a plan's library calls ---------------===//
//
// The fastest candidate depends on the machine, so the effects of a choice are
// tested with timing caches that name a certain candidate.
//
//===----------------------------------------------------------------------===//
#include "Reference.h"
#include "runtime/executor/Executor.h"
#include "runtime/executor/TimingCache.h"
#include "support/Error.h"
#include "test/common/Folder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace brew;
using namespace brew::plan;
using namespace brew::runtime;
using namespace brew::test;

namespace {

class CpuTuning : public testing::Test {
protected:
  CpuTuning() {
    xIndex = builder.buffer("x", {2, 16, 12, 12},
                            stridesFor({2, 16, 12, 12}, {0, 2, 3, 1}));
    wIndex = builder.buffer("w", {16, 16, 3, 3}, {}, F32, PARAMETERS);
    yIndex = builder.buffer("y", {2, 16, 12, 12},
                            stridesFor({2, 16, 12, 12}, {0, 2, 3, 1}));
    zIndex = builder.buffer("z", {2, 16, 12, 12},
                            stridesFor({2, 16, 12, 12}, {0, 2, 3, 1}));
    Program &program = builder.program("deploy");
    // The first two calls are equal, the third is different.
    addConvolution(program, xIndex, yIndex, false);
    addConvolution(program, yIndex, zIndex, false);
    addConvolution(program, zIndex, yIndex, true);
  }

  void addConvolution(Program &program, std::uint32_t from, std::uint32_t to,
                      bool relu) const {
    Step &step = *program.add_steps();
    ConvolutionCall &call = *step.mutable_convolution();
    call.set_direction(FORWARD);
    *call.mutable_window() = windowOf({.kernel = {3, 3}, .pad = {1, 1}});
    addCallOperands(step, from, wIndex, to);
    call.mutable_epilogue()->set_relu(relu);
  }

  ExecutorOptions options() {
    ExecutorOptions result;
    result.threads = 2;
    result.timingCache = path;
    result.warn = [this](const std::string &text) { warnings.push_back(text); };
    return result;
  }
  /// Tunes the calls and returns the reports.
  std::vector<TunedCall> tune(Executor &executor) {
    std::vector<TunedCall> calls;
    executor.tune([&](const TunedCall &call) { calls.push_back(call); });
    return calls;
  }
  TimingCache::Choices cachedChoices() const {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return TimingCache::parse(text.str()).value();
  }
  /// Replaces the candidate of every call in the timing cache.
  void replaceCachedChoices(const std::string &candidate) const {
    const TimingCache::Choices before = cachedChoices();
    TimingCache cache(path, {});
    for (const auto &[key, choice] : before)
      cache.set(key, {candidate, 1});
    cache.write();
  }
  std::vector<float> runAndDownload(Executor &executor) const {
    Tensor({2, 16, 12, 12}, 1).store(executor, xIndex);
    Tensor({16, 16, 3, 3}, 2).store(executor, wIndex);
    executor.packParameters();
    executor.run(0);
    std::vector<float> values(2 * 16 * 12 * 12);
    executor.download(yIndex, reinterpret_cast<std::byte *>(values.data()));
    return values;
  }

  /// Returns the largest difference divided by the largest value of `a`.
  /// Results of two implementations differ by f32 rounding only.
  static double relativeDifference(const std::vector<float> &a,
                                   const std::vector<float> &b) {
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      largest = std::max(largest, std::abs(double(a[i])));
      difference = std::max(difference, std::abs(double(a[i]) - b[i]));
    }
    return difference / largest;
  }

  PlanBuilder builder;
  std::uint32_t xIndex, wIndex, yIndex, zIndex;
  Folder folder;
  std::string path = folder / "net.timing";
  std::vector<std::string> warnings;
};

TEST_F(CpuTuning, ReportsEachCallAndCachesTheChoices) {
  Executor executor(builder.build(), options());
  EXPECT_FALSE(std::filesystem::exists(path)); // no measurements without tune()
  const std::vector<float> before = runAndDownload(executor);
  const std::vector<TunedCall> calls = tune(executor);
  ASSERT_EQ(calls.size(), 3u);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].program, 0);
    EXPECT_EQ(calls[i].step, i);
    EXPECT_GT(calls[i].untuned.seconds, 0);
    EXPECT_LE(calls[i].fastest.seconds, calls[i].untuned.seconds);
  }
  EXPECT_EQ(calls[0].fastest.name, calls[1].fastest.name);
  EXPECT_EQ(calls[0].fastest.seconds, calls[1].fastest.seconds);
  EXPECT_EQ(cachedChoices().size(), 2u);
  for (const auto &[key, choice] : cachedChoices())
    EXPECT_NE(key.find(", 2 threads, oneDNN "), key.npos) << key;
  // This executor and later ones use the choices.
  const std::vector<float> after = runAndDownload(executor);
  EXPECT_LT(relativeDifference(after, before), 2e-6);
  Executor nextExecutor(builder.build(), options());
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(nextExecutor.implementation(0, i), executor.implementation(0, i));
  EXPECT_EQ(runAndDownload(nextExecutor), after);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(CpuTuning, MeasuringPreservesMemory) {
  Executor executor(builder.build(), options());
  const Tensor x({2, 16, 12, 12}, 1), w({16, 16, 3, 3}, 2),
      y({2, 16, 12, 12}, 3);
  x.store(executor, xIndex);
  w.store(executor, wIndex);
  y.store(executor, yIndex);
  tune(executor);
  x.expectNear(executor, xIndex);
  w.expectNear(executor, wIndex);
  y.expectNear(executor, yIndex);
}

TEST_F(CpuTuning, ExecutorsUseTheCachedChoices) {
  {
    Executor executor(builder.build(), options());
    tune(executor);
  }
  replaceCachedChoices("winograd 2x2");
  Executor tile2(builder.build(), options());
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(tile2.implementation(0, i).find("Winograd 2x2"), 0u)
        << tile2.implementation(0, i);
  replaceCachedChoices("winograd 4x4");
  Executor tile4(builder.build(), options());
  EXPECT_EQ(tile4.implementation(0, 0).find("Winograd 4x4"), 0u);
  EXPECT_LT(relativeDifference(runAndDownload(tile2), runAndDownload(tile4)),
            2e-6);
  // The cache is ignored without ExecutorOptions::tune...
  Executor defaultExecutor(builder.build(), ExecutorOptions());
  ExecutorOptions untuned = options();
  untuned.tune = false;
  replaceCachedChoices(
      defaultExecutor.implementation(0, 0).find("Winograd 4x4") == 0
          ? "winograd 2x2"
          : "winograd 4x4");
  EXPECT_EQ(Executor(builder.build(), untuned).implementation(0, 0),
            defaultExecutor.implementation(0, 0));
  // ... and so are choices for other numbers of threads.
  ExecutorOptions oneThread = options();
  oneThread.threads = 1;
  ExecutorOptions oneThreadUntuned = untuned;
  oneThreadUntuned.threads = 1;
  EXPECT_EQ(Executor(builder.build(), oneThread).implementation(0, 0),
            Executor(builder.build(), oneThreadUntuned).implementation(0, 0));
  EXPECT_TRUE(warnings.empty());
}

/// The generated kernel computes something else, so that the test recognizes
/// it.
TEST_F(CpuTuning, UsesGeneratedCodeIfItWasFastest) {
  Program &program = *builder.manifest.mutable_programs(0);
  program.clear_steps();
  addConvolution(program, xIndex, yIndex, false);
  GeneratedAlternative &generated =
      *program.mutable_steps(0)->mutable_generated_alternative();
  generated.set_kernel_index(builder.kernel("addOne", 2, 2 * 16 * 12 * 12, 64));
  generated.add_operand_indices(0); // x
  generated.add_operand_indices(2); // y
  {
    Executor executor(builder.build(), options());
    EXPECT_EQ(tune(executor).size(), 1u);
    ASSERT_EQ(cachedChoices().size(), 1u);
    const std::string key = cachedChoices().begin()->first;
    const std::string &producer = builder.manifest.producer();
    EXPECT_NE(key.find(" beside " + producer + " for "), key.npos) << key;
  }
  replaceCachedChoices("generated code");
  Executor executor(builder.build(), options());
  EXPECT_EQ(executor.implementation(0, 0), "generated code");
  const std::vector<float> results = runAndDownload(executor);
  std::vector<float> x(results.size());
  executor.download(xIndex, reinterpret_cast<std::byte *>(x.data()));
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(results[i], x[i] + 1) << i;
  // Without ExecutorOptions::tune, the choice is ignored.
  ExecutorOptions untuned = options();
  untuned.tune = false;
  EXPECT_NE(Executor(builder.build(), untuned).implementation(0, 0),
            "generated code");
}

/// oneDNN has no convolutions in f64.
TEST_F(CpuTuning, UsesGeneratedCodeIfTheLibraryHasNoImplementation) {
  builder = PlanBuilder();
  xIndex = builder.buffer("x", {1, 2, 3, 3}, {}, F64);
  wIndex = builder.buffer("w", {2, 2, 1, 1}, {}, F64, PARAMETERS);
  yIndex = builder.buffer("y", {1, 2, 3, 3}, {}, F64);
  Program &program = builder.program("deploy");
  Step &step = *program.add_steps();
  ConvolutionCall &call = *step.mutable_convolution();
  call.set_direction(FORWARD);
  *call.mutable_window() = windowOf({.kernel = {1, 1}});
  addCallOperands(step, xIndex, wIndex, yIndex);
  try {
    Executor(builder.build(), options());
    FAIL() << "oneDNN computes it";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Unavailable);
  }
  GeneratedAlternative &generated =
      *program.mutable_steps(0)->mutable_generated_alternative();
  generated.set_kernel_index(builder.kernel("addOne", 2, 18));
  generated.add_operand_indices(0); // x
  generated.add_operand_indices(2); // y
  Executor executor(builder.build(), options());
  EXPECT_EQ(executor.implementation(0, 0), "generated code");
  const std::vector<TunedCall> calls = tune(executor);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].fastest.name, "generated code");
}

TEST_F(CpuTuning, IgnoresUnknownCandidates) {
  {
    Executor executor(builder.build(), options());
    tune(executor);
  }
  replaceCachedChoices("of another version");
  ExecutorOptions untuned = options();
  untuned.tune = false;
  EXPECT_EQ(Executor(builder.build(), options()).implementation(0, 0),
            Executor(builder.build(), untuned).implementation(0, 0));
}

TEST_F(CpuTuning, ExactConvolutionsStayExact) {
  builder.manifest.mutable_target()->set_exact_convolutions(true);
  Executor executor(builder.build(), options());
  for (const TunedCall &call : tune(executor))
    EXPECT_EQ(call.fastest.name.find("winograd"), std::string::npos);
  replaceCachedChoices("winograd 4x4");
  Executor nextExecutor(builder.build(), options());
  EXPECT_EQ(nextExecutor.implementation(0, 0).find("oneDNN"), 0u)
      << nextExecutor.implementation(0, 0);
}

TEST_F(CpuTuning, ReportsUnwritableCacheBeforeMeasuring) {
  ExecutorOptions unwritable = options();
  unwritable.timingCache = "/no/such/folder/net.timing";
  Executor executor(builder.build(), unwritable);
  int reportedCalls = 0;
  try {
    executor.tune([&](const TunedCall &) { ++reportedCalls; });
    FAIL() << "the cache was written";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Unavailable);
    EXPECT_NE(std::string(error.what()).find("/no/such/folder/net.timing"),
              std::string::npos);
  }
  EXPECT_EQ(reportedCalls, 0);
}

TEST_F(CpuTuning, WarnsOfDamagedCacheAndReplacesIt) {
  std::ofstream(path) << "rubbish";
  Executor executor(builder.build(), options());
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("it is ignored"), std::string::npos);
  tune(executor);
  EXPECT_EQ(cachedChoices().size(), 2u);
}

} // namespace
