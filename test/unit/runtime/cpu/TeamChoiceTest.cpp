//===- TeamChoiceTest.cpp - Small programs beside busy ones ---------------===//
#include "runtime/cpu/TeamChoice.h"
#include "Reference.h"
#include "runtime/executor/Executor.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

using namespace brew;
using namespace brew::plan;
using namespace brew::runtime;
using namespace brew::test;

namespace {

/// A machine on which a run takes 0.1 ms on the team and 0.15 ms on one thread;
/// while it is busy, one in two runs of the team waits 4 ms.
class Machine {
public:
  bool isBusy = false;

  /// Runs `count` times. Returns the mean of the runs in ms.
  double run(int count) {
    double sum = 0;
    for (int i = 0; i < count; ++i) {
      const bool usesTeam = choice.usesTeam();
      double time = usesTeam ? 0.1 : 0.15;
      if (usesTeam && isBusy && number++ % 2)
        time += 4;
      sum += time;
      choice.record(time / 1e3);
    }
    return sum / count;
  }

  TeamChoice choice;

private:
  int number = 0;
};

} // namespace

TEST(TeamChoice, StaysWithTheTeamOnAnIdleMachine) {
  Machine machine;
  EXPECT_NEAR(machine.run(10000), 0.1, 1e-9);
}

TEST(TeamChoice, LeavesATeamThatWaits) {
  Machine machine;
  machine.isBusy = true;
  machine.run(100); // finds out, and waits less and less for the team
  EXPECT_LT(machine.run(100000), 0.2);
  machine.isBusy = false;
  machine.run(10000); // a trial is at most a second away
  EXPECT_TRUE(machine.choice.usesTeam());
  EXPECT_NEAR(machine.run(1000), 0.1, 1e-9);
}

TEST(TeamChoice, ReturnsToATeamThatIsFasterAllTheSame) {
  TeamChoice choice;
  auto record = [&](int count, double team, double lone) {
    int onTeam = 0;
    for (int i = 0; i < count; ++i) {
      onTeam += choice.usesTeam();
      choice.record(choice.usesTeam() ? team : lone);
    }
    return onTeam;
  };
  record(10, 0.001, 0.01);
  // Slower than before, but one thread is slower still.
  EXPECT_GT(record(1000, 0.003, 0.01), 950);
}

/// If the machine was never idle, the times alone do not show that it is busy.
TEST(TeamChoice, LeavesATeamThatHasAlwaysWaited) {
  for (double scale : {1., 100.}) {
    TeamChoice choice;
    for (int i = 0; i < 10 && choice.usesTeam(); ++i) {
      EXPECT_TRUE(choice.measuresWaits());
      choice.record(0.01 * scale, 0.005 * scale);
    }
    for (int i = 0; i < 15; ++i) {
      EXPECT_FALSE(choice.usesTeam());
      choice.record(0.003 * scale);
    }
  }
}

TEST(TeamChoice, DoesNotMeasureTheWaitsOfShortRuns) {
  TeamChoice choice;
  EXPECT_TRUE(choice.measuresWaits());
  choice.record(0.00001);
  EXPECT_FALSE(choice.measuresWaits());
}

TEST(TeamChoice, KeepsTheTeamIfRequired) {
  Machine machine;
  machine.isBusy = true;
  while (machine.choice.usesTeam())
    machine.run(1);
  machine.choice.requireTeam();
  for (int i = 0; i < 100; ++i) {
    machine.run(1);
    EXPECT_TRUE(machine.choice.usesTeam());
  }
}

/// Runs of `deploy` change to one thread beside busy threads. Their values stay
/// the same, with the packed weights of the last upload.
TEST(TeamChoice, ValuesAreTheSameBesideBusyThreads) {
  PlanBuilder builder;
  const std::vector<std::int64_t> dims = {1, 16, 24, 24};
  std::vector<std::uint32_t> blobs;
  for (const char *name : {"a", "b", "c", "d", "e"})
    blobs.push_back(builder.buffer(name, dims, stridesFor(dims, {0, 2, 3, 1})));
  const std::uint32_t weights =
      builder.buffer("w", {16, 16, 3, 3}, {}, F32, PARAMETERS);
  Program &program = builder.program("deploy");
  for (std::size_t i = 1; i < blobs.size(); ++i) {
    Step &step = *program.add_steps();
    ConvolutionCall &call = *step.mutable_convolution();
    call.set_direction(FORWARD);
    *call.mutable_window() = windowOf({.kernel = {3, 3}, .pad = {1, 1}});
    addCallOperands(step, blobs[i - 1], weights, blobs[i]);
  }
  ExecutorOptions options;
  options.threads = 2;
  Executor executor(builder.build(), options);
  auto upload = [&](std::uint32_t seed) {
    Tensor(dims, seed).store(executor, blobs[0]);
    Tensor({16, 16, 3, 3}, seed + 1).store(executor, weights);
    executor.packParameters();
  };
  auto run = [&] {
    executor.run(0);
    std::vector<float> values(16 * 24 * 24);
    executor.download(blobs.back(),
                      reinterpret_cast<std::byte *>(values.data()));
    return values;
  };
  std::vector<std::vector<float>> expected;
  for (std::uint32_t seed : {1u, 3u}) {
    upload(seed);
    expected.push_back(run());
  }
  std::atomic<bool> isDone = false;
  std::vector<std::thread> busy;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i)
    busy.emplace_back([&] {
      while (!isDone)
        ;
    });
  for (int i = 0; i < 200; ++i) {
    if (i % 50 == 0)
      upload(i % 100 ? 3u : 1u);
    EXPECT_EQ(run(), expected[i / 50 % 2]) << "run " << i;
  }
  isDone = true;
  for (std::thread &thread : busy)
    thread.join();
}
