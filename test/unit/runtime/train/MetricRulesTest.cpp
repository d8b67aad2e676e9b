//===- MetricRulesTest.cpp - Names and rules of metrics -------------------===//
#include "TestPlan.h"
#include "runtime/train/hooks/OptionHooks.h"
#include "test/common/TestFiles.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace brew;
using namespace brew::runtime;

namespace {

const std::string kInput = "name: 'd' type: 'Input' top: 'x' top: 'target'";

plan::Manifest model() {
  return test::linearModel(kInput, "base_lr: 0.1 lr_policy: 'fixed' "
                                   "max_iter: 1 test_iter: 1 test_interval: 1");
}

bool holds(const std::string &rule, const MetricValues &values) {
  return parseStopRule(rule, {model(), 1}).holds(values);
}

/// Returns the values after 20 iterations and 3.5 s, with a training loss of
/// 0.25.
MetricValues metricsWith(double testLoss = 0.5) {
  MetricValues values;
  values.update(event::IterationDone{19, 0.3, 0.25, 0.1, 3.4});
  values.update(event::Progress{20, 100, 0.25, 3.5, 20, false, 4});
  values.update(event::TestDone{20,
                                0,
                                {},
                                {{"loss", testLoss, 1},
                                 {"prediction", 1, 0},
                                 {"prediction", 2, 0},
                                 {"prediction", 3, 0},
                                 {"prediction", 4, 0}}});
  return values;
}

void expectRefused(const std::string &rule, const std::string &message) {
  test::expectError(ExitStatus::Usage, message, [&] {
    parseStopRule(rule, {model(), 1});
  });
}

} // namespace

TEST(MetricRules, EvaluatesComparisons) {
  const MetricValues values = metricsWith();
  for (const char *rule :
       {"test.loss <= 0.5", "test.loss == .5", "train.loss < 0.3", "iter >= 20",
        "time > 3", "iter != 19", "5e-1 >= test.loss",
        "test.prediction[2] == 3", "not iter < 20",
        "(iter > 1 or iter > 100) and time < 4",
        "iter > 100 and iter > 100 or time > 1", "not (iter > 100)",
        "not not iter == 20", "iter>=20", "-1 < iter", "test0.loss < 1"})
    EXPECT_TRUE(holds(rule, values)) << rule;
  for (const char *rule :
       {"test.loss < 0.5", "iter > 20", "iter == 20 and time > 4",
        "not (iter == 20 or time > 4)",
        "iter > 100 and (time > 1 or time > 2)"})
    EXPECT_FALSE(holds(rule, values)) << rule;
}

/// Only runs of a learner have metrics of episodes; the results of their tests
/// are rewards instead of outputs of the net.
TEST(MetricRules, LearnersHaveMetricsOfEpisodes) {
  const plan::Manifest manifest = model();
  const MetricScope scope{manifest, 1, nullptr, /*hasLearner=*/true};
  MetricValues values;
  EXPECT_FALSE(parseStopRule("episode.reward < 1e9", scope).holds(values));
  event::EpisodeDone episode;
  episode.episodes = 7;
  episode.steps = 12;
  episode.reward = 11;
  episode.meanReward = 9.5;
  episode.entropy = 0.25;
  values.update(episode);
  values.update(
      event::TestDone{3, 0, {}, {{"reward", 20, 0}, {"steps", 21, 0}}});
  for (const char *rule :
       {"episode.count == 7", "episode.steps == 12", "episode.reward == 11",
        "episode.mean_reward == 9.5", "episode.entropy == 0.25",
        "test.reward == 20 and test.steps == 21"})
    EXPECT_TRUE(parseStopRule(rule, scope).holds(values)) << rule;
  auto refuse = [&](const char *rule, const char *message) {
    test::expectError(ExitStatus::Usage, message,
                      [&] { parseStopRule(rule, scope); });
  };
  refuse("episode.rewrd > 1", "there is no 'episode.rewrd'; did you mean "
                              "'reward'? (there are: reward, ");
  refuse("test.loss > 1", "there is no 'test.loss' (there are: reward, steps)");
  refuse("test1.reward > 1", "there is no test net 1");
  expectRefused("episode.reward > 1", "there is no metric 'episode.reward'");
  expectRefused("test.reward > 1", "test net 0 has no output 'reward'");
}

TEST(MetricRules, PatienceOfLearnersIsForRewards) {
  const plan::Manifest manifest = model();
  const MetricScope scope{manifest, 1, nullptr, /*hasLearner=*/true};
  Patience patience = parsePatience("2", scope);
  EXPECT_EQ(patience.metricName().text, "test.reward");
  EXPECT_TRUE(patience.isImproved(10, 1));
  EXPECT_TRUE(patience.isImproved(30, 2)); // higher is better
  EXPECT_FALSE(patience.isImproved(20, 3));
  EXPECT_FALSE(patience.isExhausted());
  EXPECT_FALSE(patience.isImproved(25, 4));
  EXPECT_TRUE(patience.isExhausted());
  test::expectError(ExitStatus::Usage, "is neither an accuracy nor a loss",
                    [&] { parsePatience("2:episode.entropy", scope); });
}

TEST(MetricRules, UnmeasuredMetricsAreUnknown) {
  MetricValues values;
  EXPECT_FALSE(holds("test.loss < 1", values));
  EXPECT_FALSE(holds("not test.loss < 1", values));
  values.update(event::Progress{1, 100, 1, 1, 1, false, 4});
  EXPECT_TRUE(holds("iter == 1 or test.loss < 1", values));
  EXPECT_FALSE(holds("iter == 1 and not test.loss < 1", values));
  EXPECT_TRUE(holds("not (iter == 2 and test.loss < 1)", values));
}

TEST(MetricRules, NanComparesAsInC) {
  const MetricValues values = metricsWith(NAN);
  EXPECT_FALSE(holds("test.loss < 1", values));
  EXPECT_FALSE(holds("test.loss >= 1", values));
  EXPECT_TRUE(holds("test.loss != test.loss", values));
}

/// Caffe counts every class as correct if the scores are NaN, so the accuracy
/// of a run that diverged is 1.
TEST(MetricRules, TestsOfDivergedRunsHaveNoResults) {
  EXPECT_TRUE(holds("test.prediction[0] >= 1", metricsWith()));
  EXPECT_FALSE(holds("test.prediction[0] >= 1", metricsWith(NAN)));
  MetricValues values;
  const event::TestDone test{20, 0, {}, {{"prediction", 1, 0}}};
  values.update(event::IterationDone{19, NAN, NAN, 0.1, 3.4});
  values.update(test);
  EXPECT_FALSE(holds("test.prediction[0] >= 1", values));
  values.update(event::IterationDone{20, 0.5, 0.5, 0.1, 3.5});
  values.update(test);
  EXPECT_TRUE(holds("test.prediction[0] >= 1", values));
}

TEST(MetricRules, ErrorsNameTheColumn) {
  expectRefused(
      "test.los < 1",
      "--stop-when, column 6: test net 0 has no output 'los'; did you mean "
      "'loss'? (it has: ");
  expectRefused("iter > 1 or tset.loss < 1", "\n              ^");
  expectRefused("iter = 1", "column 6: write == to compare");
  expectRefused("iter > 1 && time > 2", "column 10: write 'and'");
  expectRefused("iter > 1 || time > 2", "column 10: write 'or'");
  expectRefused("!iter", "column 1: write 'not'");
  expectRefused("(iter > 1", "column 10: the parenthesis is not closed");
  expectRefused("iter > 1)",
                "column 9: expected 'and', 'or' or the end, found ')'");
  expectRefused("1 < iter < 3", "a comparison has two sides");
  expectRefused("iter", "column 5: expected <, <=, >, >=, == or !=");
  expectRefused("iter >", "column 7: expected a metric or a number");
  expectRefused("iter > 1.2.3", "'1.2.3' is not a number");
  expectRefused("", "column 1: expected a metric");
  expectRefused("test1.loss < 1", "there is no test net 1: the solver has 1");
  expectRefused("test.prediction > 1", "has 4 elements: write 'prediction[0]'");
  expectRefused("test.prediction[4] > 1", "has 4 elements");
  expectRefused("test.prediction[x] > 1", "expected the number of an element");
  expectRefused("train.lr < 1",
                "column 7: the training net has only 'train.loss'");
  expectRefused("iter > 1 $", "found '$'");
  expectRefused(std::string(300, '('), "nested more than 100 deep");
  test::expectError(ExitStatus::Usage, "the solver has no test net", [] {
    parseStopRule("test.loss < 1", {model(), 0});
  });
}

TEST(MetricRules, PatienceCountsTestsSinceTheBest) {
  Patience patience =
      parsePatience("2", {model(), 1}); // by default of the loss
  EXPECT_EQ(patience.metricName().text, "test.loss");
  EXPECT_TRUE(patience.isImproved(0.5, 10));
  EXPECT_FALSE(patience.isImproved(0.5, 20));
  EXPECT_FALSE(patience.isExhausted()); // one test without improvement
  EXPECT_TRUE(patience.isImproved(0.4, 30));
  EXPECT_FALSE(patience.isImproved(NAN, 40));
  EXPECT_FALSE(patience.isExhausted());
  EXPECT_FALSE(patience.isImproved(0.45, 50));
  EXPECT_TRUE(patience.isExhausted());
  EXPECT_EQ(patience.reason(),
            "2 tests without improvement of test.loss: the best was 0.4 after "
            "30 iterations");

  Patience upwards = parsePatience("1:test.loss:max", {model(), 1});
  EXPECT_TRUE(upwards.isImproved(0.5, 10));
  EXPECT_TRUE(upwards.isImproved(0.6, 20));
  EXPECT_FALSE(upwards.isImproved(0.5, 30));
  EXPECT_TRUE(upwards.isExhausted());
}

TEST(MetricRules, RefusesInvalidPatience) {
  auto expectRefused = [](const std::string &text, const std::string &message) {
    test::expectError(ExitStatus::Usage, message, [&] {
      parsePatience(text, {model(), 1});
    });
  };
  expectRefused("0", "--patience, column 1: expected a number of tests");
  expectRefused("two", "expected a number of tests");
  expectRefused("2x:test.loss", "expected a number of tests");
  expectRefused("3:iter", "column 3: 'iter' does not measure");
  expectRefused("3:test.lss", "column 8: test net 0 has no output 'lss'");
  expectRefused("3:test.prediction[1]", "is neither an accuracy nor a loss");
  test::expectError(ExitStatus::Usage, "the solver has no test net", [] {
    parsePatience("3", {model(), 0});
  });
}
