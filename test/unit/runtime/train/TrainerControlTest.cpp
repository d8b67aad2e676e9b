//===- TrainerControlTest.cpp - Requests, events, separate passes ---------===//
#include "TrainingFixture.h"

#include "runtime/train/SolverFields.h"
#include "test/common/CommaLocale.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

using namespace brew;
using namespace brew::runtime;
using test::expectError;
using test::LogLines;

namespace {

const std::string kFixed = "base_lr: 0.5 lr_policy: 'fixed' ";

using TrainerControlTest = test::TrainingFixture;

} // namespace

TEST_F(TrainerControlTest, EveryIterationEmitsAnEvent) {
  LogLines log;
  auto trainer = make(kFixed + "max_iter: 4 average_loss: 2 display: 2");
  std::vector<event::IterationDone> done;
  std::vector<int> displayed;
  sessions.back()->events().add([&](const Event &event) {
    if (const auto *match = std::get_if<event::IterationDone>(&event))
      done.push_back(*match);
    if (const auto *match = std::get_if<event::Display>(&event))
      displayed.push_back(match->iteration);
  });
  trainer->step(4);
  ASSERT_EQ(done.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(done[i].iteration, i);
    EXPECT_EQ(done[i].learningRate, 0.5);
    EXPECT_NEAR(done[i].smoothedLoss,
                i ? (done[i].loss + done[i - 1].loss) / 2 : done[i].loss,
                1e-12);
  }
  EXPECT_EQ(done[3].smoothedLoss, trainer->smoothedLoss());
  EXPECT_EQ(displayed, (std::vector<int>{0, 2}));
}

TEST_F(TrainerControlTest, AResetRestartsTheRun) {
  LogLines log;
  auto trainer = make(kFixed + "momentum: 0.9 max_iter: 4 random_seed: 3");
  std::vector<event::IterationDone> done;
  std::vector<int> resets;
  sessions.back()->events().add([&](const Event &event) {
    if (const auto *match = std::get_if<event::IterationDone>(&event))
      done.push_back(*match);
    if (const auto *match = std::get_if<event::Reset>(&event))
      resets.push_back(match->iteration);
  });
  trainer->step(3);
  const double smoothed = trainer->smoothedLoss();
  trainer->control().reset();
  trainer->step(0); // repeats the iterations up to the one reached
  EXPECT_EQ(resets, std::vector<int>{0});
  EXPECT_EQ(trainer->iteration(), 3);
  ASSERT_EQ(done.size(), 6u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(done[i].iteration, done[i + 3].iteration);
    EXPECT_EQ(done[i].loss, done[i + 3].loss) << i;
  }
  EXPECT_EQ(trainer->smoothedLoss(), smoothed);
}

TEST_F(TrainerControlTest, TimedIterationsEqualUntimedOnes) {
  LogLines log;
  auto timed = make(kFixed + "max_iter: 4 random_seed: 3");
  std::vector<event::StepTimes> times;
  sessions.back()->events().add([&](const Event &event) {
    if (const auto *match = std::get_if<event::StepTimes>(&event))
      times.push_back(*match);
  });
  auto untimed = make(kFixed + "max_iter: 4 random_seed: 3");
  timed->step(1);
  timed->control().requestStepTimes();
  timed->step(3);
  untimed->step(4);
  EXPECT_EQ(timed->smoothedLoss(), untimed->smoothedLoss());
  ASSERT_EQ(times.size(), 1u); // one request, one iteration
  EXPECT_EQ(times[0].iteration, 1);
  EXPECT_GT(times[0].seconds.size(), 1u);
  for (double seconds : times[0].seconds)
    EXPECT_GE(seconds, 0);
}

TEST_F(TrainerControlTest, RemovesListenersAndDelaysPostedEvents) {
  Events events;
  std::vector<std::string> received;
  const int listener = events.add([&](const Event &event) {
    received.push_back(std::get<event::LogLine>(event).text);
  });
  std::thread([&] {
    events.post(event::LogLine{log::Severity::Info, log::site::brew, "first"});
  }).join();
  EXPECT_TRUE(received.empty());
  events.info(log::site::brew, "second");
  EXPECT_EQ(received, (std::vector<std::string>{"first", "second"}));
  events.remove(listener);
  events.info(log::site::brew, "third");
  EXPECT_EQ(received.size(), 2u);

  events.add([&](const Event &) {
    expectError(ExitStatus::Usage, "a listener cannot",
                [&] { events.add([](const Event &) {}); });
    expectError(ExitStatus::Usage, "a listener cannot",
                [&] { events.remove(0); });
    throw badInput("heard enough");
  });
  expectError(ExitStatus::BadInput, "heard enough",
              [&] { events.info(log::site::brew, "fourth"); });
  events.remove(events.add([](const Event &) {})); // the callback has returned
}

TEST_F(TrainerControlTest, SeparatePassesEqualStep) {
  LogLines log;
  const std::string fields =
      "base_lr: 0.3 lr_policy: 'step' stepsize: 2 gamma: 0.5 momentum: 0.9 "
      "weight_decay: 0.05 iter_size: 3 clip_gradients: 0.4 max_iter: 5";
  auto stepwise = make(fields), separate = make(fields);
  stepwise->step(5);
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 3; ++k) {
      separate->forward();
      separate->backward();
      // accumulate() is optional after the last backward pass.
      if (k < 2 || i % 2)
        separate->accumulate();
    }
    separate->update();
  }
  EXPECT_EQ(weights(*separate), weights(*stepwise)); // bitwise
  EXPECT_EQ(separate->iteration(), 5);
  EXPECT_EQ(separate->learningRate(), stepwise->learningRate());
  EXPECT_EQ(separate->smoothedLoss(), stepwise->smoothedLoss());
}

TEST_F(TrainerControlTest, ReplacesGradientsThatAreNotAccumulated) {
  LogLines log;
  auto stepwise = make(kFixed + "max_iter: 2"),
       separate = make(kFixed + "max_iter: 2");
  stepwise->step(1);
  separate->forward();
  separate->backward();
  sessions.back()->setSeed({1, 0}); // the first batch again
  separate->forward();
  separate->backward();
  separate->update();
  EXPECT_EQ(weights(*separate), weights(*stepwise));
  EXPECT_EQ(separate->smoothedLoss(), stepwise->smoothedLoss());
}

TEST_F(TrainerControlTest, PassesMustComeInOrder) {
  LogLines log;
  auto trainer = make(kFixed + "max_iter: 2");
  const auto usage = ExitStatus::Usage;
  expectError(usage, "needs the forward pass", [&] { trainer->backward(); });
  expectError(usage, "needs the gradients", [&] { trainer->update(); });
  trainer->forward();
  expectError(usage, "needs the gradients", [&] { trainer->accumulate(); });
  expectError(usage, "needs the gradients", [&] { trainer->update(); });
  trainer->backward();
  expectError(usage, "needs the forward pass", [&] { trainer->backward(); });
  trainer->update();
  expectError(usage, "needs the gradients", [&] { trainer->update(); });
  expectError(usage, "no test net 3", [&] { trainer->test(3); });
}

TEST_F(TrainerControlTest, FieldsChangeBetweenIterations) {
  LogLines log;
  auto trainer = make("base_lr: 0.5 lr_policy: 'exp' gamma: 1 max_iter: 10 "
                      "test_iter: 1");
  std::vector<double> rates;
  sessions.back()->events().add([&](const Event &event) {
    if (const auto *match = std::get_if<event::IterationDone>(&event)) {
      rates.push_back(match->learningRate);
      if (match->iteration == 1)
        trainer->control().set("base_lr", "0.25");
      if (match->iteration == 3)
        trainer->control().set("max_iter", "5");
    }
  });
  EXPECT_EQ(trainer->control().get("base_lr"), "0.5");
  trainer->solve();
  EXPECT_EQ(rates, (std::vector<double>{0.5, 0.5, 0.25, 0.25, 0.25}));
  EXPECT_EQ(trainer->control().get("base_lr"), "0.25");
  EXPECT_EQ(trainer->iteration(), 5);

  TrainerControl &control = trainer->control();
  const auto usage = ExitStatus::Usage, bad = ExitStatus::BadInput;
  expectError(usage, "did you mean 'base_lr'",
              [&] { control.set("base_lrr", "1"); });
  expectError(usage, "takes a number, not 'x'",
              [&] { control.set("base_lr", "x"); });
  expectError(usage, "takes a whole number, not '1.5'",
              [&] { control.set("display", "1.5"); });
  expectError(usage, "only be set before training",
              [&] { control.set("random_seed", "1"); });
  expectError(bad, "display must not be negative",
              [&] { control.set("display", "-1"); });
  expectError(bad, "iter_size must be at least 1",
              [&] { control.set("iter_size", "0"); });
  expectError(bad, "once for each of the 1 test nets",
              [&] { control.set("test_iter", "1,2"); });
  expectError(bad, "lr_policy", [&] { control.set("lr_policy", "none"); });
  EXPECT_EQ(control.get("display"), "0");
}

TEST_F(TrainerControlTest, SolverFieldsReadBack) {
  caffe::SolverParameter solver;
  const char *const values[][2] = {
      {"base_lr", "0.1"},         {"max_iter", "-3"},
      {"stepvalue", "1,2,3"},     {"test_initialization", "false"},
      {"snapshot_prefix", "a b"}, {"random_seed", "5000000000"}};
  for (const auto &[name, value] : values) {
    setSolverField(solver, name, value);
    EXPECT_EQ(solverFieldText(solver, name), value);
  }
  EXPECT_EQ(solver.stepvalue_size(), 3);
  setSolverField(solver, "stepvalue", "");
  EXPECT_EQ(solver.stepvalue_size(), 0);
  // Every row names a field of caffe.proto with the type it states.
  for (const SolverField &field : solverFields())
    EXPECT_NO_THROW(
        setSolverField(solver, field.name, solverFieldText(solver, field.name)))
        << field.name;
}

TEST_F(TrainerControlTest, SolverFieldsIgnoreTheLocale) {
  const test::CommaLocale locale;
  if (!locale)
    GTEST_SKIP() << "no locale with commas, and localedef created none";
  caffe::SolverParameter solver;
  setSolverField(solver, "base_lr", "0.125");
  EXPECT_EQ(solver.base_lr(), 0.125f);
  EXPECT_EQ(solverFieldText(solver, "base_lr"), "0.125");
  EXPECT_THROW(setSolverField(solver, "base_lr", "0,125"), Error);
}

TEST_F(TrainerControlTest, PausesUntilAnotherThreadResumes) {
  LogLines log;
  auto trainer = make(kFixed + "max_iter: 6 snapshot_after_train: false");
  TrainerControl &control = trainer->control();
  std::thread requester;
  std::vector<int> paused, resumed;
  sessions.back()->events().add([&](const Event &event) {
    if (const auto *match = std::get_if<event::IterationDone>(&event))
      if (match->iteration == 2)
        control.pause();
    if (const auto *match = std::get_if<event::Paused>(&event)) {
      paused.push_back(match->iteration);
      EXPECT_TRUE(control.isPaused());
      requester = std::thread([&] {
        control.snapshot(); // while paused
        control.set("base_lr", "0.125");
        control.resume();
      });
    }
    if (const auto *match = std::get_if<event::Resumed>(&event))
      resumed.push_back(match->iteration);
  });
  trainer->solve();
  requester.join();
  EXPECT_EQ(paused, std::vector<int>{3});
  EXPECT_EQ(resumed, std::vector<int>{3});
  EXPECT_EQ(trainer->iteration(), 6);
  EXPECT_FALSE(trainer->stopped());
  EXPECT_EQ(trainer->learningRate(), 0.125);
}

TEST_F(TrainerControlTest, StopsEndPausesAndApplyToTheNextCall) {
  LogLines log;
  auto trainer = make(kFixed + "max_iter: 100 snapshot_after_train: false");
  TrainerControl &control = trainer->control();
  control.stop(); // nothing is running yet
  trainer->solve();
  EXPECT_EQ(trainer->iteration(), 1);
  EXPECT_TRUE(trainer->stopped());

  std::thread requester;
  sessions.back()->events().add([&](const Event &event) {
    if (std::holds_alternative<event::Paused>(event))
      requester = std::thread([&] { control.stop(); });
  });
  control.pause();
  trainer->solve();
  requester.join();
  EXPECT_EQ(trainer->iteration(), 2);
  EXPECT_FALSE(control.isPaused());
  trainer->step(2);
  EXPECT_FALSE(trainer->stopped());
  EXPECT_EQ(trainer->iteration(), 4);
}

TEST_F(TrainerControlTest, SnapshotsEmitEventsAndRestoreIntoTheSameTrainer) {
  LogLines log;
  auto trainer = make("base_lr: 0.3 lr_policy: 'fixed' momentum: 0.9 "
                      "max_iter: 8");
  event::SnapshotDone done{};
  sessions.back()->events().add([&](const Event &event) {
    if (const auto *match = std::get_if<event::SnapshotDone>(&event))
      done = *match;
  });
  trainer->step(3);
  trainer->snapshot();
  EXPECT_EQ(done.iteration, 3);
  EXPECT_EQ(done.state, folder / "snap_iter_3.solverstate");
  trainer->step(4);
  const auto expected = weights(*trainer);
  trainer->restore(done.state);
  EXPECT_EQ(trainer->iteration(), 3);
  trainer->step(4);
  EXPECT_EQ(weights(*trainer), expected); // bitwise
}

TEST_F(TrainerControlTest, FieldsApplyToTheNextSeparateIteration) {
  LogLines log;
  auto trainer = make(kFixed + "max_iter: 4");
  std::vector<event::IterationDone> done;
  std::vector<int> setAt;
  sessions.back()->events().add([&](const Event &event) {
    if (const auto *match = std::get_if<event::IterationDone>(&event))
      done.push_back(*match);
    if (const auto *match = std::get_if<event::SolverFieldSet>(&event))
      setAt.push_back(match->iteration);
  });
  auto finishIteration = [&] {
    trainer->backward();
    trainer->update();
  };
  trainer->control().set("base_lr", "0.25");
  EXPECT_EQ(trainer->learningRate(), 0.25);
  trainer->forward();
  // This change applies to the following iteration.
  trainer->control().set("base_lr", "0.125");
  EXPECT_EQ(trainer->learningRate(), 0.25);
  finishIteration();
  EXPECT_EQ(trainer->learningRate(), 0.125);
  trainer->control().set("base_lr", "0.0625");
  EXPECT_EQ(trainer->learningRate(), 0.0625);
  const auto begin = std::chrono::steady_clock::now();
  trainer->forward();
  finishIteration();
  const std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - begin;
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].learningRate, 0.25);
  EXPECT_EQ(done[1].learningRate, 0.0625);
  EXPECT_EQ(setAt, (std::vector<int>{0, 1, 1}));
  // An iteration's time starts with its own forward pass.
  EXPECT_LE(done[1].seconds, elapsed.count());
}

TEST_F(TrainerControlTest, DiscardsAbandonedSums) {
  LogLines log;
  const std::string fields = kFixed + "max_iter: 4";
  auto runHalfIteration = [](Trainer &trainer) {
    trainer.forward();
    trainer.backward();
    trainer.accumulate();
    trainer.forward(); // adds to the sum
  };
  auto reference = make(fields);
  reference->step(1);
  const auto expected = weights(*reference);

  // step() after an unfinished iteration of separate passes.
  auto stepped = make(fields);
  runHalfIteration(*stepped);
  sessions.back()->setSeed({1, 0}); // the first batch again
  stepped->step(1);
  EXPECT_EQ(weights(*stepped), expected);

  // restore() after an unfinished iteration of separate passes.
  auto restored = make(fields);
  restored->snapshot();
  runHalfIteration(*restored);
  restored->restore(folder / "snap_iter_0.solverstate");
  restored->forward();
  restored->backward();
  restored->update();
  EXPECT_EQ(weights(*restored), expected);
  EXPECT_EQ(restored->smoothedLoss(), reference->smoothedLoss());
}

TEST_F(TrainerControlTest, DiscardsSumsOfFailedIterations) {
  LogLines log;
  const std::string fields = kFixed + "iter_size: 2 max_iter: 4";
  std::vector<std::vector<float>> allWeights;
  for (const bool separatePasses : {false, true}) {
    for (const bool shouldFail : {false, true}) {
      auto trainer = make(fields);
      int batch = 0;
      bool willFail = shouldFail;
      sessions.back()->dataPipeline(0).setCallback(
          {}, [&](const std::vector<DataPipeline::Request> &requests) {
            if (++batch == 2 && willFail) {
              willFail = false;
              batch = 0; // the first batch again
              throw badInput("no batch");
            }
            for (const DataPipeline::Request &request : requests)
              std::fill_n(request.floats, request.count, float(batch));
          });
      if (shouldFail)
        expectError(ExitStatus::BadInput, "no batch",
                    [&] { trainer->step(1); });
      EXPECT_EQ(trainer->iteration(), 0);
      if (!separatePasses) {
        trainer->step(1);
      } else {
        trainer->forward();
        trainer->backward();
        trainer->accumulate();
        trainer->forward();
        trainer->backward();
        trainer->update();
      }
      allWeights.push_back(weights(*trainer));
    }
  }
  for (const auto &each : allWeights)
    EXPECT_EQ(each, allWeights.front());
}

TEST_F(TrainerControlTest, AFailedForwardPassIsUndone) {
  LogLines log;
  auto trainer = make(kFixed + "max_iter: 4");
  trainer->forward();
  trainer->backward();
  trainer->accumulate();
  sessions.back()->dataPipeline(0).setCallback(
      {}, [](const auto &) { throw badInput("no batch"); });
  expectError(ExitStatus::BadInput, "no batch", [&] { trainer->forward(); });
  // The sum already contains the last gradients.
  expectError(ExitStatus::Usage, "needs the gradients",
              [&] { trainer->update(); });
}

TEST_F(TrainerControlTest, SnapshotsBeforeStopping) {
  LogLines log;
  const std::string fields = kFixed + "max_iter: 9 snapshot_after_train: false";
  auto trainer = make(fields);
  trainer->control().snapshot();
  trainer->control().stop();
  trainer->solve();
  EXPECT_EQ(trainer->iteration(), 1);
  EXPECT_TRUE(trainer->stopped());
  EXPECT_TRUE(std::filesystem::exists(folder / "snap_iter_1.solverstate"));

  // The same applies to signals. A function that always requests snapshots gets
  // one per iteration.
  std::vector<SolverAction> actions = {SolverAction::Stop,
                                       SolverAction::Snapshot};
  trainer->setActionFunction([&] {
    const SolverAction action = actions.back();
    if (actions.size() > 1)
      actions.pop_back();
    return action;
  });
  trainer->solve();
  EXPECT_EQ(trainer->iteration(), 2);
  EXPECT_TRUE(std::filesystem::exists(folder / "snap_iter_2.solverstate"));
  trainer->setActionFunction([] { return SolverAction::Snapshot; });
  trainer->step(2);
  EXPECT_EQ(trainer->iteration(), 4);
}
