//===- SnapshotTest.cpp - Snapshots of training runs ----------------------===//
#include "TrainingFixture.h"

#include "formats/ExpectedFile.h"
#include "formats/ProtoFile.h"
#include "formats/SolverStateFile.h"
#include "formats/WeightFile.h"
#include "support/TemporaryName.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <future>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace brew;
using namespace brew::runtime;
using test::LogLines;

namespace {

const char *const kFields = "base_lr: 0.1 lr_policy: 'fixed' max_iter: 100000 "
                            "momentum: 0.9 snapshot: 1 ";

class SnapshotTest : public test::TrainingFixture {
protected:
  caffe::NetParameter modelProto() const {
    caffe::NetParameter net;
    formats::readProtoFile(folder / "snap_iter_1.caffemodel", net, "caffemodel",
                           formats::weightFile());
    return net;
  }
};

} // namespace

TEST_F(SnapshotTest, StateContainsModelNameAndHistory) {
  LogLines log;
  auto trainer = make(kFields);
  trainer->step(2);
  const auto state =
      formats::readSolverState(folder / "snap_iter_2.solverstate");
  EXPECT_EQ(state.state.iter(), 2);
  EXPECT_EQ(state.state.learned_net(), folder / "snap_iter_2.caffemodel");
  ASSERT_EQ(state.history.size(), 2u); // one per parameter
  EXPECT_EQ(state.history[0].dims, (std::vector<std::int64_t>{1, 3}));
  const auto model = formats::readWeights(folder / "snap_iter_2.caffemodel");
  EXPECT_EQ(model.netName, "Linear");
  ASSERT_EQ(model.layers.size(), 1u);
  EXPECT_EQ(model.layers[0].name, "ip");
  EXPECT_EQ(model.layers[0].blobs.size(), 2u);
}

TEST_F(SnapshotTest, Hdf5ResumesTheRun) {
  LogLines log;
  const std::string fields =
      std::string(kFields) + "snapshot_format: HDF5 average_loss: 3 ";
  auto original = make(fields);
  original->step(4);
  EXPECT_EQ(log.texts("Snapshotting to HDF5 file " + (folder / "snap_iter_4") +
                      ".caffemodel.h5")
                .size(),
            1u);
  EXPECT_EQ(log.texts("Snapshotting solver state to HDF5 file ").size(), 4u);
  auto resumed = make(fields, folder / "snap_iter_2.solverstate.h5");
  EXPECT_EQ(resumed->iteration(), 2);
  resumed->step(2);
  EXPECT_EQ(weights(*resumed), weights(*original));
  // A state stores its losses in single precision.
  EXPECT_FLOAT_EQ(float(resumed->smoothedLoss()),
                  float(original->smoothedLoss()));
  // The solver, not the file, determines the format of the next snapshot.
  make(kFields, folder / "snap_iter_2.solverstate.h5")->step(1);
  EXPECT_TRUE(std::filesystem::exists(folder / "snap_iter_3.solverstate"));
}

TEST_F(SnapshotTest, WritesGradientsOnRequest) {
  LogLines log;
  make(kFields)->step(1);
  EXPECT_EQ(modelProto().layer(0).blobs(0).diff_size(), 0);
  auto trainer = make(std::string(kFields) + "snapshot_diff: true");
  trainer->step(1);
  const caffe::BlobProto blob = modelProto().layer(0).blobs(0);
  ASSERT_EQ(blob.diff_size(), 3);
  // The file must have the content of the gradient buffers, which this plan's
  // update does not change.
  for (const plan::Parameter &parameter :
       sessions.back()->manifest().parameters()) {
    const formats::Blob gradient =
        trainer->parameters().read(parameter.gradient_buffer_index(), {});
    const caffe::BlobProto written =
        modelProto().layer(0).blobs(static_cast<int>(parameter.index()));
    EXPECT_EQ(gradient.floats,
              std::vector<float>(written.diff().begin(), written.diff().end()));
  }
}

// A file size limit simulates a full disk: the write fails in the middle.
TEST_F(SnapshotTest, FullDiskKeepsThePreviousSnapshot) {
  LogLines log;
  auto trainer = make(kFields);
  trainer->step(1);
  const std::string model = test::readBytes(folder / "snap_iter_1.caffemodel");
  const std::string state = test::readBytes(folder / "snap_iter_1.solverstate");
  const std::size_t before = folder.entries();

  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit, reducedLimit;
  getrlimit(RLIMIT_FSIZE, &limit);
  reducedLimit = limit;
  reducedLimit.rlim_cur = 16;
  setrlimit(RLIMIT_FSIZE, &reducedLimit);
  test::expectError(ExitStatus::Unavailable, "snap_iter_2.caffemodel",
                    [&] { trainer->step(50); });
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_LE(trainer->iteration(), 3); // the error is reported before the end

  EXPECT_EQ(folder.entries(), before); // no partial files
  EXPECT_EQ(test::readBytes(folder / "snap_iter_1.caffemodel"), model);
  EXPECT_EQ(test::readBytes(folder / "snap_iter_1.solverstate"), state);
}

// A write to a pipe blocks until the pipe is read.
TEST_F(SnapshotTest, TrainingContinuesWhileSnapshotIsWritten) {
  LogLines log;
  const std::string pipe = folder / "snap_iter_2.caffemodel";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  auto trainer = make("base_lr: 0.1 lr_policy: 'fixed' max_iter: 100 "
                      "momentum: 0.9 snapshot: 2 ");
  std::promise<void> continued;
  std::atomic<bool> hasTimedOut{false};
  std::vector<int> done;
  sessions.back()->events().add([&](const Event &event) {
    if (const auto *match = std::get_if<event::IterationDone>(&event))
      if (match->iteration == 3)
        continued.set_value();
    if (const auto *match = std::get_if<event::SnapshotDone>(&event))
      done.push_back(match->iteration);
  });
  std::thread reader([&] {
    hasTimedOut = continued.get_future().wait_for(std::chrono::seconds(10)) !=
                  std::future_status::ready;
    EXPECT_FALSE(test::readBytes(pipe).empty());
  });
  trainer->step(6);
  reader.join();
  EXPECT_FALSE(hasTimedOut) << "training waited for the snapshot";
  // The snapshots are written in order, each with an event, and the last one is
  // complete.
  EXPECT_EQ(done, (std::vector<int>{2, 4, 6}));
  EXPECT_EQ(make(kFields, folder / "snap_iter_6.solverstate")->iteration(), 6);
}

// The resumed run repeats the test from its beginning.
TEST_F(SnapshotTest, SnapshotDuringATestResumesBeforeTheTest) {
  LogLines log;
  const std::string fields =
      "base_lr: 0.1 lr_policy: 'fixed' momentum: 0.9 max_iter: 100 "
      "test_iter: 3 test_interval: 2 snapshot_after_train: false ";
  auto testLosses = [&](Trainer &trainer) {
    std::vector<double> losses;
    const int listener = sessions.back()->events().add([&](const Event &event) {
      if (const auto *match = std::get_if<event::TestDone>(&event))
        losses.push_back(match->outputs[0].value);
    });
    trainer.step(9 - trainer.iteration());
    sessions.back()->events().remove(listener);
    return losses;
  };
  auto original = make(fields);
  bool isTesting = false, wasRequested = false;
  const int listener = sessions.back()->events().add([&](const Event &event) {
    if (const auto *match = std::get_if<event::TestBegin>(&event))
      isTesting = match->iteration == 4;
  });
  int batches = 0;
  original->setActionFunction([&] {
    const bool shouldRequest = isTesting && !wasRequested && ++batches == 3;
    wasRequested |= shouldRequest;
    return shouldRequest ? SolverAction::Snapshot : SolverAction::None;
  });
  std::vector<double> expected = testLosses(*original);
  sessions.back()->events().remove(listener);
  ASSERT_EQ(expected.size(), 5u);
  auto resumed = make(fields, folder / "snap_iter_4.solverstate");
  EXPECT_EQ(testLosses(*resumed),
            std::vector<double>(expected.begin() + 2, expected.end()));
}

TEST_F(SnapshotTest, ResumesFromNewestIntactSnapshot) {
  LogLines log;
  auto resume = [&] {
    const plan::Manifest manifest = test::linearModel(feed(), solver(kFields));
    TrainerOptions options;
    options.solver = solverOf(manifest);
    options.resume = true;
    return std::make_unique<Trainer>(open(manifest), options);
  };
  EXPECT_EQ(resume()->iteration(), 0);
  EXPECT_EQ(log.texts("No snapshot of prefix '" + (folder / "snap") +
                      "' to resume from: training from the beginning")
                .size(),
            1u);
  make(kFields)->step(12);
  EXPECT_EQ(resume()->iteration(), 12);

  // The newer snapshots become unusable: half a state, weights of another run,
  // missing weights, missing state, and similar names.
  auto path = [&](int iteration, const char *extension) {
    return folder / ("snap_iter_" + std::to_string(iteration) + extension);
  };
  const std::string state = test::readBytes(path(12, ".solverstate"));
  test::writeBytes(path(12, ".solverstate"), state.substr(0, state.size() / 2));
  test::writeBytes(path(11, ".caffemodel"),
                   test::readBytes(path(10, ".caffemodel")));
  std::filesystem::remove(path(10, ".caffemodel"));
  std::filesystem::remove(path(9, ".solverstate"));
  test::writeBytes(folder / "snap_iter_99x.solverstate", state);
  test::writeBytes(folder / "other_iter_99.solverstate", state);
  // These are unfinished files: of a killed process here, of a process that
  // runs, of a process elsewhere, and of one elsewhere that has ended long ago.
  std::string unfinished = temporaryName(path(13, ".caffemodel"));
  const std::string running = unfinished;
  const std::string pid = "-" + std::to_string(getpid()) + "-";
  unfinished.replace(unfinished.rfind(pid), pid.size(), "-999999999-");
  const std::string elsewhere =
      path(13, ".caffemodel.tmp-elsewhere-1-999999999-5-0");
  const std::string old = path(14, ".caffemodel.tmp-elsewhere-1-999999999-5-0");
  for (const std::string &file : {unfinished, running, elsewhere, old})
    test::writeBytes(file, "half");
  std::filesystem::last_write_time(
      old,
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(25));
  EXPECT_EQ(resume()->iteration(), 8);
  const auto warnings = log.texts("Snapshot skipped: ");
  ASSERT_EQ(warnings.size(), 4u);
  for (int i = 0; i < 4; ++i)
    EXPECT_NE(warnings[std::size_t(i)].find("snap_iter_" +
                                            std::to_string(12 - i) + "."),
              std::string::npos)
        << warnings[std::size_t(i)];
  EXPECT_FALSE(std::filesystem::exists(unfinished));
  EXPECT_TRUE(std::filesystem::exists(running));
  EXPECT_TRUE(std::filesystem::exists(elsewhere));
  EXPECT_FALSE(std::filesystem::exists(old));
}

TEST_F(SnapshotTest, RestartsResumeOnlySnapshotsOfTheirRun) {
  LogLines log;
  const std::string list = folder / "list";
  auto start = [&] {
    const plan::Manifest manifest = test::linearModel(feed(), solver(kFields));
    TrainerOptions options;
    options.solver = solverOf(manifest);
    options.earlierSnapshots = list;
    return std::make_unique<Trainer>(open(manifest), options);
  };
  make(kFields)->step(3); // another run
  // Times do not matter: these files seem to be from the future.
  for (const auto &entry : std::filesystem::directory_iterator(folder / ""))
    std::filesystem::last_write_time(
        entry.path(), std::filesystem::file_time_type::clock::now() +
                          std::chrono::hours(100));
  EXPECT_EQ(start()->iteration(), 0);
  EXPECT_EQ(start()->iteration(), 0); // failed before its first snapshot
  start()->step(2);                   // replaces snapshots of the other run
  EXPECT_EQ(start()->iteration(), 2);
}

TEST_F(SnapshotTest, WarnsOfWeightsThatAreNotFinite) {
  LogLines log;
  make("base_lr: 1e30 lr_policy: 'fixed' max_iter: 100 snapshot: 1 ")->step(6);
  EXPECT_FALSE(log.texts("Weights of layer 'ip' in ").empty());
}

TEST_F(SnapshotTest, OneProcessHasThePrefix) {
  LogLines log;
  const std::string lock = folder / "snap.lock";
  auto expectTaken = [&] {
    test::expectError(ExitStatus::Unavailable,
                      "another run writes snapshots of prefix '",
                      [&] { make(kFields)->step(1); });
  };
  {
    const std::unique_ptr<Trainer> first = make(kFields);
    first->step(1);
    EXPECT_TRUE(std::filesystem::exists(lock));
    make(kFields)->step(1); // the same process
    EXPECT_TRUE(std::filesystem::exists(lock));
  }
  EXPECT_FALSE(std::filesystem::exists(lock));

  const int fd = ::open(lock.c_str(), O_RDWR | O_CREAT, 0666);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  ASSERT_EQ(::write(fd, "process 12 on elsewhere\n", 24), 24);
  test::expectError(ExitStatus::Unavailable, "(process 12 on elsewhere)",
                    [&] { make(kFields)->step(1); });
  expectTaken();
  close(fd); // as if the process was killed: the file remains
  make(kFields)->step(1);
  EXPECT_FALSE(std::filesystem::exists(lock));
}

TEST_F(SnapshotTest, KeepsOnlyTheNewestSnapshots) {
  LogLines log;
  const plan::Manifest manifest = test::linearModel(feed(), solver(kFields));
  auto makeTrainer = [&](const std::string &snapshot) {
    TrainerOptions options;
    options.solver = solverOf(manifest);
    options.snapshot = snapshot;
    options.keepSnapshots = 2;
    return std::make_unique<Trainer>(open(manifest), options);
  };
  auto exists = [&](int iteration) {
    const std::string base =
        folder / ("snap_iter_" + std::to_string(iteration));
    const bool state = std::filesystem::exists(base + ".solverstate");
    EXPECT_EQ(std::filesystem::exists(base + ".caffemodel"), state);
    return state;
  };
  // Files of other runs, or copies, are kept.
  make(kFields)->step(1);
  const std::string copy = folder / "snap_iter_1-good.caffemodel";
  test::writeBytes(copy, test::readBytes(folder / "snap_iter_1.caffemodel"));
  makeTrainer(folder / "snap_iter_1.solverstate")->step(4);
  EXPECT_TRUE(std::filesystem::exists(copy));
  EXPECT_TRUE(exists(1));
  EXPECT_FALSE(exists(2));
  EXPECT_FALSE(exists(3));
  EXPECT_TRUE(exists(4));
  EXPECT_TRUE(exists(5));
  // A resumed run continues with its list of snapshots.
  makeTrainer(folder / "snap_iter_5.solverstate")->step(1);
  EXPECT_TRUE(exists(1));
  EXPECT_FALSE(exists(4));
  EXPECT_TRUE(exists(5));
  EXPECT_TRUE(exists(6));
}

TEST_F(SnapshotTest, KeepsTheBestSnapshotAcrossResume) {
  LogLines log;
  const std::string fields =
      "lr_policy: 'fixed' momentum: 0.9 max_iter: 100 "
      "test_iter: 3 test_interval: 1 snapshot: 3 snapshot_after_train: false ";
  auto makeTrainer = [&](const std::string &metric, const std::string &snapshot,
                         const std::string &rate = "base_lr: 0.1") {
    const plan::Manifest manifest =
        test::linearModel(feed(), solver(fields + rate));
    TrainerOptions options;
    options.solver = solverOf(manifest);
    options.snapshot = snapshot;
    options.snapshotBest = metric;
    return std::make_unique<Trainer>(open(manifest), options);
  };
  test::expectError(ExitStatus::Usage, "there is no metric",
                    [&] { makeTrainer("loss", ""); });
  test::expectError(ExitStatus::Usage, "the solver has 1",
                    [&] { makeTrainer("test1.loss", ""); });
  test::expectError(ExitStatus::Usage, "no output 'los'",
                    [&] { makeTrainer("test.los", ""); });
  test::expectError(ExitStatus::Usage, "has 4 elements",
                    [&] { makeTrainer("test.prediction", ""); });

  std::vector<double> losses;
  auto original = makeTrainer("test.loss", "");
  sessions.back()->events().add([&](const Event &event) {
    if (const auto *done = std::get_if<event::TestDone>(&event))
      losses.push_back(done->outputs[0].value);
  });
  original->step(7);
  EXPECT_EQ(log.texts("Keeping the best weights by test.loss, of which lower "
                      "is better")
                .size(),
            1u);
  const auto best = std::min_element(losses.begin(), losses.end());
  const std::string state = folder / "snap_best_test.loss.solverstate";
  EXPECT_EQ(formats::readSolverState(state).state.iter(),
            best - losses.begin());
  EXPECT_EQ(
      log.texts("test.loss = ").size(),
      log.texts("Snapshotting to binary proto file " + (folder / "snap_best_"))
          .size());

  // A run that gets worse does not change the best snapshot.
  const std::string bytes = test::readBytes(state);
  makeTrainer("test.loss", folder / "snap_iter_6.solverstate", "base_lr: 3")
      ->step(2);
  EXPECT_EQ(test::readBytes(state), bytes);
  // Training from the best snapshot repeats the original run.
  auto repeated = makeTrainer("test.loss", state);
  repeated->step(7 - repeated->iteration());
  EXPECT_EQ(weights(*repeated), weights(*original));
}

TEST_F(SnapshotTest, AnotherPrefixStartsAnotherList) {
  LogLines log;
  const std::string otherRunsFile = folder / "other_iter_1.caffemodel";
  test::writeBytes(otherRunsFile, "another run's");
  const plan::Manifest manifest = test::linearModel(feed(), solver(kFields));
  TrainerOptions options;
  options.solver = solverOf(manifest);
  options.keepSnapshots = 1;
  Trainer trainer(open(manifest), options);
  trainer.step(1);
  trainer.control().set("snapshot_prefix", folder / "other");
  trainer.step(2);
  EXPECT_EQ(test::readBytes(otherRunsFile), "another run's");
  EXPECT_TRUE(std::filesystem::exists(folder / "snap_iter_1.solverstate"));
  EXPECT_FALSE(std::filesystem::exists(folder / "other_iter_2.solverstate"));
  EXPECT_TRUE(std::filesystem::exists(folder / "other_iter_3.solverstate"));
}
