//===- SnapshotTest.cpp - Snapshots of training runs ----------------------===//
#include "TrainingFixture.h"

#include "formats/ProtoFile.h"
#include "formats/SolverStateFile.h"
#include "formats/WeightFile.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>

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
    formats::readProtoFile(folder / "snap_iter_1.caffemodel", net,
                           "caffemodel");
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
  auto whole = make(fields);
  whole->step(4);
  EXPECT_EQ(log.texts("Snapshotting to HDF5 file " + (folder / "snap_iter_4") +
                      ".caffemodel.h5")
                .size(),
            1u);
  EXPECT_EQ(log.texts("Snapshotting solver state to HDF5 file ").size(), 4u);
  auto resumed = make(fields, folder / "snap_iter_2.solverstate.h5");
  EXPECT_EQ(resumed->iteration(), 2);
  resumed->step(2);
  EXPECT_EQ(weights(*resumed), weights(*whole));
  // A state stores its losses in single precision.
  EXPECT_FLOAT_EQ(float(resumed->smoothedLoss()), float(whole->smoothedLoss()));
  // The solver decides the format of the next snapshot, not the file.
  make(kFields, folder / "snap_iter_2.solverstate.h5")->step(1);
  EXPECT_TRUE(std::filesystem::exists(folder / "snap_iter_3.solverstate"));
}

TEST_F(SnapshotTest, GradientsAreWrittenOnRequest) {
  LogLines log;
  make(kFields)->step(1);
  EXPECT_EQ(modelProto().layer(0).blobs(0).diff_size(), 0);
  auto trainer = make(std::string(kFields) + "snapshot_diff: true");
  trainer->step(1);
  const caffe::BlobProto blob = modelProto().layer(0).blobs(0);
  ASSERT_EQ(blob.diff_size(), 3);
  // The content of the gradient buffers; this plan's update does not change
  // them.
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
  rlimit limit, small;
  getrlimit(RLIMIT_FSIZE, &limit);
  small = limit;
  small.rlim_cur = 16;
  setrlimit(RLIMIT_FSIZE, &small);
  test::expectError(ExitStatus::Unavailable, "snap_iter_2.caffemodel",
                    [&] { trainer->step(50); });
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_LE(trainer->iteration(), 3); // not only at the end

  EXPECT_EQ(folder.entries(), before); // no partial files
  EXPECT_EQ(test::readBytes(folder / "snap_iter_1.caffemodel"), model);
  EXPECT_EQ(test::readBytes(folder / "snap_iter_1.solverstate"), state);
}

// A write to a pipe blocks until the pipe is read.
TEST_F(SnapshotTest, TrainingContinuesWhileOneIsWritten) {
  LogLines log;
  const std::string pipe = folder / "snap_iter_2.caffemodel";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  auto trainer = make("base_lr: 0.1 lr_policy: 'fixed' max_iter: 100 "
                      "momentum: 0.9 snapshot: 2 ");
  std::promise<void> wentOn;
  std::atomic<bool> early{false};
  std::vector<int> done;
  sessions.back()->events().add([&](const Event &event) {
    if (const auto *one = std::get_if<event::IterationDone>(&event))
      if (one->iteration == 3)
        wentOn.set_value();
    if (const auto *one = std::get_if<event::SnapshotDone>(&event))
      done.push_back(one->iteration);
  });
  std::thread reader([&] {
    early = wentOn.get_future().wait_for(std::chrono::seconds(10)) !=
            std::future_status::ready;
    EXPECT_FALSE(test::readBytes(pipe).empty());
  });
  trainer->step(6);
  reader.join();
  EXPECT_FALSE(early) << "training waited for the snapshot";
  // In order, each with an event, and all complete at the end.
  EXPECT_EQ(done, (std::vector<int>{2, 4, 6}));
  EXPECT_EQ(make(kFields, folder / "snap_iter_6.solverstate")->iteration(), 6);
}

// The tests are repeated from their beginning.
TEST_F(SnapshotTest, OneRequestedDuringATestResumesBeforeIt) {
  LogLines log;
  const std::string fields =
      "base_lr: 0.1 lr_policy: 'fixed' momentum: 0.9 max_iter: 100 "
      "test_iter: 3 test_interval: 2 snapshot_after_train: false ";
  auto tests = [&](Trainer &trainer) {
    std::vector<double> losses;
    const int listener = sessions.back()->events().add([&](const Event &event) {
      if (const auto *one = std::get_if<event::TestDone>(&event))
        losses.push_back(one->outputs[0].value);
    });
    trainer.step(9 - trainer.iteration());
    sessions.back()->events().remove(listener);
    return losses;
  };
  auto whole = make(fields);
  bool testing = false, asked = false;
  const int listener = sessions.back()->events().add([&](const Event &event) {
    if (const auto *one = std::get_if<event::TestBegin>(&event))
      testing = one->iteration == 4;
  });
  int batches = 0;
  whole->setActionFunction([&] {
    const bool now = testing && !asked && ++batches == 3;
    asked |= now;
    return now ? SolverAction::Snapshot : SolverAction::None;
  });
  std::vector<double> expected = tests(*whole);
  sessions.back()->events().remove(listener);
  ASSERT_EQ(expected.size(), 5u);
  auto resumed = make(fields, folder / "snap_iter_4.solverstate");
  EXPECT_EQ(tests(*resumed),
            std::vector<double>(expected.begin() + 2, expected.end()));
}

TEST_F(SnapshotTest, ResumesFromTheNewestIntactOne) {
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

  // Newer, unusable snapshots: half a state, weights of another run, missing
  // weights, missing state, and similar names.
  auto path = [&](int iteration, const char *end) {
    return folder / ("snap_iter_" + std::to_string(iteration) + end);
  };
  const std::string state = test::readBytes(path(12, ".solverstate"));
  test::writeBytes(path(12, ".solverstate"), state.substr(0, state.size() / 2));
  test::writeBytes(path(11, ".caffemodel"),
                   test::readBytes(path(10, ".caffemodel")));
  std::filesystem::remove(path(10, ".caffemodel"));
  std::filesystem::remove(path(9, ".solverstate"));
  test::writeBytes(folder / "snap_iter_99x.solverstate", state);
  test::writeBytes(folder / "other_iter_99.solverstate", state);
  // An unfinished file of a killed process.
  const std::string unfinished = path(13, ".caffemodel.tmp-999999999-0");
  test::writeBytes(unfinished, "half");
  EXPECT_EQ(resume()->iteration(), 8);
  const auto warnings = log.texts("Snapshot skipped: ");
  ASSERT_EQ(warnings.size(), 4u);
  for (int i = 0; i < 4; ++i)
    EXPECT_NE(warnings[std::size_t(i)].find("snap_iter_" +
                                            std::to_string(12 - i) + "."),
              std::string::npos)
        << warnings[std::size_t(i)];
  EXPECT_FALSE(std::filesystem::exists(unfinished));
}

TEST_F(SnapshotTest, OnlyTheNewestAreKept) {
  LogLines log;
  const plan::Manifest manifest = test::linearModel(feed(), solver(kFields));
  auto trainer = [&](const std::string &snapshot) {
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
  trainer(folder / "snap_iter_1.solverstate")->step(4);
  EXPECT_TRUE(std::filesystem::exists(copy));
  EXPECT_TRUE(exists(1));
  EXPECT_FALSE(exists(2));
  EXPECT_FALSE(exists(3));
  EXPECT_TRUE(exists(4));
  EXPECT_TRUE(exists(5));
  // A resumed run continues with its list of snapshots.
  trainer(folder / "snap_iter_5.solverstate")->step(1);
  EXPECT_TRUE(exists(1));
  EXPECT_FALSE(exists(4));
  EXPECT_TRUE(exists(5));
  EXPECT_TRUE(exists(6));
}

TEST_F(SnapshotTest, TheBestIsKeptOverAResume) {
  LogLines log;
  const std::string fields =
      "lr_policy: 'fixed' momentum: 0.9 max_iter: 100 "
      "test_iter: 3 test_interval: 1 snapshot: 3 snapshot_after_train: false ";
  auto trainer = [&](const std::string &metric, const std::string &snapshot,
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
                    [&] { trainer("loss", ""); });
  test::expectError(ExitStatus::Usage, "the solver has 1",
                    [&] { trainer("test1.loss", ""); });
  test::expectError(ExitStatus::Usage, "no output 'los'",
                    [&] { trainer("test.los", ""); });
  test::expectError(ExitStatus::Usage, "has 4 elements",
                    [&] { trainer("test.prediction", ""); });

  std::vector<double> losses;
  auto whole = trainer("test.loss", "");
  sessions.back()->events().add([&](const Event &event) {
    if (const auto *done = std::get_if<event::TestDone>(&event))
      losses.push_back(done->outputs[0].value);
  });
  whole->step(7);
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

  // A run that gets worse does not change it.
  const std::string bytes = test::readBytes(state);
  trainer("test.loss", folder / "snap_iter_6.solverstate", "base_lr: 3")
      ->step(2);
  EXPECT_EQ(test::readBytes(state), bytes);
  // Training from the best snapshot repeats the original run.
  auto again = trainer("test.loss", state);
  again->step(7 - again->iteration());
  EXPECT_EQ(weights(*again), weights(*whole));
}

TEST_F(SnapshotTest, AnotherPrefixStartsAnotherList) {
  LogLines log;
  const std::string other = folder / "other_iter_1.caffemodel";
  test::writeBytes(other, "another run's");
  const plan::Manifest manifest = test::linearModel(feed(), solver(kFields));
  TrainerOptions options;
  options.solver = solverOf(manifest);
  options.keepSnapshots = 1;
  Trainer trainer(open(manifest), options);
  trainer.step(1);
  trainer.control().set("snapshot_prefix", folder / "other");
  trainer.step(2);
  EXPECT_EQ(test::readBytes(other), "another run's");
  EXPECT_TRUE(std::filesystem::exists(folder / "snap_iter_1.solverstate"));
  EXPECT_FALSE(std::filesystem::exists(folder / "other_iter_2.solverstate"));
  EXPECT_TRUE(std::filesystem::exists(folder / "other_iter_3.solverstate"));
}
