//===- ParameterHooksTest.cpp - Hooks that read and change parameters -----===//
#include "TrainingFixture.h"

#include "caffe/FillerText.h"
#include "formats/SolverStateFile.h"
#include "runtime/session/TensorPattern.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>

using namespace brew;
using namespace brew::runtime;
using test::LogLines;
using Strings = std::vector<std::string>;

namespace {

const std::string kFields =
    "base_lr: 0.05 lr_policy: 'fixed' momentum: 0.9 test_iter: 2 "
    "test_interval: 1000 test_initialization: false max_iter: 10 ";

class ParameterHooksTest : public test::TrainingFixture {
protected:
  std::unique_ptr<Trainer> train(const Strings &hooks, int iterations,
                                 bool allowCommands = false) {
    auto trainer = makeWith(kFields, allowCommands);
    for (const std::string &hook : hooks)
      trainer->addHook(hook);
    trainer->step(iterations);
    return trainer;
  }
  std::unique_ptr<Trainer> makeWith(const std::string &fields,
                                    bool allowCommands = false) {
    const plan::Manifest manifest = test::linearModel(feed(), solver(fields));
    TrainerOptions options;
    options.solver = solverOf(manifest);
    options.allowCommands = allowCommands;
    return std::make_unique<Trainer>(open(manifest), options);
  }
  void expectRefused(const std::string &hook, const std::string &message) {
    auto trainer = make(kFields);
    test::expectError(ExitStatus::Usage, message,
                      [&] { trainer->addHook(hook); });
  }
  /// Returns the last word of the only log line with this text.
  static double lastNumber(const LogLines &log, const std::string &text) {
    const Strings lines = log.texts(text);
    EXPECT_EQ(lines.size(), 1u) << text;
    return lines.empty()
               ? NAN
               : std::atof(lines[0].c_str() + lines[0].find_last_of(' ') + 1);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Patterns and fillers
//===----------------------------------------------------------------------===//

TEST(TensorPattern, MatchesWholeTexts) {
  EXPECT_TRUE(matchesPattern("conv*.weights", "conv1.weights"));
  EXPECT_TRUE(matchesPattern("*", ""));
  EXPECT_TRUE(matchesPattern("a*b*c", "abbbxbc"));
  EXPECT_TRUE(matchesPattern("conv?.bias", "conv2.bias"));
  EXPECT_FALSE(matchesPattern("conv?.bias", "conv12.bias"));
  EXPECT_FALSE(matchesPattern("conv", "conv1"));
  EXPECT_FALSE(matchesPattern("*b", "abc"));
  EXPECT_FALSE(matchesPattern("", "a"));
}

TEST(FillerText, HasPositionsAndFields) {
  const caffe::FillerParameter gaussian =
      caffe::parseFiller("gaussian(0.5, 0.01)");
  EXPECT_EQ(gaussian.type(), "gaussian");
  EXPECT_EQ(gaussian.mean(), 0.5f);
  EXPECT_EQ(gaussian.std(), 0.01f);
  EXPECT_EQ(caffe::parseFiller("gaussian(std=2, sparse=3)").sparse(), 3);
  EXPECT_EQ(caffe::parseFiller("msra(fan_out)").variance_norm(),
            caffe::FillerParameter::FAN_OUT);
  EXPECT_EQ(caffe::parseFiller("xavier").type(), "xavier");
  EXPECT_EQ(caffe::parseFiller("constant( -1e-3 )").value(), -1e-3f);
  const std::pair<const char *, const char *> wrong[] = {
      {"gausian(0, 1)", "did you mean 'gaussian'?"},
      {"gaussian(0, 1", "expected ')'"},
      {"gaussian(0, 1, 2, 3)", "too many arguments"},
      {"gaussian(value=1)", "has no field 'value'"},
      {"uniform(0, much)", "'much' is not a value of 'max'"},
      {"xavier(sideways)", "'sideways' is not a value of 'variance_norm'"},
      {"constant(1) x", "expected ')' at the end"}};
  for (const auto &[text, message] : wrong)
    test::expectError(ExitStatus::BadInput, message,
                      [text = text] { caffe::parseFiller(text); });
}

TEST_F(ParameterHooksTest, InitialisersReplaceFillers) {
  LogLines log;
  const plan::Manifest manifest = test::linearModel(feed(), solver(kFields));
  SessionOptions sessionOptions;
  sessionOptions.initialisers = {"ip.*=constant(2)", "*.bias=constant(-1)"};
  Session session(test::loadPlan(manifest), sessionOptions);
  TrainerOptions options;
  options.solver = solverOf(manifest);
  Trainer trainer(session, options);
  EXPECT_EQ(weights(trainer), (std::vector<float>{2, 2, 2, -1}));
  const std::pair<const char *, const char *> wrong[] = {
      {"ip.weights", "expected PATTERN=FILLER"},
      {"fc.weights=xavier", "there is no parameter 'fc.weights'"},
      {"ip.weights=bilinear", "needs a blob with four dimensions"}};
  for (const auto &[text, message] : wrong) {
    SessionOptions wrongOptions;
    wrongOptions.initialisers = {text};
    test::expectError(ExitStatus::Usage, message,
                      [&] { Session(test::loadPlan(manifest), wrongOptions); });
  }
}

//===----------------------------------------------------------------------===//
// Metrics of tensors
//===----------------------------------------------------------------------===//

TEST_F(ParameterHooksTest, MetricsMeasureTensors) {
  LogLines log;
  auto trainer = train({"every 3 iterations 1 time do report norm(ip.weights)",
                        "every 3 iterations 1 time do report mean(ip.*)",
                        "every 3 iterations 1 time do report zeros(ip.bias)",
                        "every 3 iterations 1 time do report max(*.weights)",
                        "every 3 iterations 1 time do report min(ip.0)",
                        "every 3 iterations 1 time do report std(ip.weights)",
                        "every 3 iterations 1 time do report norm(*.gradient)"},
                       3);
  const std::vector<float> w = weights(*trainer);
  const double mean = (w[0] + w[1] + w[2]) / 3.;
  double squares = 0, deviations = 0;
  for (int i = 0; i < 3; ++i) {
    squares += double(w[i]) * w[i];
    deviations += (w[i] - mean) * (w[i] - mean);
  }
  // Log lines have six digits.
  EXPECT_NEAR(lastNumber(log, "norm(ip.weights) = "), std::sqrt(squares), 1e-4);
  EXPECT_NEAR(lastNumber(log, "mean(ip.*) = "), (3 * mean + w[3]) / 4, 1e-4);
  EXPECT_EQ(lastNumber(log, "zeros(ip.bias) = "), 0);
  EXPECT_NEAR(lastNumber(log, "max(*.weights) = "),
              std::max({w[0], w[1], w[2]}), 1e-4);
  EXPECT_NEAR(lastNumber(log, "min(ip.0) = "), std::min({w[0], w[1], w[2]}),
              1e-4);
  EXPECT_NEAR(lastNumber(log, "std(ip.weights) = "), std::sqrt(deviations / 3),
              1e-4);
  EXPECT_GT(lastNumber(log, "norm(*.gradient) = "), 0);
}

TEST_F(ParameterHooksTest, CriteriaNameTensors) {
  LogLines log;
  auto trainer = make(kFields);
  trainer->addHook("every iteration if norm(ip.weights) > 0.1 and not(iter < 4)"
                   " do stop");
  trainer->step(10);
  EXPECT_EQ(trainer->iteration(), 4);
  EXPECT_EQ(log.texts("norm(ip.weights) > 0.1 and not(iter < 4) holds: "
                      "norm(ip.weights) = ")
                .size(),
            1u);
  expectRefused("at stop if norm(fc.weights) > 1 do stop",
                "column 17: there is no parameter, gradient or readable blob "
                "'fc.weights'; did you mean 'ip.weights'?");
  expectRefused("at stop do report nrom(ip.weights)",
                "there is no statistic 'nrom'");
  expectRefused("at stop do report norm()", "expected a tensor");
  expectRefused("at stop do report update(x)", "no trained parameter 'x'");
}

TEST_F(ParameterHooksTest, UpdatesAreThoseOfTheLastIteration) {
  // At each time the ratio is that of the iteration just done.
  std::vector<double> ratios;
  std::vector<float> before;
  LogLines log;
  auto trainer =
      make("test_iter: 1 test_interval: 2 test_initialization: false "
           "lr_policy: 'fixed' max_iter: 10 base_lr: 0.1");
  trainer->addHook("a: every epoch do report update(ip.weights)");
  trainer->addHook("b: at test do report_updates");
  trainer->addHook("c: every iteration do call", [&](const HookCall &call) {
    const std::vector<float> now = weights(*trainer);
    auto deviation = [](double a, double b, double c) {
      const double mean = (a + b + c) / 3;
      return std::sqrt(((a - mean) * (a - mean) + (b - mean) * (b - mean) +
                        (c - mean) * (c - mean)) /
                       3);
    };
    if (call.iteration > 1)
      ratios.push_back(deviation(now[0] - before[0], now[1] - before[1],
                                 now[2] - before[2]) /
                       deviation(before[0], before[1], before[2]));
    before = now;
  });
  trainer->step(4);
  // Ten rows in batches of four: the first pass ends in iteration 3.
  EXPECT_NEAR(lastNumber(log, "Iteration 3, a: update(ip.weights) = "),
              ratios[1], 1e-3 * ratios[1]);
  EXPECT_NEAR(lastNumber(log, "Iteration 2, b: updates over weights: ip "),
              ratios[0], 1e-3 * ratios[0]);
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

TEST_F(ParameterHooksTest, ClipToRangeAndNorm) {
  LogLines log;
  auto clipped = train({"every iteration do clip ip.weights to -0.01 0.02"}, 5);
  const std::vector<float> w = weights(*clipped);
  for (int i = 0; i < 3; ++i) {
    EXPECT_GE(w[i], -0.01f);
    EXPECT_LE(w[i], 0.02f);
  }
  auto small = train({"every iteration do clip ip.weights to norm 0.05"}, 5);
  const std::vector<float> n = weights(*small);
  EXPECT_NEAR(std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), 0.05, 1e-7);
  expectRefused("at stop do clip ip.weights to 2 1", "smallest value is above");
  expectRefused("at stop do clip ip.weights to norm 0", "must be above 0");
  expectRefused("at stop do clip x to norm 1", "no parameter 'x'");
  expectRefused("at stop do clip ip.bias", "expected 'to'");
}

TEST_F(ParameterHooksTest, ScaleMultiplies) {
  LogLines log;
  const std::vector<float> plain = weights(*train({}, 3));
  const std::vector<float> scaled =
      weights(*train({"after 3 iterations do scale ip.weights by 0.5"}, 3));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(scaled[i], plain[i] * 0.5f);
  EXPECT_EQ(scaled[3], plain[3]);
}

TEST_F(ParameterHooksTest, FrozenParametersAndTheirHistoryStay) {
  LogLines log;
  auto trainer = train({"after 2 iterations do freeze ip.weights",
                        "after 5 iterations do unfreeze *"},
                       2);
  const std::vector<float> atTwo = weights(*trainer);
  const std::vector<float> historyAtTwo =
      trainer->parameters().history()[0].floats;
  trainer->step(3);
  const std::vector<float> atFive = weights(*trainer);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(atFive[i], atTwo[i]);
  EXPECT_NE(atFive[3], atTwo[3]);
  EXPECT_EQ(trainer->parameters().history()[0].floats, historyAtTwo);
  trainer->step(1);
  EXPECT_NE(weights(*trainer)[0], atTwo[0]);
  EXPECT_EQ(log.texts("After iteration 2: freeze \"ip.weights\"").size(), 1u);
}

TEST_F(ParameterHooksTest, AResumedRunFreezesAgain) {
  LogLines log;
  const Strings hooks = {"after 2 iterations do freeze ip.weights"};
  auto trainer = train(hooks, 4);
  trainer->snapshot();
  trainer->step(2);
  const std::vector<float> uninterrupted = weights(*trainer);
  auto resumed = make(kFields, folder / "snap_iter_4.solverstate");
  for (const std::string &hook : hooks)
    resumed->addHook(hook);
  resumed->step(2);
  EXPECT_EQ(weights(*resumed), uninterrupted);
}

TEST_F(ParameterHooksTest, AResumedRunUnfreezesByEpochs) {
  LogLines log;
  const Strings hooks = {"after 0 iterations do freeze ip.weights",
                         "after 1 epoch do unfreeze ip.weights"};
  auto trainer = train(hooks, 5);
  trainer->snapshot();
  trainer->step(1);
  auto resumed = make(kFields, folder / "snap_iter_5.solverstate");
  for (const std::string &hook : hooks)
    resumed->addHook(hook);
  resumed->step(1);
  EXPECT_EQ(weights(*resumed), weights(*trainer));
}

TEST_F(ParameterHooksTest, FreezeAppliesFromTheBeginning) {
  LogLines log;
  const std::vector<float> initial = weights(*make(kFields));
  auto trainer = train({"after 0 iterations do freeze ip.*"}, 3);
  EXPECT_EQ(weights(*trainer), initial);
}

TEST_F(ParameterHooksTest, ReinitialiseDrawsNewValuesAndClearsHistory) {
  LogLines log;
  auto trainer = train(
      {"after 3 iterations do reinitialise ip.weights with gaussian(5, 0.1)",
       "after 3 iterations do reinitialise ip.bias with constant(7)"},
      3);
  const std::vector<float> w = weights(*trainer);
  EXPECT_NEAR(w[0], 5, 1);
  EXPECT_NE(w[0], w[1]);
  EXPECT_EQ(w[3], 7);
  for (const formats::Blob &blob : trainer->parameters().history())
    for (float value : blob.floats)
      EXPECT_EQ(value, 0);
  // The same iteration draws the same values, another one others.
  EXPECT_EQ(weights(*train({"after 3 iterations do reinitialise ip.weights "
                            "with gaussian(5, 0.1)"},
                           3))[0],
            w[0]);
  EXPECT_NE(weights(*train({"after 2 iterations do reinitialise ip.weights "
                            "with gaussian(5, 0.1)"},
                           2))[0],
            w[0]);
  expectRefused("at stop do reinitialise ip.weights with bilinear",
                "needs a blob with four dimensions");
  expectRefused("at stop do reinitialise ip.weights with \"gaussian(a)\"",
                "'a' is not a value of 'mean'");
}

//===----------------------------------------------------------------------===//
// Loading and restoring
//===----------------------------------------------------------------------===//

TEST_F(ParameterHooksTest, LoadReplacesWeightsOnly) {
  LogLines log;
  auto first = train({}, 2);
  first->snapshot();
  const std::vector<float> atTwo = weights(*first);
  auto trainer = make(kFields);
  trainer->addHook("after 5 iterations do load \"" +
                   (folder / "snap_iter_2.caffemodel") + "\"");
  trainer->step(5);
  EXPECT_EQ(trainer->iteration(), 5);
  EXPECT_EQ(weights(*trainer), atTwo);
  expectRefused("at stop do load none.caffemodel", "'none.caffemodel'");
  expectRefused("at stop do load", "expected a weight file, 'last' or 'best'");
}

TEST_F(ParameterHooksTest, RestoreContinuesFromASnapshot) {
  LogLines log;
  const std::vector<float> uninterrupted = weights(*train({}, 6));
  auto trainer = makeWith(kFields + "snapshot: 3");
  std::vector<int> iterations;
  trainer->addHook("every iteration do call", [&](const HookCall &call) {
    iterations.push_back(call.iteration);
    if (iterations.size() == 4)
      trainer->control().set("base_lr", "1");
    if (iterations.size() == 5) {
      trainer->control().set("base_lr", "0.05");
      trainer->raiseFlag("lost");
    }
  });
  trainer->addHook("every 5 iterations if external lost do restore last");
  trainer->step(6);
  // Iterations 4 and 5 run twice, the second time with the usual rate.
  EXPECT_EQ(iterations, (std::vector<int>{1, 2, 3, 4, 5, 4, 5, 6}));
  EXPECT_EQ(trainer->iteration(), 6);
  EXPECT_EQ(
      log.texts("restores " + (folder / "snap_iter_3.solverstate")).size(), 1u);
  EXPECT_EQ(weights(*trainer), uninterrupted);
}

TEST_F(ParameterHooksTest, RestoreOfTheSameStateForeverIsAnError) {
  LogLines log;
  auto trainer = makeWith(kFields + "snapshot: 2");
  trainer->addHook("after 3 iterations do restore last");
  test::expectError(ExitStatus::BadInput, "would repeat itself forever",
                    [&] { trainer->step(5); });
}

TEST_F(ParameterHooksTest, SnapshotsOfTheAbandonedPathAreRenamed) {
  LogLines log;
  auto trainer = makeWith(kFields + "snapshot: 2");
  trainer->step(2);
  trainer->addHook("after 6 iterations do restore \"" +
                   (folder / "snap_iter_2.solverstate") + "\"");
  trainer->addHook("after 6 iterations do stop");
  trainer->step(8);
  EXPECT_EQ(trainer->iteration(), 2);
  for (const char *name :
       {"snap_iter_4.solverstate", "snap_iter_4.caffemodel"}) {
    EXPECT_FALSE(std::filesystem::exists(folder / name)) << name;
    EXPECT_TRUE(std::filesystem::exists((folder / name) + ".abandoned"));
  }
  // The snapshot that was due is not written.
  EXPECT_FALSE(std::filesystem::exists(folder / "snap_iter_6.solverstate"));
  EXPECT_TRUE(std::filesystem::exists(folder / "snap_iter_2.solverstate"));
}

TEST_F(ParameterHooksTest, AStopOfTheSameTurnFollowsTheRestore) {
  LogLines log;
  auto trainer = makeWith(kFields + "snapshot: 2");
  trainer->addHook("after 3 iterations do restore last");
  trainer->addHook("after 3 iterations do stop");
  trainer->step(9);
  EXPECT_EQ(trainer->iteration(), 2);
}

TEST_F(ParameterHooksTest, BestWeightsOfTheSameTurnAreThoseInMemory) {
  LogLines log;
  auto trainer = makeWith(kFields);
  trainer->addHook("save: every iteration do save_best norm(ip.weights):max");
  trainer->addHook("every iteration 1 time do load best needs save");
  trainer->step(1);
  EXPECT_EQ(log.texts("the weights are the best now").size(), 1u);
}

TEST_F(ParameterHooksTest, WeightsWrittenToFrozenParametersStay) {
  LogLines log;
  auto first = train({}, 2);
  first->snapshot();
  auto trainer = makeWith(kFields);
  trainer->addHook("after 0 iterations do freeze *");
  sessions.back()->loadWeights({folder / "snap_iter_2.caffemodel"}, {},
                               /*training=*/true);
  trainer->step(2);
  EXPECT_EQ(weights(*trainer), weights(*first));
  const std::vector<float> values = {5, 6, 7};
  sessions.back()->write({TensorKind::Parameter, "ip", 0, 0, 0}, values.data(),
                         3);
  trainer->forward();
  trainer->backward();
  trainer->update();
  EXPECT_EQ(weights(*trainer)[1], 6);
}

TEST_F(ParameterHooksTest, ChangesApplyFromTheBeginning) {
  LogLines log;
  const float initial = weights(*makeWith(kFields))[0];
  auto trainer = makeWith(kFields);
  trainer->addHook("after 0 iterations do scale ip.weights by 3");
  EXPECT_EQ(weights(*trainer)[0], initial * 3);
  expectRefused("after 0 iterations do snapshot", "supports only 'set'");
}

TEST_F(ParameterHooksTest, TensorsCanBeRankedAndAccumulated) {
  LogLines log;
  auto trainer = makeWith(kFields);
  trainer->addHook("every iteration do save_best norm(ip.weights):max");
  trainer->addHook("every 4 iterations do accumulate update(ip.weights)");
  trainer->step(4);
  EXPECT_TRUE(std::filesystem::exists(folder /
                                      "snap_best_norm_ip.weights_.caffemodel"));
  EXPECT_EQ(log.texts("4 iterations)").size(), 1u);
  expectRefused("at test do early_stop norm(ip.weights) patience 2",
                "add which is better");
}

TEST_F(ParameterHooksTest, BestNeedsAHookThatKeepsIt) {
  LogLines log;
  expectRefused("at stop do restore best", "nothing keeps the best weights");
  auto trainer =
      make("base_lr: 0.05 lr_policy: 'fixed' test_iter: 1 test_interval: 1 "
           "test_initialization: false max_iter: 10");
  trainer->addHook("at test do save_best test.loss");
  trainer->addHook("after 2 iterations do set base_lr 100");
  trainer->addHook("back: every iteration if test.loss > 1000 do load best");
  std::vector<float> best;
  trainer->addHook("every 2 iterations 1 time do call",
                   [&](const HookCall &) { best = weights(*trainer); });
  trainer->addHook("every iteration if iter > 3 and norm(ip.weights) < 10 do "
                   "stop needs back");
  trainer->step(9);
  EXPECT_LT(trainer->iteration(), 9);
  EXPECT_EQ(weights(*trainer), best);
  test::expectError(ExitStatus::Usage, "several metrics", [&] {
    trainer->addHook("at stop do save_best train.loss");
    trainer->addHook("at stop do load best");
  });
}

//===----------------------------------------------------------------------===//
// Texts and programs
//===----------------------------------------------------------------------===//

TEST_F(ParameterHooksTest, PrintShowsMetrics) {
  LogLines log;
  train({"p: every 2 iterations 1 time do print \"after {iter}: {lr}, "
         "{test.loss}!\""},
        2);
  EXPECT_EQ(log.texts("p: "), Strings{"Iteration 2, p: after 2: 0.05, ?!"});
  expectRefused("at stop do print \"{iter\"", "the brace is not closed");
  expectRefused("at stop do print \"a {itre}\"",
                "column 22: there is no metric");
}

TEST_F(ParameterHooksTest, CommandsHaveMetricsInTheirEnvironment) {
  LogLines log;
  const std::string file = folder / "out.txt";
  auto trainer = make(kFields);
  test::expectError(ExitStatus::Usage, "only with --allow-commands", [&] {
    trainer->addHook("at stop do run \"touch " + file + "\"");
  });
  train({"say: after 3 iterations if iter > 2 do run \"echo $BREW_HOOK "
         "$BREW_ITERATION $BREW_LR $BREW_REASON > '" +
             file + "'\"",
         "bad: after 1 iterations do run \"exit 3\"",
         "late: every iteration do run \"sleep 0.1\" in background"},
        4, /*allowCommands=*/true);
  EXPECT_EQ(test::readBytes(file), "say 3 0.05 iter > 2 holds: iter = 3\n");
  EXPECT_EQ(log.texts("Hook 'bad' failed"),
            Strings{"Hook 'bad' failed: 'exit 3' ended with status 3; it does "
                    "not run again"});
}

TEST_F(ParameterHooksTest, ResetIsATrigger) {
  LogLines log;
  auto trainer = make(kFields);
  std::vector<std::string> calls;
  auto note = [&](const HookCall &call) {
    calls.push_back(call.name + "@" + std::to_string(call.iteration));
  };
  trainer->addHook("r: at reset do call", note);
  trainer->addHook("t: every 2 resets do call", note);
  bool done = false;
  trainer->addHook("after 3 iterations do call", [&](const HookCall &) {
    if (!done)
      trainer->control().reset();
    done = calls.size() > 0;
  });
  trainer->step(6);
  EXPECT_EQ(calls, (Strings{"r@0", "r@0", "t@0"}));
}
