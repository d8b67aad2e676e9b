//===- TrainerWatchTest.cpp - Rules, logs and NaN of training runs --------===//
#include "TrainingFixture.h"

#include "formats/SolverStateFile.h"
#include "formats/tensorboard.pb.h"
#include "runtime/train/watch/TfRecordFile.h"

#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sys/resource.h>

using namespace brew;
using namespace brew::runtime;
using test::LogLines;
using Json = nlohmann::json;

namespace {

class TrainerWatchTest : public test::TrainingFixture {
protected:
  std::unique_ptr<Trainer> makeWatched(const std::string &fields,
                                       const WatchOptions &watch,
                                       const std::string &snapshot = "") {
    const plan::Manifest manifest = test::linearModel(feed(), solver(fields));
    TrainerOptions options;
    options.solver = solverOf(manifest);
    options.snapshot = snapshot;
    options.watch = watch;
    return std::make_unique<Trainer>(open(manifest), options);
  }

  /// Replaces the second value of a row of the data.
  void replaceValue(int row, float value) {
    data.x[static_cast<std::size_t>(3 * row + 1)] = value;
    formats::Hdf5Writer writer(folder / "data.h5");
    writer.write("x", {10, 3}, x.data());
    writer.write("target", {10}, target.data());
    writer.commit();
  }

  std::vector<Json> readRows(const std::string &name = "logs/metrics.jsonl") {
    std::vector<Json> result;
    std::ifstream file(folder / name);
    for (std::string line; std::getline(file, line);)
      result.push_back(Json::parse(line));
    return result;
  }

  /// Returns the events of all event files, ordered by file name.
  std::vector<tensorboard::Event> readEvents() {
    std::set<std::string> files;
    for (const auto &entry :
         std::filesystem::directory_iterator(folder / "logs"))
      if (entry.path().filename().string().find("tfevents") !=
          std::string::npos)
        files.insert(entry.path().string());
    std::vector<tensorboard::Event> result;
    for (const std::string &file : files) {
      std::string bytes = test::readBytes(file);
      std::string_view remaining = bytes;
      auto readNumber = [&](std::size_t at, int size) {
        std::uint64_t value = 0;
        for (int i = 0; i < size; ++i)
          value |= std::uint64_t(static_cast<unsigned char>(
                       remaining.at(at + static_cast<std::size_t>(i))))
                   << (8 * i);
        return value;
      };
      while (!remaining.empty()) {
        const std::uint64_t size = readNumber(0, 8);
        EXPECT_EQ(readNumber(8, 4), maskedCrc32c(remaining.substr(0, 8)));
        const std::string_view record = remaining.substr(12, size);
        EXPECT_EQ(readNumber(12 + size, 4), maskedCrc32c(record));
        tensorboard::Event event;
        EXPECT_TRUE(event.ParseFromString(std::string(record)));
        result.push_back(event);
        remaining.remove_prefix(16 + size);
      }
    }
    return result;
  }

  static std::string fields(const std::string &furtherFields) {
    return "base_lr: 0.1 lr_policy: 'fixed' momentum: 0.9 " + furtherFields;
  }
};

const std::string kNanError = "iteration 1: layer 'data'";

} // namespace

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

TEST_F(TrainerWatchTest, RecordedChangesReproduceTheRun) {
  LogLines log;
  WatchOptions watch;
  watch.logFolder = folder / "logs";
  auto original = makeWatched(fields("max_iter: 8"), watch);
  original->control().set("base_lr", "0.2");
  original->step(3);
  original->control().set("base_lr", "0.05");
  original->control().set("snapshot_prefix", "a \"quoted\" one");
  original->step(3);
  original->control().set("momentum", "0.5");
  original->step(2);
  const std::string changes = folder / "logs/changes.hooks";
  EXPECT_EQ(test::readBytes(changes),
            "after 0 iterations do set base_lr \"0.2\"\n"
            "after 3 iterations do set base_lr \"0.05\"\n"
            "# after 3 iterations snapshot_prefix was set to a value that a "
            "line cannot contain\n"
            "after 6 iterations do set momentum \"0.5\"\n");

  auto repeated = makeWatched(fields("max_iter: 8"), {});
  repeated->addHooks(changes);
  repeated->step(8);
  EXPECT_EQ(weights(*repeated), weights(*original)); // bitwise
}

TEST_F(TrainerWatchTest, ChangesOfRepeatedIterationsBecomeComments) {
  LogLines log;
  WatchOptions watch;
  watch.logFolder = folder / "logs";
  auto trainer = makeWatched(fields("max_iter: 8"), watch);
  trainer->step(2);
  trainer->control().set("base_lr", "0.2");
  trainer->step(2);
  trainer->restart();
  EXPECT_EQ(test::readBytes(folder / "logs/changes.hooks"),
            "# replaced: after 2 iterations do set base_lr \"0.2\"\n"
            "after 0 iterations do set base_lr \"0.2\"\n");
}

//===----------------------------------------------------------------------===//
// NaN
//===----------------------------------------------------------------------===//

TEST_F(TrainerWatchTest, NanEndsTrainingBeforeTheUpdate) {
  LogLines log;
  replaceValue(5, NAN); // in the second batch
  WatchOptions watch;
  watch.checkNan = true;
  auto trainer = makeWatched(fields("max_iter: 10"), watch);
  auto reference = makeWatched(fields("max_iter: 1"), {});
  reference->step(1);
  test::expectError(ExitStatus::BadInput, kNanError, [&] { trainer->solve(); });
  EXPECT_EQ(trainer->iteration(), 1);
  EXPECT_EQ(weights(*trainer), weights(*reference));
  // The snapshot continues with the record that was not trained.
  const auto state =
      formats::readSolverState(folder / "snap_iter_1.solverstate");
  ASSERT_EQ(state.state.brew_reader_size(), 1);
  EXPECT_EQ(state.state.brew_reader(0).records(), 4u);

  replaceValue(5, 0.25);
  auto resumed = makeWatched(fields("max_iter: 10"), watch,
                             folder / "snap_iter_1.solverstate");
  auto original = makeWatched(fields("max_iter: 10"), {});
  resumed->solve();
  original->solve();
  EXPECT_EQ(weights(*resumed), weights(*original));
}

TEST_F(TrainerWatchTest, TheErrorNamesBlobAndPosition) {
  LogLines log;
  replaceValue(1, INFINITY);
  WatchOptions watch;
  watch.checkNan = true;
  auto trainer = makeWatched(fields("max_iter: 3"), watch);
  test::expectError(
      ExitStatus::BadInput,
      "iteration 0: layer 'data', input: blob 'x' is inf at position 4",
      [&] { trainer->solve(); });
}

TEST_F(TrainerWatchTest, ReportsOverflowingSteps) {
  LogLines log;
  replaceValue(1, 3e30f); // squares are infinite
  WatchOptions watch;
  watch.checkNan = true;
  auto trainer = makeWatched(fields("max_iter: 3"), watch);
  test::expectError(ExitStatus::BadInput, "forward: blob 'loss' is inf",
                    [&] { trainer->solve(); });
}

TEST_F(TrainerWatchTest, NamesTheBatchOfAnIteration) {
  LogLines log;
  replaceValue(5, NAN);
  WatchOptions watch;
  watch.checkNan = true;
  auto trainer = makeWatched(fields("max_iter: 3 iter_size: 2"), watch);
  test::expectError(ExitStatus::BadInput,
                    "iteration 0: batch 2 of 2: layer 'data'",
                    [&] { trainer->solve(); });
}

TEST_F(TrainerWatchTest, DoesNotSnapshotNonFiniteParameters) {
  LogLines log;
  WatchOptions watch;
  watch.checkNan = true;
  auto trainer = makeWatched(
      "base_lr: 1e38 lr_policy: 'fixed' momentum: 0 weight_decay: 1e10 "
      "max_iter: 9",
      watch);
  test::expectError(ExitStatus::BadInput, "parameter 0 of layer 'ip'",
                    [&] { trainer->solve(); });
  EXPECT_FALSE(std::filesystem::exists(folder / "snap_iter_1.solverstate"));
}

TEST_F(TrainerWatchTest, ChecksDoNotChangeTheRun) {
  LogLines log;
  WatchOptions watch;
  watch.checkNan = true;
  for (const char *furtherFields : {"max_iter: 7", "max_iter: 7 iter_size: 3",
                                    "max_iter: 7 clip_gradients: 0.1"}) {
    auto trainer = makeWatched(fields(furtherFields), watch);
    auto unchecked = makeWatched(fields(furtherFields), {});
    trainer->solve();
    unchecked->solve();
    EXPECT_EQ(weights(*trainer), weights(*unchecked)) << furtherFields;
  }
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

TEST_F(TrainerWatchTest, RulesEndTrainingLikeMaxIter) {
  LogLines log;
  WatchOptions watch;
  watch.stopWhen = {"test.loss > 100 or iter >= 7", "time > 1e9"};
  auto trainer =
      makeWatched(fields("max_iter: 100 test_iter: 1 test_interval: 5"), watch);
  trainer->solve();
  EXPECT_EQ(trainer->iteration(), 7);
  EXPECT_FALSE(trainer->stopped());
  EXPECT_EQ(log.texts("Stopping after").size(), 1u);
  EXPECT_EQ(log.texts("Stopping after 7 iterations: test.loss > 100 or iter "
                      ">= 7 holds: test.loss = ")
                .size(),
            1u);
  EXPECT_EQ(log.texts("Iteration 7, Testing net (#0)").size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(folder / "snap_iter_7.solverstate"));
  EXPECT_EQ(log.texts("Optimization Done.").size(), 1u);
  // A rule that already holds ends the next call before its first iteration.
  trainer->solve();
  EXPECT_EQ(trainer->iteration(), 7);
}

TEST_F(TrainerWatchTest, DoesNotRepeatTestThatEndsTraining) {
  LogLines log;
  WatchOptions watch;
  watch.stopWhen = {"test.loss >= 0 and iter > 4"};
  auto trainer =
      makeWatched(fields("max_iter: 100 test_iter: 1 test_interval: 3"), watch);
  trainer->solve();
  EXPECT_EQ(trainer->iteration(), 5);
  EXPECT_EQ(log.texts("Iteration 5, Testing net (#0)").size(), 1u);

  watch.stopWhen = {"test.loss >= 0 and iter > 5"};
  auto second =
      makeWatched(fields("max_iter: 100 test_iter: 1 test_interval: 3"), watch);
  second->solve();
  EXPECT_EQ(second->iteration(), 6);
  EXPECT_EQ(log.texts("Iteration 6, Testing net (#0)").size(), 1u);
}

TEST_F(TrainerWatchTest, PatienceEndsTrainingWithoutImprovement) {
  LogLines log;
  WatchOptions watch;
  watch.patience = "2:test.loss";
  auto trainer = makeWatched("base_lr: 0 lr_policy: 'fixed' max_iter: 100 "
                             "test_iter: 5 test_interval: 3",
                             watch);
  trainer->solve(); // 5 batches of 4 are twice the data: equal losses
  EXPECT_EQ(trainer->iteration(), 6);
  EXPECT_EQ(log.texts("Stopping after 6 iterations: 2 tests without "
                      "improvement of test.loss: the best was ")
                .size(),
            1u);
}

//===----------------------------------------------------------------------===//
// Logs
//===----------------------------------------------------------------------===//

TEST_F(TrainerWatchTest, LogsDisplaysAndTestsAsRows) {
  LogLines log;
  WatchOptions watch;
  watch.logFolder = folder / "logs";
  auto trainer = makeWatched(
      fields("max_iter: 6 display: 2 test_iter: 1 test_interval: 3"), watch);
  trainer->solve();
  std::vector<std::string> kinds;
  for (const Json &row : readRows())
    kinds.push_back(row["type"].get<std::string>() +
                    std::to_string(row["iteration"].get<int>()));
  EXPECT_EQ(kinds, (std::vector<std::string>{"test0", "train0", "train2",
                                             "test3", "train4", "test6"}));
  const Json row = readRows()[2];
  EXPECT_NEAR(row["lr"].get<double>(), 0.1, 1e-7);
  EXPECT_TRUE(row["outputs"].contains("loss"));
  EXPECT_NEAR(row["images_per_second"].get<double>(),
              4 * row["iterations_per_second"].get<double>(), 1e-3);
  EXPECT_EQ(readRows()[3]["outputs"]["prediction"].size(), 4u);
  EXPECT_EQ(log.texts("    Speed: ").size(), 2u);
}

TEST_F(TrainerWatchTest, EventFilesContainTensorBoardSummaries) {
  LogLines log;
  WatchOptions watch;
  watch.logFolder = folder / "logs";
  auto trainer = makeWatched(
      fields("max_iter: 6 display: 2 test_iter: 1 test_interval: 3"), watch);
  trainer->solve();
  const auto allEvents = readEvents();
  ASSERT_GE(allEvents.size(), 3u);
  EXPECT_EQ(allEvents[0].file_version(), "brain.Event:2");
  EXPECT_EQ(allEvents[1].session_log().status(),
            tensorboard::SessionLog::START);
  tensorboard::GraphDef graph;
  EXPECT_TRUE(graph.ParseFromString(allEvents[2].graph_def()));
  std::map<std::string, int> tags;
  for (const tensorboard::Event &event : allEvents)
    for (const auto &value : event.summary().value()) {
      ++tags[value.tag()];
      if (!value.has_histo())
        continue;
      double sum = 0;
      for (double count : value.histo().bucket())
        sum += count;
      EXPECT_EQ(sum, value.histo().num());
      EXPECT_EQ(value.histo().bucket_size(), value.histo().bucket_limit_size());
    }
  EXPECT_EQ(tags["train/loss"], 3);
  EXPECT_EQ(tags["train/lr"], 3);
  EXPECT_EQ(tags["train/images_per_second"], 2);
  EXPECT_EQ(tags["test/loss"], 3);
  EXPECT_EQ(tags["test/prediction/3"], 3);
  EXPECT_EQ(tags["weights/ip/0"], 3);
  EXPECT_EQ(tags["gradients/ip/0"], 2); // none before the first iteration
}

TEST_F(TrainerWatchTest, ResumedRunsContinueTheirLogs) {
  LogLines log;
  WatchOptions watch;
  watch.logFolder = folder / "logs";
  const std::string solverFields =
      fields("max_iter: 6 display: 2 test_iter: 1 test_interval: 3 "
             "snapshot: 4");
  makeWatched(solverFields, watch)->solve();
  const std::vector<Json> originalRows = readRows();
  { // Simulates a run killed while writing.
    std::ofstream file(folder / "logs/metrics.jsonl", std::ios::app);
    file << "{\"type\":\"tr";
  }
  makeWatched(solverFields, watch, folder / "snap_iter_4.solverstate")->solve();
  const std::vector<Json> resumedRows = readRows();
  ASSERT_EQ(resumedRows.size(), originalRows.size());
  for (std::size_t i = 0; i < originalRows.size(); ++i)
    for (const char *field : {"type", "iteration", "outputs"})
      EXPECT_EQ(resumedRows[i][field], originalRows[i][field]) << i;
  // Repeated rows and the incomplete line are moved to another file.
  const std::string replaced =
      test::readBytes(folder / "logs/metrics.replaced.jsonl");
  EXPECT_EQ(std::count(replaced.begin(), replaced.end(), '\n'), 3);
  EXPECT_NE(replaced.find("{\"type\":\"tr\n"), std::string::npos);
  int starts = 0;
  for (const tensorboard::Event &event : readEvents())
    if (event.has_session_log() && event.step() == 4)
      ++starts;
  EXPECT_EQ(starts, 1);
}

TEST_F(TrainerWatchTest, ReportsInvalidFolder) {
  LogLines log;
  WatchOptions watch;
  watch.logFolder = folder / "list.txt/logs";
  test::expectError(ExitStatus::Unavailable, "list.txt/logs",
                    [&] { makeWatched(fields("max_iter: 1"), watch); });
}

TEST_F(TrainerWatchTest, FullDiskEndsOnlyTheLogs) {
  LogLines log;
  WatchOptions watch;
  watch.logFolder = folder / "logs";
  auto trainer = makeWatched(
      fields("max_iter: 6 display: 2 snapshot_after_train: false"), watch);
  rlimit previous{};
  getrlimit(RLIMIT_FSIZE, &previous);
  rlimit zeroLimit = previous;
  zeroLimit.rlim_cur = 0;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &zeroLimit);
  trainer->solve();
  setrlimit(RLIMIT_FSIZE, &previous);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(trainer->iteration(), 6);
  EXPECT_EQ(log.texts("; nothing more is logged in '").size(), 1u);
  EXPECT_EQ(log.texts("metrics.jsonl': File too large").size(), 1u);
  EXPECT_TRUE(readRows().empty());
}

TEST_F(TrainerWatchTest, RemovedFolderEndsOnlyTheLogs) {
  LogLines log;
  WatchOptions watch;
  watch.logFolder = folder / "logs";
  auto trainer = makeWatched(
      fields("max_iter: 6 display: 1 snapshot_after_train: false"), watch);
  trainer->step(2);
  std::filesystem::remove_all(watch.logFolder);
  test::writeBytes(watch.logFolder, "no folder");
  trainer->control().set("base_lr", "0.5");
  trainer->step(2);
  trainer->control().reset();
  trainer->solve();
  EXPECT_EQ(trainer->iteration(), 6);
  EXPECT_EQ(log.texts("; nothing more is logged in '").size(), 1u);
}
