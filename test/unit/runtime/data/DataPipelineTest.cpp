//===- DataPipelineTest.cpp - Inputs and prefetching ----------------------===//
#include "runtime/data/DataPipeline.h"
#include "TestPlan.h"
#include "runtime/data/Prefetcher.h"
#include "support/ThreadWithoutSignals.h"
#include "test/common/NoMoreThreads.h"
#include "test/common/TestFiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

using namespace brew;
using namespace brew::runtime;

namespace {

/// Reads batches with consecutive numbers, each after a delay. Fails at batch
/// `failAt`.
class CountingSource : public BatchSource {
public:
  explicit CountingSource(int failAt = -1, int milliseconds = 0)
      : failAt(failAt), delayMilliseconds(milliseconds) {}

  void read(const std::vector<std::byte *> &tops) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(delayMilliseconds));
    mostAhead = std::max(mostAhead.load(), batchesRead - batchesTaken);
    if (int(current.records) == failAt) {
      hasFailed = true;
      throw badInput("the source broke");
    }
    *reinterpret_cast<float *>(tops[0]) = float(current.records++);
    ++batchesRead;
  }
  SourcePosition position() const override { return current; }
  void seek(const SourcePosition &target) override { current = target; }

  static void reset() {
    batchesRead = batchesTaken = mostAhead = 0;
    hasFailed = false;
  }
  static std::atomic<int> batchesRead, batchesTaken;
  /// The maximum number of batches read but not acquired while another was
  /// read.
  static std::atomic<int> mostAhead;
  static std::atomic<bool> hasFailed;

private:
  SourcePosition current;
  int failAt, delayMilliseconds;
};
std::atomic<int> CountingSource::batchesRead{0};
std::atomic<int> CountingSource::batchesTaken{0};
std::atomic<int> CountingSource::mostAhead{0};
std::atomic<bool> CountingSource::hasFailed{false};

/// Waits for another thread; the test's time limit ends a wait that never
/// succeeds.
template <typename Condition> void waitUntil(Condition condition) {
  while (!condition())
    std::this_thread::yield();
}

struct OneFloatLayer {
  plan::Buffer buffer = test::makeBuffer("x", 0, 0, {1});
  DataLayerInfo info;
  OneFloatLayer() { info.tops = {&buffer}; }
};

float takeValue(Prefetcher &prefetcher) {
  const float value = *reinterpret_cast<float *>(prefetcher.acquire().tops[0]);
  ++CountingSource::batchesTaken;
  prefetcher.release();
  return value;
}

const char *const kInput = "name: 'in' type: 'Input' top: 'x' top: 'target'";
const char *const kSolver = "base_lr: 0.1 lr_policy: 'fixed' max_iter: 1";

std::vector<float> readFloats(Executor &executor, std::uint32_t buffer,
                              int count) {
  std::vector<float> values;
  executor.read(buffer, [&](const std::byte *bytes) {
    const auto *data = reinterpret_cast<const float *>(bytes);
    values.assign(data, data + count);
  });
  return values;
}

} // namespace

TEST(Prefetcher, DeliversInOrderAndReadsAheadNoFurtherThanItsDepth) {
  OneFloatLayer top;
  CountingSource::reset();
  Prefetcher prefetcher(std::make_unique<CountingSource>(), top.info, {true},
                        3);
  EXPECT_EQ(takeValue(prefetcher), 0);
  waitUntil([] { return CountingSource::batchesRead == 4; });
  for (int i = 1; i < 100; ++i)
    ASSERT_EQ(takeValue(prefetcher), float(i));
  // Three buffers: the next batch is read once fewer than three are waiting.
  EXPECT_LE(CountingSource::mostAhead, 2);
}

TEST(Prefetcher, PositionIsTheConsumersNotTheReaders) {
  OneFloatLayer top;
  CountingSource::reset();
  Prefetcher prefetcher(std::make_unique<CountingSource>(), top.info, {true},
                        4);
  takeValue(prefetcher);
  takeValue(prefetcher);
  waitUntil([] { return CountingSource::batchesRead > 2; });
  EXPECT_EQ(prefetcher.consumed().records, 2u);
}

TEST(Prefetcher, ErrorsArriveWithTheBatchTheyBelongTo) {
  OneFloatLayer top;
  CountingSource::reset();
  Prefetcher prefetcher(std::make_unique<CountingSource>(2), top.info, {true},
                        4);
  EXPECT_EQ(takeValue(prefetcher), 0);
  waitUntil([] { return CountingSource::hasFailed.load(); });
  EXPECT_EQ(takeValue(prefetcher), 1);
  test::expectError(ExitStatus::BadInput, "broke",
                    [&] { takeValue(prefetcher); });
  test::expectError(ExitStatus::BadInput, "broke",
                    [&] { takeValue(prefetcher); });
}

TEST(Prefetcher, CountsStarvation) {
  OneFloatLayer top;
  Prefetcher slow(std::make_unique<CountingSource>(-1, 1), top.info, {true}, 2);
  while (slow.waits() < 2) // the first batch does not count
    takeValue(slow);
  EXPECT_GT(slow.secondsWaited(), 0);
}

TEST(Prefetcher, ReportsThatNoThreadCanStart) {
  OneFloatLayer top;
  Prefetcher prefetcher(std::make_unique<CountingSource>(), top.info, {true},
                        2);
  {
    const test::NoMoreThreads threadLimit;
    test::expectError(ExitStatus::Unavailable, "cannot create another thread",
                      [&] { prefetcher.start(); });
  }
  EXPECT_EQ(takeValue(prefetcher), 0);
}

TEST(SilentThread, TakesNoSignals) {
  sigset_t before, inside, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  startThreadWithoutSignals([&] {
    pthread_sigmask(SIG_SETMASK, nullptr, &inside);
  }).join();
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_TRUE(sigismember(&inside, SIGINT));
  EXPECT_EQ(sigismember(&after, SIGINT), sigismember(&before, SIGINT));
}

TEST(DataPipeline, FeedsTheCallersValuesEveryPass) {
  Executor executor(test::loadPlan(test::linearModel(kInput, kSolver)));
  const int program = executor.findProgram("forward_backward");
  DataPipeline pipeline(executor, program, {1}, "");
  EXPECT_EQ(pipeline.tops(), (std::vector<std::string>{"x", "target"}));
  EXPECT_EQ(pipeline.unsetTops(), pipeline.tops());
  const std::vector<float> target = {1, 2, 3, 4};
  pipeline.set("target", target.data(), 4);
  EXPECT_EQ(pipeline.unsetTops(), std::vector<std::string>{"x"});
  pipeline.feedData();
  EXPECT_EQ(readFloats(executor, 1, 4), target);
  EXPECT_EQ(readFloats(executor, 0, 12), std::vector<float>(12)); // zeros
  // The program may reuse the memory within a run.
  executor.modify(
      1, [](std::byte *bytes) { reinterpret_cast<float *>(bytes)[2] = 99; });
  pipeline.feedData();
  EXPECT_EQ(readFloats(executor, 1, 4), target);
  test::expectError(ExitStatus::BadInput, "no input blob 'y'",
                    [&] { pipeline.set("y", target.data(), 4); });
  test::expectError(ExitStatus::BadInput, "4 x 3",
                    [&] { pipeline.set("x", target.data(), 4); });
}

TEST(DataPipeline, InputsStayUnsetUntilOverridden) {
  Executor executor(test::loadPlan(test::linearModel(kInput, kSolver)));
  DataPipeline pipeline(executor, 0, {1}, "");
  pipeline.open();
  pipeline.feedData();
  EXPECT_EQ(pipeline.unsetTops(), pipeline.tops());
  pipeline.setCallback({"x"}, [](const auto &) {});
  EXPECT_EQ(pipeline.unsetTops(), std::vector<std::string>{"target"});
  pipeline.reset({2});
  pipeline.feedData();
  EXPECT_EQ(pipeline.unsetTops(), std::vector<std::string>{"target"});
}

TEST(DataPipeline, InputsInTheCallersMemoryKeepItsValues) {
  Executor executor(test::loadPlan(test::linearModel(kInput, kSolver)));
  if (!executor.hostData(0))
    GTEST_SKIP() << "only plans for the CPU use the caller's memory";
  DataPipeline pipeline(executor, executor.findProgram("forward_backward"), {1},
                        "");
  alignas(plan::kAlignment) float x[12] = {1, 2, 3};
  executor.bindMemory({{0, reinterpret_cast<std::byte *>(x)}});
  pipeline.feedData();
  EXPECT_EQ(x[2], 3);
  // set() writes to the caller's memory.
  const std::vector<float> values(12, 7);
  pipeline.set("x", values.data(), 12);
  pipeline.feedData();
  EXPECT_EQ(x[2], 7);
  // In the executor's own memory, an unset input is zero.
  DataPipeline secondPipeline(
      executor, executor.findProgram("forward_backward"), {1}, "");
  executor.bindMemory({{0, nullptr}});
  secondPipeline.feedData();
  EXPECT_EQ(readFloats(executor, 0, 12), std::vector<float>(12));
}

TEST(DataPipeline, CallbacksCannotChangeTheirPipeline) {
  Executor executor(test::loadPlan(test::linearModel(kInput, kSolver)));
  DataPipeline pipeline(executor, 0, {1}, "");
  const std::vector<float> values(12);
  int refused = 0;
  auto expectRefused = [&](const std::function<void()> &change) {
    test::expectError(ExitStatus::Usage, "a feed callback must not change",
                      change);
    ++refused;
  };
  pipeline.setCallback({}, [&](const std::vector<DataPipeline::Request> &) {
    expectRefused([&] { pipeline.set("x", values.data(), 12); });
    expectRefused([&] { pipeline.setCallback({}, [](const auto &) {}); });
    expectRefused([&] { pipeline.reset({3}); });
    expectRefused([&] { pipeline.feedData(); });
    throw badInput("the batch is wrong");
  });
  test::expectError(ExitStatus::BadInput, "the batch is wrong",
                    [&] { pipeline.feedData(); });
  EXPECT_EQ(refused, 4);
  pipeline.set("x", values.data(), 12); // the callback has returned
}

TEST(DataPipeline, DummyDataRefillsRandomBlobs) {
  const char *layer =
      "name: 'd' type: 'DummyData' top: 'x' top: 'target' dummy_data_param { "
      "data_filler { type: 'uniform' } data_filler { value: 2 } }";
  auto plan = test::loadPlan(test::linearModel(layer, kSolver));
  Executor executor(plan);
  const int program = executor.findProgram("forward_backward");
  DataPipeline pipeline(executor, program, {1}, "");
  pipeline.feedData();
  const auto first = readFloats(executor, 0, 12);
  EXPECT_EQ(readFloats(executor, 1, 4), std::vector<float>(4, 2));
  const auto cursors = pipeline.cursors();
  pipeline.feedData();
  const auto second = readFloats(executor, 0, 12);
  EXPECT_NE(first, second);
  EXPECT_EQ(readFloats(executor, 1, 4), std::vector<float>(4, 2));

  DataPipeline resumed(executor, program, {1}, "");
  resumed.restore(cursors);
  resumed.feedData();
  EXPECT_EQ(readFloats(executor, 0, 12), second);
}

TEST(DataPipeline, TopsSetByTheCallerNeedNoSource) {
  const char *layer = "name: 'd' type: 'HDF5Data' top: 'x' top: 'target' "
                      "hdf5_data_param { source: 'nowhere' batch_size: 4 }";
  Executor executor(test::loadPlan(test::linearModel(layer, kSolver)));
  DataPipeline pipeline(executor, 0, {1}, "");
  const std::vector<float> values(12, 3);
  pipeline.set("x", values.data(), 12);
  pipeline.set("target", values.data(), 4);
  pipeline.feedData();
  EXPECT_EQ(readFloats(executor, 0, 12), values);
  DataPipeline withoutValues(executor, 0, {1}, "");
  test::expectError(ExitStatus::Unavailable, "nowhere",
                    [&] { withoutValues.feedData(); });
}

TEST(DataPipeline, RetriesToOpenMissingSources) {
  const char *layer = "name: 'd' type: 'HDF5Data' top: 'x' top: 'target' "
                      "hdf5_data_param { source: 'nowhere' batch_size: 4 }";
  Executor executor(test::loadPlan(test::linearModel(layer, kSolver)));
  DataPipeline pipeline(executor, 0, {1}, "");
  const auto unavailable = ExitStatus::Unavailable;
  for (int i = 0; i < 2; ++i)
    test::expectError(unavailable, "nowhere", [&] { pipeline.start(); });
  test::expectError(unavailable, "nowhere", [&] { pipeline.feedData(); });
}

TEST(DataPipeline, ReportsUnknownLayerTypes) {
  Executor executor(test::loadPlan(test::linearModel(
      "name: 'd' type: 'CPMData' top: 'x' top: 'target'", kSolver)));
  test::expectError(ExitStatus::BadInput, "'d' (CPMData)",
                    [&] { DataPipeline(executor, 0, {1}, ""); });
}
