//===- TrainerHooksTest.cpp - Hooks of training runs ----------------------===//
#include "TrainingFixture.h"

#include "formats/SolverStateFile.h"
#include "test/common/NoMoreThreads.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <thread>

using namespace brew;
using namespace brew::runtime;
using test::LogLines;
using Strings = std::vector<std::string>;

namespace {

const std::string kFields =
    "base_lr: 0.1 lr_policy: 'fixed' momentum: 0.9 test_iter: 2 "
    "test_interval: 1000 test_initialization: false ";

class TrainerHooksTest : public test::TrainingFixture {
protected:
  /// Creates a trainer with a hook file of these lines.
  std::unique_ptr<Trainer> makeWithHooks(
      const std::string &lines, const std::string &fields = "max_iter: 10",
      const std::string &snapshot = "", const WatchOptions &watch = {}) {
    test::writeBytes(folder / "run.hooks", lines);
    const plan::Manifest manifest =
        test::linearModel(feed(), solver(mergeFields(fields)));
    TrainerOptions options;
    options.solver = solverOf(manifest);
    options.snapshot = snapshot;
    options.hooks = {folder / "run.hooks"};
    options.watch = watch;
    return std::make_unique<Trainer>(open(manifest), options);
  }

  /// Returns kFields overridden by `fields`.
  static std::string mergeFields(const std::string &fields) {
    auto result = test::parse<caffe::SolverParameter>(kFields);
    result.MergeFrom(test::parse<caffe::SolverParameter>(fields));
    return result.DebugString();
  }

  void expectRefused(const std::string &lines, const std::string &message) {
    test::expectError(ExitStatus::BadInput, message,
                      [&] { makeWithHooks(lines); });
  }

  bool exists(const std::string &name) const {
    return std::filesystem::exists(folder / name);
  }
};

/// Records calls of a hook as "NAME@ITERATION".
struct Calls {
  Strings recorded;
  HookFunction function() {
    return [this](const HookCall &call) {
      recorded.push_back(call.name + "@" + std::to_string(call.iteration));
    };
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Triggers
//===----------------------------------------------------------------------===//

TEST_F(TrainerHooksTest, AreCalledWhenTheyAreDue) {
  LogLines log;
  auto trainer = make(kFields + "max_iter: 7");
  Calls calls;
  for (const char *line :
       {"i: every 3 iterations do call", "o: after 2 iterations do call",
        "s: at start do call", "e: at stop do call", "t: at test do call",
        "p: every epoch do call", "q: after 2 epochs do call"})
    trainer->addHook(line, calls.function());
  trainer->solve();
  // Ten rows in batches of four: passes end in batches 3, 5 and 8.
  EXPECT_EQ(calls.recorded,
            (Strings{"s@0", "o@2", "i@3", "p@3", "p@5", "q@5", "i@6", "e@7"}));
  calls.recorded.clear();
  trainer->test(0);
  // Tests that the caller runs trigger no hooks.
  EXPECT_TRUE(calls.recorded.empty());
  trainer->step(2);
  EXPECT_EQ(calls.recorded, (Strings{"s@7", "p@8", "i@9", "e@9"}));
}

TEST_F(TrainerHooksTest, AreCalledAtTestsAndPauses) {
  LogLines log;
  auto trainer = make(mergeFields("max_iter: 4 test_interval: 2"));
  Calls calls;
  trainer->addHook("t: at test do call", calls.function());
  trainer->addHook("p: at pause do call", [&](const HookCall &call) {
    calls.function()(call);
    trainer->control().resume();
  });
  trainer->addHook("r: at resume do call", calls.function());
  trainer->addHook("every 3 iterations do call",
                   [&](const HookCall &) { trainer->control().pause(); });
  trainer->solve();
  EXPECT_EQ(calls.recorded, (Strings{"t@2", "p@3", "r@3", "t@4"}));
}

TEST_F(TrainerHooksTest, RunBetweenSeparateIterations) {
  LogLines log;
  auto trainer = make(kFields + "max_iter: 4");
  Calls calls;
  trainer->addHook("every 2 iterations do call", calls.function());
  trainer->addHook("after 1 iterations do set base_lr 0.5");
  for (int i = 0; i < 4; ++i) {
    trainer->forward();
    trainer->backward();
    trainer->update();
  }
  EXPECT_EQ(calls.recorded, (Strings{"hook-1@2", "hook-1@4"}));
  EXPECT_EQ(trainer->learningRate(), 0.5);
}

TEST_F(TrainerHooksTest, RunInTheOrderOfNeedsAndPriorities) {
  LogLines log;
  auto trainer = make(kFields + "max_iter: 1");
  Calls calls;
  trainer->addHook("a: at stop do call", calls.function());
  trainer->addHook("b: at stop do call priority 5", calls.function());
  trainer->addHook("c: at stop do call needs a priority 9", calls.function());
  trainer->addHook("d: at stop do call priority -1", calls.function());
  trainer->solve();
  EXPECT_EQ(calls.recorded, (Strings{"b@1", "a@1", "c@1", "d@1"}));
}

TEST_F(TrainerHooksTest, RunAfterHooksThatTheyRead) {
  LogLines log;
  // The mean runs first although it was added later and has lower priority.
  auto trainer =
      makeWithHooks("now: every 2 iterations do report hook.mean priority 9\n"
                    "mean: every 2 iterations do accumulate train.loss\n",
                    "max_iter: 2");
  trainer->solve();
  const Strings now = log.texts("now: "), mean = log.texts("mean: ");
  ASSERT_EQ(now.size(), 1u);
  ASSERT_EQ(mean.size(), 1u);
  const std::string value = now[0].substr(now[0].find("= "));
  EXPECT_NE(mean[0].find(value + " "), std::string::npos) << mean[0] << now[0];
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

TEST_F(TrainerHooksTest, StopTraining) {
  LogLines log;
  auto trainer =
      makeWithHooks("end: every iteration if iter >= 4 for 2 do stop\n");
  trainer->solve();
  EXPECT_EQ(trainer->iteration(), 5);
  EXPECT_FALSE(trainer->stopped()); // stopped by a rule, not by a request
  EXPECT_EQ(log.texts("Stopping"),
            Strings{"Stopping after 5 iterations: hook 'end': iter >= 4 for 2 "
                    "holds: iter = 5"});
}

TEST_F(TrainerHooksTest, StopEarlyWithoutImprovement) {
  LogLines log;
  // The learning rate is 0 after two iterations, so the test loss is constant.
  auto trainer = makeWithHooks("after 2 iterations do set base_lr 0\n"
                               "at test do early_stop test.loss patience 3\n",
                               "max_iter: 50 test_interval: 1 momentum: 0");
  trainer->solve();
  ASSERT_EQ(log.texts("Stopping").size(), 1u);
  EXPECT_NE(
      log.texts("Stopping")[0].find("3 evaluations without improvement of "
                                    "test.loss: the best was "),
      std::string::npos);
  EXPECT_LT(trainer->iteration(), 10);
}

TEST_F(TrainerHooksTest, TakeSnapshotsThatResumeExactly) {
  LogLines log;
  const std::string hooks = "rate: every 2 iterations do set base_lr from "
                            "rates.txt\nafter 4 iterations do snapshot\n"
                            "at stop do snapshot\nlow: after 3 iterations do "
                            "set momentum 0.5\n";
  test::writeBytes(folder / "rates.txt", "0 0.2\n3 0.1\n6 0.05\n");
  auto original =
      makeWithHooks(hooks, "max_iter: 9 snapshot_after_train: false");
  original->solve();
  EXPECT_TRUE(exists("snap_iter_9.solverstate"));
  ASSERT_TRUE(exists("snap_iter_4.solverstate"));
  auto resumed =
      makeWithHooks(hooks, "max_iter: 9", folder / "snap_iter_4.solverstate");
  // The settings of hooks that were due before the snapshot apply again.
  EXPECT_EQ(resumed->control().get("base_lr"), "0.1");
  EXPECT_EQ(resumed->control().get("momentum"), "0.5");
  resumed->solve();
  EXPECT_EQ(weights(*resumed), weights(*original)); // bitwise
}

TEST_F(TrainerHooksTest, RestartWithTraining) {
  LogLines log;
  test::writeBytes(folder / "rates.txt", "0 0.2\n3 0.1\n");
  const std::string hooks = "every iteration do set base_lr from rates.txt\n";
  auto trainer = makeWithHooks(hooks, "max_iter: 6"),
       fresh = makeWithHooks(hooks, "max_iter: 6");
  trainer->step(5);
  trainer->control().reset();
  trainer->solve();
  fresh->solve();
  EXPECT_EQ(weights(*trainer), weights(*fresh)); // bitwise
}

TEST_F(TrainerHooksTest, SetFieldsAndReportTheIteration) {
  LogLines log;
  auto trainer =
      makeWithHooks("every 2 iterations 2 times if iter > 0 do set base_lr "
                    "0.01\nat start do set display 3\n",
                    "max_iter: 8");
  trainer->solve();
  // Setting a field to its value is a no-op.
  EXPECT_EQ(log.texts("From iteration"),
            (Strings{"From iteration 0 on, display is 3",
                     "From iteration 2 on, base_lr is 0.01"}));
}

TEST_F(TrainerHooksTest, TestWithoutChangingLaterTests) {
  LogLines log;
  const std::string fields = "max_iter: 6 snapshot: 3 test_interval: 5";
  auto original =
      makeWithHooks("every 2 iterations do test\nafter 3 iterations do test "
                    "0\n",
                    fields);
  original->solve();
  const Strings originalLines = log.texts("Test net output");
  EXPECT_EQ(
      log.texts("Testing net"),
      (Strings{"Iteration 2, Testing net (#0)", "Iteration 3, Testing net (#0)",
               "Iteration 4, Testing net (#0)", "Iteration 5, Testing net (#0)",
               "Iteration 6, Testing net (#0)"}));
  log.lines.clear();
  // A resumed run tests on the same records as the full run.
  auto resumed = makeWithHooks("every 2 iterations do test\n", fields,
                               folder / "snap_iter_3.solverstate");
  resumed->solve();
  const Strings resumedLines = log.texts("Test net output");
  ASSERT_LT(resumedLines.size(), originalLines.size());
  EXPECT_EQ(resumedLines,
            Strings(originalLines.end() -
                        static_cast<std::ptrdiff_t>(resumedLines.size()),
                    originalLines.end()));
}

TEST_F(TrainerHooksTest, SaveTheBestAndRememberIt) {
  LogLines log;
  auto trainer = makeWithHooks(
      "best: every 2 iterations do save_best train.loss\n", "max_iter: 8");
  trainer->solve();
  EXPECT_TRUE(exists("snap_best_train.loss.caffemodel"));
  const Strings reports = log.texts("is the best so far");
  ASSERT_FALSE(reports.empty());
  log.lines.clear();
  auto resumed =
      makeWithHooks("best: every 2 iterations do save_best train.loss\n",
                    "max_iter: 8", folder / "snap_iter_8.solverstate");
  EXPECT_EQ(log.texts("The best train.loss so far").size(), 1u);
}

TEST_F(TrainerHooksTest, ReportMeasurements) {
  LogLines log;
  auto trainer =
      makeWithHooks("v: every 2 iterations do report train.loss, "
                    "test.loss\nm: every 4 iterations do accumulate iter\n"
                    "t: every 4 iterations do report_time\n"
                    "p: every 4 iterations do report_progress\n",
                    "max_iter: 8");
  trainer->solve();
  const Strings values = log.texts(", v: ");
  ASSERT_EQ(values.size(), 4u);
  EXPECT_EQ(values[0].find("Iteration 2, v: train.loss = "), 0u);
  EXPECT_NE(values[0].find(", test.loss was not measured yet"),
            std::string::npos);
  EXPECT_EQ(
      log.texts(", m: "),
      (Strings{"Iteration 4, m: mean of iter = 2.5 (minimum 1, maximum 4, 4 "
               "iterations)",
               "Iteration 8, m: mean of iter = 6.5 (minimum 5, maximum 8, 4 "
               "iterations)"}));
  EXPECT_EQ(log.texts(", p: "),
            (Strings{"Iteration 4, p: epoch 2, 4 of 8 iterations (50.0 %)",
                     "Iteration 8, p: epoch 4, 8 of 8 iterations (100.0 %)"}));
  const Strings times = log.texts(", t: ");
  ASSERT_EQ(times.size(), 2u);
  EXPECT_NE(times[0].find(" ms for each of the last 4 iterations, "),
            std::string::npos);
  EXPECT_NE(times[0].find(" left to max_iter"), std::string::npos);
  EXPECT_EQ(times[1].find(" left to max_iter"), std::string::npos);
}

TEST_F(TrainerHooksTest, ReportUpdates) {
  LogLines log;
  auto trainer = makeWithHooks("u: every 3 iterations do report_updates ip\n",
                               "max_iter: 6 momentum: 0");
  std::vector<std::vector<float>> recorded;
  trainer->addHook("every iteration do call", [&](const HookCall &) {
    recorded.push_back(weights(*trainer));
  });
  trainer->solve();
  auto deviation = [](std::vector<double> values) {
    double mean = 0, squares = 0;
    for (double value : values)
      mean += value / double(values.size());
    for (double value : values)
      squares += (value - mean) * (value - mean) / double(values.size());
    return std::sqrt(squares);
  };
  const Strings lines = log.texts(", u: ");
  ASSERT_EQ(lines.size(), 2u);
  for (std::size_t turn : {0u, 1u}) {
    const auto &before = recorded[3 * turn + 1],
               &after = recorded[3 * turn + 2];
    std::vector<double> update, previous;
    for (std::size_t k = 0; k < 3; ++k) {
      update.push_back(double(after[k]) - before[k]);
      previous.push_back(before[k]);
    }
    EXPECT_NEAR(std::stod(lines[turn].substr(lines[turn].rfind(' '))),
                deviation(update) / deviation(previous), 1e-5);
  }
}

//===----------------------------------------------------------------------===//
// Functions and external flags
//===----------------------------------------------------------------------===//

TEST_F(TrainerHooksTest, ProvideValuesToTheCaller) {
  LogLines log;
  auto trainer = make(kFields + "max_iter: 2");
  EXPECT_EQ(trainer->metric("train.loss"), std::nullopt);
  trainer->addHook("half: every iteration do accumulate iter");
  trainer->solve();
  EXPECT_EQ(trainer->metric("hook.half"), 2.0);
  EXPECT_EQ(trainer->metric("iter"), 2.0);
  test::expectError(ExitStatus::Usage, "no hook named 'none'",
                    [&] { trainer->metric("hook.none"); });
}

TEST_F(TrainerHooksTest, RethrowExceptionsOfFunctions) {
  LogLines log;
  auto trainer = make(kFields + "max_iter: 5");
  trainer->addHook("bad: after 2 iterations do call", [](const HookCall &) {
    throw std::logic_error("the caller's");
  });
  EXPECT_THROW(trainer->solve(), std::logic_error);
  EXPECT_EQ(trainer->iteration(), 2);
  trainer->removeHook("bad");
  trainer->solve();
  EXPECT_EQ(trainer->iteration(), 5);
}

TEST_F(TrainerHooksTest, HooksCannotChangeHooks) {
  LogLines log;
  auto trainer = make(kFields + "max_iter: 2");
  trainer->addHook("at start do call", [&](const HookCall &) {
    trainer->addHook("at stop do snapshot");
  });
  test::expectError(ExitStatus::Usage, "a hook cannot add or remove hooks",
                    [&] { trainer->solve(); });
}

TEST_F(TrainerHooksTest, ReactToFlagsRaisedByAnotherThread) {
  LogLines log;
  auto trainer = make(kFields + "max_iter: 1000000");
  trainer->addHook("every iteration if external enough do stop");
  std::thread flagRaiser([&] { trainer->raiseFlag("enough"); });
  trainer->solve();
  flagRaiser.join();
  EXPECT_LT(trainer->iteration(), 1000000);
  EXPECT_EQ(log.texts("Stopping").size(), 1u);
}

TEST_F(TrainerHooksTest, BackgroundHooksDoNotDelayTraining) {
  LogLines log;
  auto trainer = make(kFields + "max_iter: 20");
  std::mutex mutex;
  std::condition_variable changed;
  bool mayEnd = false;
  std::vector<int> recorded;
  const auto training = std::this_thread::get_id();
  trainer->addHook("slow: every iteration do call in background",
                   [&](const HookCall &call) {
                     EXPECT_TRUE(call.background);
                     EXPECT_NE(std::this_thread::get_id(), training);
                     std::unique_lock<std::mutex> lock(mutex);
                     recorded.push_back(call.iteration);
                     changed.wait(lock, [&] { return mayEnd; });
                   });
  trainer->addHook("at stop do call", [&](const HookCall &) {
    std::lock_guard<std::mutex> lock(mutex);
    mayEnd = true;
    changed.notify_all();
  });
  trainer->solve();
  EXPECT_EQ(trainer->iteration(), 20);
  EXPECT_EQ(recorded, std::vector<int>{1});
  EXPECT_EQ(log.texts("too slow"),
            Strings{"Hook 'slow' was too slow for 19 turns"});
}

TEST_F(TrainerHooksTest, TrainingContinuesIfNoBackgroundThreadStarts) {
  LogLines log;
  auto trainer = make(kFields + "max_iter: 5");
  trainer->step(1); // starts the readers' threads
  trainer->addHook("bad: every iteration do report train.loss in background");
  {
    const test::NoMoreThreads threadLimit;
    trainer->step(4);
  }
  EXPECT_EQ(trainer->iteration(), 5);
  EXPECT_EQ(
      log.texts("failed"),
      Strings{"Hook 'bad' failed: the system cannot create another thread; it "
              "does not run again"});
}

TEST_F(TrainerHooksTest, BackgroundErrorsAreReportedOnce) {
  LogLines log;
  auto trainer = make(kFields + "max_iter: 5");
  std::atomic<int> calls = 0;
  trainer->addHook("bad: every 5 iterations do call in background",
                   [&](const HookCall &) {
                     ++calls;
                     throw std::runtime_error("no luck");
                   });
  trainer->solve();
  trainer->step(5);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(log.texts("failed"),
            Strings{"Hook 'bad' failed: no luck; it does not run again"});
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_F(TrainerHooksTest, ErrorsNameLineAndColumn) {
  LogLines log;
  expectRefused("# a comment\n\nat start do halt\n",
                "run.hooks, line 3, column 13: there is no action 'halt'");
  expectRefused("at start do reprot iter\n", "did you mean 'report'?");
  expectRefused("at start do stop now\n", "column 18: expected the end");
  expectRefused("at start if test.los > 1 do stop\n",
                "column 18: test net 0 has no");
  expectRefused("at start do set base_rl 1\n", "did you mean 'base_lr'?");
  expectRefused("at start do set max_iter 1 2\n",
                "expected the end of the action");
  expectRefused("at start do set random_seed 1\n",
                "only be set before training");
  expectRefused("at start do set base_lr much\n", "column 25: ");
  expectRefused("at start do set base_lr from\n",
                "expected the name of a file");
  expectRefused("at start do test 1\n", "there is no test net 1");
  expectRefused("at test do test\n", "never ends");
  expectRefused("after 0 iterations do stop\n", "supports only 'set'");
  expectRefused("after 0 iterations if iter < 1 do set base_lr 1\n",
                "only 'set'");
  expectRefused("at start do save_best iter\n", "how good the net is");
  expectRefused("at start do early_stop test.loss patience 0\n", "from 1 on");
  expectRefused("at start do report nothing\n", "there is no metric 'nothing'");
  expectRefused("at start do report_updates fc\n", "no layer 'fc' learns");
  expectRefused("at start do report_accuracy top 1 of x against y\n",
                "column 38: ");
  expectRefused("at start do report_accuracy of x\n", "expected 'top'");
  expectRefused("at start do maximise 1 of x in none.plan to a.jpg\n", ".png");
  expectRefused("at start do call\n", "'call' needs a function");
  expectRefused("at start do stop in background\n", "affects training");
  expectRefused("a: at start do stop\na: at stop do stop\n",
                "line 2, column 1: there is a hook 'a' already");
  expectRefused("a: at start do stop needs b\nc: at stop do stop",
                "no hook 'b'");
  expectRefused("a: at start do stop needs b\nb: at start do stop needs a\n",
                "hooks need each other: 'a' needs 'b' needs 'a'");
  expectRefused("a: at start do report hook.b\nb: at start do report hook.a\n",
                "hooks need each other");
  expectRefused(
      "a: at start do report iter in background\nat stop do report hook.a",
      "no hook named 'a' produces a value");
  expectRefused("epoch long iterations\n", "expected the length of an epoch");
  expectRefused("at stop do stop\nepoch 5 iterations\n", "precede all hooks");
  test::expectError(ExitStatus::Unavailable, "'none.plan' not found", [&] {
    makeWithHooks("at start do maximise 1 of x in none.plan to a.png\n");
  });
  test::expectError(ExitStatus::Unavailable, "cannot read the hooks",
                    [&] { make(kFields)->addHooks(folder / "none.hooks"); });
}

TEST_F(TrainerHooksTest, RefusedFilesAddNoHooks) {
  LogLines log;
  auto trainer = make(kFields + "max_iter: 3");
  test::writeBytes(folder / "two.hooks",
                   "a: at stop do snapshot\nb: at stop do stop needs c\n");
  test::expectError(ExitStatus::BadInput, "no hook 'c'",
                    [&] { trainer->addHooks(folder / "two.hooks"); });
  trainer->addHook("a: at stop do report iter"); // the name is unused again
  test::expectError(ExitStatus::Usage, "hook, column 9: ", [&] {
    trainer->addHook("at stop nothing");
  });
  test::expectError(ExitStatus::Usage, "there is no hook 'b'",
                    [&] { trainer->removeHook("b"); });
  trainer->addHook("c: at stop do report iter needs a");
  test::expectError(ExitStatus::Usage, "hook 'c' needs hook 'a'",
                    [&] { trainer->removeHook("a"); });
  trainer->solve();
  EXPECT_EQ(log.texts("iter = 3").size(), 2u);
}

TEST_F(TrainerHooksTest, EpochsNeedPassesOrALength) {
  LogLines log;
  const std::string input =
      "name: 'd' type: 'DummyData' top: 'x' top: 'target' "
      "dummy_data_param { shape { dim: 4 dim: 3 } shape "
      "{ dim: 4 } data_filler { type: 'gaussian' } }";
  const plan::Manifest manifest =
      test::linearModel(input, solver(kFields + "max_iter: 7"));
  TrainerOptions options;
  options.solver = solverOf(manifest);
  Trainer trainer(open(manifest), options);
  test::expectError(ExitStatus::Usage, "define the length of an epoch first",
                    [&] { trainer.addHook("every epoch do snapshot"); });
  test::expectError(ExitStatus::Usage, "define the length of an epoch first",
                    [&] { trainer.addHook("at stop if epoch > 1 do stop"); });
  trainer.addHook("epoch 3 iterations");
  Calls calls;
  trainer.addHook("e: every epoch do call", calls.function());
  trainer.solve();
  EXPECT_EQ(calls.recorded, (Strings{"e@3", "e@6"}));
}

//===----------------------------------------------------------------------===//
// Hooks of options
//===----------------------------------------------------------------------===//

TEST_F(TrainerHooksTest, OptionsComeBeforeLines) {
  LogLines log;
  WatchOptions watch;
  watch.stopWhen = {"iter >= 4"};
  auto trainer = makeWithHooks("at start do test\n"
                               "every 2 iterations if iter > 3 do stop\n",
                               "max_iter: 9", "", watch);
  Calls calls;
  trainer->addHook("i: every 3 iterations do call", calls.function());
  trainer->solve();
  EXPECT_EQ(trainer->iteration(), 4);
  EXPECT_EQ(log.texts("Stopping after 4 iterations: iter >= 4 holds").size(),
            1u);
  EXPECT_EQ(calls.recorded, Strings{"i@3"});
  EXPECT_EQ(log.texts("Iteration 0, Testing net (#0)").size(), 1u);
}

TEST_F(TrainerHooksTest, RulesHoldBeforeTheFirstIterationOnlyInSolve) {
  LogLines log;
  WatchOptions watch;
  watch.stopWhen = {"iter >= 0"};
  auto trainer =
      makeWithHooks("at start do report iter\n", "max_iter: 9", "", watch);
  trainer->step(3);
  EXPECT_EQ(trainer->iteration(), 1);
  trainer->solve();
  EXPECT_EQ(trainer->iteration(), 1);
}
