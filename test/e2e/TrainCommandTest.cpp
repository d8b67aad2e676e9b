//===- TrainCommandTest.cpp - brew-run train ------------------------------===//
#include "RunFixture.h"

#include "formats/SolverStateFile.h"
#include "formats/WeightFile.h"

using namespace brew;

namespace {

class TrainCommand : public test::RunFixture {
protected:
  std::vector<float> weightsOf(const std::string &name) {
    const auto weights = formats::readWeights(folder / name);
    auto values = weights.layers.at(0).blobs.at(0).floats;
    values.push_back(weights.layers.at(0).blobs.at(1).floats.at(0));
    return values;
  }

  /// Waits until the condition is true, for at most a minute.
  template <typename Condition> static bool waitUntil(Condition condition) {
    for (int i = 0; i < 6000 && !condition(); ++i)
      usleep(10000);
    return condition();
  }
  bool waitFor(const std::string &name) {
    return waitUntil([&] { return std::filesystem::exists(folder / name); });
  }
  std::string readLog() { return test::readBytes(folder / "err"); }

  /// Writes a plan that trains until a signal stops it.
  void writeEndlessPlan(const std::string &extraFields = "") {
    writePlan(hdf5DataLayer(), "base_lr: 0.01 lr_policy: 'fixed' momentum: 0.9 "
                               "max_iter: 100000000 " +
                                   extraFields);
  }

  void expectCompleteSnapshotsAfterKills(const std::string &suffix);
};

// Whenever brew-run is killed, every file with a final name is complete, and
// every state refers to a complete model.
void TrainCommand::expectCompleteSnapshotsAfterKills(
    const std::string &suffix) {
  const std::string stateSuffix = ".solverstate" + suffix;
  auto isState = [&](const std::string &name) {
    return name.size() > stateSuffix.size() &&
           name.compare(name.size() - stateSuffix.size(), stateSuffix.size(),
                        stateSuffix) == 0;
  };
  int states = 0;
  for (int round = 0; round < 10; ++round) {
    const pid_t child =
        start({"train", "net.plan", "--snapshot-interval", "1"});
    ASSERT_TRUE(waitFor("snap_iter_1" + stateSuffix)) << readLog();
    usleep(3000 * round); // kills at a different time in each round
    kill(child, SIGKILL);
    EXPECT_EQ(finish(child).status, -SIGKILL);
    for (const auto &entry :
         std::filesystem::directory_iterator(folder.path())) {
      const std::string path = entry.path().string();
      if (!isState(path))
        continue;
      const auto state = formats::readSolverState(path);
      EXPECT_EQ(state.history.size(), 2u);
      const auto model =
          formats::readWeights(folder / state.state.learned_net());
      EXPECT_EQ(model.layers.at(0).blobs.size(), 2u);
      ++states;
    }
    for (const auto &entry : std::filesystem::directory_iterator(folder.path()))
      if (contains(entry.path().filename().string(), "snap_iter"))
        std::filesystem::remove(entry.path());
  }
  EXPECT_GE(states, 10);
}

} // namespace

TEST_F(TrainCommand, WritesSnapshotsAndCaffesLog) {
  writeTrainingPlan();
  const auto done = run({"train", "net.plan"});
  EXPECT_EQ(done.status, 0) << done.err;
  for (const char *name :
       {"snap_iter_5.caffemodel", "snap_iter_5.solverstate",
        "snap_iter_10.caffemodel", "snap_iter_10.solverstate"})
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  for (const char *line :
       {"solver.cpp:239] Iteration 0 (", "] Iteration 8, lr = 0.1",
        "Test net output #0: loss = ", "] Iteration 10, loss = ",
        "Testing net (#0)", "Solving Linear", "Optimization Done."})
    EXPECT_TRUE(contains(done.err, line)) << line;
  // Without a terminal, there is no progress line.
  EXPECT_FALSE(contains(done.err, "\r"));
}

TEST_F(TrainCommand, AcceptsCaffesFlags) {
  writeTrainingPlan();
  const auto done =
      run({"-solver", "net.plan", "-sigint_effect=snapshot", "train"});
  EXPECT_EQ(done.status, 0) << done.err;
}

TEST_F(TrainCommand, ResumedRunEndsWithTheSameBits) {
  writeTrainingPlan();
  ASSERT_EQ(run({"train", "net.plan"}).status, 0);
  const auto expected = weightsOf("snap_iter_10.caffemodel");
  std::filesystem::remove(folder / "snap_iter_10.caffemodel");
  const auto done =
      run({"train", "net.plan", "-snapshot", "snap_iter_5.solverstate"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(contains(done.err, "Resuming from snap_iter_5.solverstate"));
  EXPECT_EQ(weightsOf("snap_iter_10.caffemodel"), expected);
}

TEST_F(TrainCommand, OneAndTwoThreadsComputeTheSameBits) {
  writeTrainingPlan();
  ASSERT_EQ(run({"train", "net.plan", "--threads", "1"}).status, 0);
  const auto withOneThread = weightsOf("snap_iter_10.caffemodel");
  ASSERT_EQ(run({"train", "net.plan", "--threads", "2"}).status, 0);
  EXPECT_EQ(weightsOf("snap_iter_10.caffemodel"), withOneThread);
}

TEST_F(TrainCommand, CommandLineChangesTheSolver) {
  writeTrainingPlan();
  const auto done = run({"train",
                         "net.plan",
                         "--max-iter",
                         "3",
                         "--base-lr",
                         "0.5",
                         "--lr-policy",
                         "step",
                         "--gamma",
                         "0.1",
                         "--stepsize",
                         "2",
                         "--display",
                         "1",
                         "--snapshot-prefix",
                         "other",
                         "--test-interval",
                         "0",
                         "--random-seed",
                         "9",
                         "--momentum",
                         "0.5",
                         "--weight-decay",
                         "0.01",
                         "--snapshot-interval",
                         "2"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(contains(done.err, "Iteration 1, lr = 0.5"));
  EXPECT_TRUE(contains(done.err, "Iteration 2, lr = 0.05"));
  EXPECT_TRUE(contains(done.err, "Random seed: 9"));
  EXPECT_FALSE(contains(done.err, "Testing net"));
  EXPECT_TRUE(std::filesystem::exists(folder / "other_iter_2.caffemodel"));
  EXPECT_TRUE(std::filesystem::exists(folder / "other_iter_3.caffemodel"));
}

TEST_F(TrainCommand, StartsFromWeights) {
  writeTrainingPlan();
  ASSERT_EQ(run({"train", "net.plan"}).status, 0);
  const auto done =
      run({"train", "net.plan", "--weights", "snap_iter_10.caffemodel",
           "--base-lr", "0", "--momentum", "0", "--snapshot-prefix", "fine"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(weightsOf("fine_iter_10.caffemodel"),
            weightsOf("snap_iter_10.caffemodel"));
}

TEST_F(TrainCommand, InterruptStopsWithASnapshot) {
  writeEndlessPlan();
  const pid_t child = start({"train", "net.plan", "--snapshot-interval", "50"});
  ASSERT_TRUE(waitFor("snap_iter_50.solverstate")) << readLog();
  kill(child, SIGINT);
  const auto done = finish(child);
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(contains(done.err, "Optimization stopped early."));
  // The log names the file of the last state.
  EXPECT_TRUE(contains(
      done.err.substr(done.err.rfind("Snapshotting solver state")), "snap"));
}

TEST_F(TrainCommand, HangUpWritesASnapshotAndContinues) {
  writeEndlessPlan();
  const pid_t child = start({"train", "net.plan"});
  // Before this line of the log, the signal handler may not be installed.
  ASSERT_TRUE(waitFor("err"));
  ASSERT_TRUE(waitUntil([&] {
    return contains(readLog(), "Starting Optimization");
  })) << readLog();
  kill(child, SIGHUP);
  EXPECT_TRUE(waitUntil([&] {
    bool isWritten = false;
    for (const auto &entry : std::filesystem::directory_iterator(folder.path()))
      isWritten |= entry.path().extension() == ".solverstate";
    return isWritten;
  })) << readLog();
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0)
      << "training did not continue\n"
      << readLog();
  kill(child, SIGINT);
  const auto done = finish(child);
  EXPECT_EQ(done.status, 0) << done.err;
}

TEST_F(TrainCommand, KillLeavesEverySnapshotComplete) {
  writeEndlessPlan();
  expectCompleteSnapshotsAfterKills("");
}

TEST_F(TrainCommand, KillLeavesEveryHdf5SnapshotComplete) {
  writeEndlessPlan("snapshot_format: HDF5");
  expectCompleteSnapshotsAfterKills(".h5");
}
