//===- HookComponentsTest.cpp - Lines, schedules, criteria of hooks -------===//
#include "TestPlan.h"
#include "runtime/train/hooks/Criterion.h"
#include "runtime/train/hooks/HookLine.h"
#include "runtime/train/hooks/ValueSchedule.h"
#include "test/common/TestFiles.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace brew;
using namespace brew::runtime;

namespace {

plan::Manifest model() {
  return test::linearModel(
      "name: 'd' type: 'Input' top: 'x' top: 'target'",
      "base_lr: 0.1 lr_policy: 'fixed' max_iter: 1 test_iter: 1 "
      "test_interval: 1");
}

Schedule parseSchedule(const std::string &text) {
  return readHookLine(text + " do stop").schedule;
}

/// Returns the counts up to `last` at which the schedule is due.
std::vector<int> dueCounts(const std::string &text, int last) {
  const Schedule parsed = parseSchedule(text);
  std::vector<int> counts;
  for (int now = 1; now <= last; ++now)
    if (parsed.isDue(static_cast<std::uint64_t>(now - 1),
                     static_cast<std::uint64_t>(now)))
      counts.push_back(now);
  return counts;
}

void expectRefused(const std::string &line, std::size_t offset,
                   const std::string &message) {
  try {
    readHookLine(line);
    FAIL() << line << " was accepted";
  } catch (const TextError &problem) {
    EXPECT_EQ(problem.offset, offset) << line;
    EXPECT_NE(problem.text.find(message), std::string::npos)
        << line << ": " << problem.text;
  }
}

/// Evaluates a criterion once for each value of test.loss.
class CriterionEvaluator {
public:
  explicit CriterionEvaluator(const std::string &text)
      : manifest(model()), criterion(text, {manifest, 1, &hooks}, true) {}
  bool evaluateWith(double loss) {
    values.update(event::TestDone{1, 0, {}, {{"loss", loss, 1}}});
    return criterion.holds(values, &flags);
  }

  std::set<std::string> hooks = {"mean"};
  plan::Manifest manifest;
  MetricValues values;
  ExternalFlags flags;
  Criterion criterion;
};

} // namespace

TEST(HookSchedule, IsDueAtItsCounts) {
  EXPECT_EQ(dueCounts("every 3 iterations", 10), (std::vector{3, 6, 9}));
  EXPECT_EQ(dueCounts("every 3 iterations 2 times", 20), (std::vector{3, 6}));
  EXPECT_EQ(dueCounts("every iteration 1 time", 20), (std::vector{1}));
  EXPECT_EQ(dueCounts("after 4 epochs", 10), (std::vector{4}));
  EXPECT_EQ(dueCounts("at test", 3), (std::vector{1, 2, 3}));
  EXPECT_EQ(parseSchedule("at pause").trigger(), HookTrigger::Pause);
  // Counts may jump: the hook is due once for all missed counts.
  EXPECT_TRUE(parseSchedule("every 2 epochs").isDue(1, 7));
  EXPECT_FALSE(parseSchedule("after 4 epochs").isDue(4, 9));
}

TEST(HookSchedule, OfOptionsIsDueAtEachTrigger) {
  const Schedule schedule =
      Schedule::atEach({HookTrigger::Solve, HookTrigger::NetTest}, 1);
  EXPECT_TRUE(schedule.isDueAt(HookTrigger::Solve, -1));
  EXPECT_TRUE(schedule.isDueAt(HookTrigger::NetTest, 1));
  EXPECT_FALSE(schedule.isDueAt(HookTrigger::NetTest, 0));
  EXPECT_FALSE(schedule.isDueAt(HookTrigger::Iteration, -1));
  EXPECT_FALSE(isForLines(HookTrigger::Solve));
  EXPECT_TRUE(isForLines(HookTrigger::Resume));
}

TEST(HookSchedule, KnowsWhenItWasDueLast) {
  EXPECT_EQ(parseSchedule("every 3 iterations").lastDue(8), 6u);
  EXPECT_EQ(parseSchedule("every 3 iterations 1 time").lastDue(8), 3u);
  EXPECT_EQ(parseSchedule("every 3 iterations").lastDue(2), std::nullopt);
  EXPECT_EQ(parseSchedule("after 5 iterations").lastDue(8), 5u);
  EXPECT_EQ(parseSchedule("after 0 iterations").lastDue(0), 0u);
  EXPECT_TRUE(dueCounts("after 0 iterations", 5).empty());
}

TEST(HookLine, ParsesAllComponents) {
  const HookLine line =
      readHookLine("  low-1 : every 2 epochs if (iter > 3) or test.loss < 1 do "
                   "set base_lr from \"my # rates.txt\" needs a, b priority -2 "
                   "in background # and so on");
  EXPECT_EQ(line.name, "low-1");
  EXPECT_EQ(line.schedule.trigger(), HookTrigger::Epoch);
  EXPECT_EQ(line.criterion, "(iter > 3) or test.loss < 1");
  EXPECT_EQ(line.criterionOffset, 28u);
  ASSERT_EQ(line.action.size(), 4u);
  EXPECT_EQ(line.action[3].text, "my # rates.txt");
  EXPECT_TRUE(line.action[3].quoted);
  ASSERT_EQ(line.needs.size(), 2u);
  EXPECT_EQ(line.needs[1].text, "b");
  EXPECT_EQ(line.priority, -2);
  EXPECT_TRUE(line.background);
  EXPECT_EQ(readHookLine("at start do stop").name, "");
}

TEST(HookLine, MayImplyItsAction) {
  const HookLine line =
      readHookLine("a: at test if iter > 2 needs b in background", "call");
  ASSERT_EQ(line.action.size(), 1u);
  EXPECT_EQ(line.action[0].text, "call");
  EXPECT_EQ(line.criterion, "iter > 2");
  EXPECT_EQ(line.needs.size(), 1u);
  EXPECT_TRUE(line.background);
  EXPECT_EQ(readHookLine("do: at test", "call").name, "do");
  EXPECT_EQ(readHookLine("at test do stop", "call").action[0].text, "stop");
  EXPECT_THROW(readHookLine("at test more", "call"), TextError);
}

TEST(HookLine, ReportsThePositionOfErrors) {
  expectRefused("sometimes do stop", 0, "a hook needs a schedule");
  expectRefused("a b: at start do stop", 0, "a hook needs a schedule");
  expectRefused("a.b: at start do stop", 0, "letters, digits");
  expectRefused("every 0 iterations do stop", 6, "from 1 to");
  expectRefused("every 99999999999 iterations do stop", 6, "from 1 to");
  expectRefused("every 2 iteratoins do stop", 8, "did you mean 'iteration'?");
  expectRefused("every 2 iterations 3 do stop", 21, "expected 'times'");
  expectRefused("after iterations do stop", 6, "after how many");
  expectRefused("every", 5, "expected iterations");
  expectRefused("at start", 8, "expected 'do'");
  expectRefused("at start stop", 9, "expected 'if' or 'do', found 'stop'");
  expectRefused("at start if do stop", 12, "expected a condition");
  expectRefused("at start if iter > 2", 20, "expected 'do'");
  expectRefused("at start do", 11, "expected an action");
  expectRefused("at start do needs x", 12, "expected an action");
  expectRefused("at start do stop needs", 22, "expected the name of a hook");
  expectRefused("at start do stop priority high", 26, "expected an integer");
  expectRefused("at start do stop priority 1 more", 28, "found 'more'");
  expectRefused("at start do set x \"a b", 18, "not closed");
}

TEST(HookCriterion, HoldsAfterRepetitions) {
  CriterionEvaluator evaluator("test.loss < 1 for 3");
  EXPECT_FALSE(evaluator.evaluateWith(.5));
  EXPECT_FALSE(evaluator.evaluateWith(.5));
  EXPECT_TRUE(evaluator.evaluateWith(.5));
  EXPECT_TRUE(evaluator.evaluateWith(.5));
  EXPECT_FALSE(evaluator.evaluateWith(2));
  EXPECT_FALSE(evaluator.evaluateWith(.5));
  evaluator.criterion.restart();
  EXPECT_FALSE(evaluator.evaluateWith(.5));
  EXPECT_FALSE(evaluator.evaluateWith(.5));
  EXPECT_TRUE(evaluator.evaluateWith(.5));
}

TEST(HookCriterion, RepeatsExpressionsInParentheses) {
  CriterionEvaluator evaluator(
      "(test.loss < 1 or test.loss > 5) for 2 and test.loss != 6");
  EXPECT_FALSE(evaluator.evaluateWith(.5));
  EXPECT_FALSE(evaluator.evaluateWith(
      6)); // the repeated operand holds, the last one does not
  EXPECT_TRUE(
      evaluator.evaluateWith(7)); // counted although the other operand decided
}

TEST(HookCriterion, DetectsExtrema) {
  CriterionEvaluator lowest("lowest test.loss"), highest("highest test.loss");
  const double losses[] = {3, 3, 2, 4, NAN, 2, 1, 5};
  const bool isLowest[] = {true, false, true, false, false, false, true, false};
  const bool isHighest[] = {true,  false, false, true,
                            false, false, false, true};
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(lowest.evaluateWith(losses[i]), isLowest[i]) << i;
    EXPECT_EQ(highest.evaluateWith(losses[i]), isHighest[i]) << i;
  }
}

TEST(HookCriterion, ExternalFlagsHoldOnce) {
  CriterionEvaluator evaluator("external now or external later");
  EXPECT_FALSE(evaluator.evaluateWith(1));
  evaluator.flags.raise("now");
  evaluator.flags.raise("now");
  EXPECT_TRUE(evaluator.evaluateWith(1));
  EXPECT_FALSE(evaluator.evaluateWith(1));
  evaluator.flags.raise("later");
  EXPECT_TRUE(evaluator.evaluateWith(1));
  evaluator.flags.raise("never");
  EXPECT_FALSE(evaluator.evaluateWith(1));
}

TEST(HookCriterion, ReadsEpochsRatesAndHooks) {
  CriterionEvaluator evaluator("epoch >= 2 and lr < 0.5 and hook.mean > 1");
  EXPECT_FALSE(evaluator.evaluateWith(1));
  evaluator.values.setEpoch(2);
  evaluator.values.update(event::IterationDone{0, 1, 1, .25, 1});
  EXPECT_FALSE(evaluator.evaluateWith(1));
  evaluator.values.setHook("mean", 1.5);
  EXPECT_TRUE(evaluator.evaluateWith(1));
}

TEST(HookCriterion, RefusesInvalidExpressions) {
  const plan::Manifest manifest = model();
  const std::set<std::string> hooks = {"mean"};
  auto expectRefused = [&](const std::string &text, std::size_t offset,
                           const std::string &message, bool isHook = true) {
    try {
      Criterion(text, {manifest, 1, isHook ? &hooks : nullptr}, isHook);
      FAIL() << text;
    } catch (const TextError &problem) {
      EXPECT_EQ(problem.offset, offset) << text;
      EXPECT_NE(problem.text.find(message), std::string::npos) << problem.text;
    }
  };
  expectRefused("iter > 1 for 0", 13, "from 1 on");
  expectRefused("iter > 1 for", 12, "from 1 on");
  expectRefused("highest 3", 9, "metric");
  expectRefused("external", 8, "name of a flag");
  expectRefused("hook.meen > 1", 5, "did you mean 'mean'?");
  expectRefused("iter > 1 for 2", 9, "--hooks", false);
  expectRefused("lowest test.loss", 0, "--hooks", false);
  expectRefused("epoch > 1", 0, "no metric 'epoch'", false);
  expectRefused(std::string(500, '('), 100, "nested");
}

TEST(ValueSchedule, FollowsTheFile) {
  test::TempFolder folder;
  test::writeBytes(folder / "rates.txt", "# rates\n\n10 0.5\n20 0.1 # later\n");
  std::vector<std::string> checked;
  auto check = [&](const std::string &value) { checked.push_back(value); };
  const ValueSchedule steps("rates.txt", {folder / ""}, false, check);
  EXPECT_EQ(steps.at(9), std::nullopt);
  EXPECT_EQ(steps.at(10), "0.5");
  EXPECT_EQ(steps.at(19), "0.5");
  EXPECT_EQ(steps.at(1000), "0.1");
  EXPECT_EQ(checked, (std::vector<std::string>{"0.5", "0.1"}));
  const ValueSchedule line("rates.txt", {folder / ""}, true, check);
  EXPECT_EQ(line.at(15), "0.3");
  EXPECT_EQ(line.at(20), "0.1");
}

TEST(ValueSchedule, RefusesInvalidFiles) {
  test::TempFolder folder;
  auto expectRefused = [&](const std::string &text,
                           const std::string &message) {
    test::writeBytes(folder / "rates.txt", text);
    test::expectError(ExitStatus::BadInput, message, [&] {
      ValueSchedule(folder / "rates.txt", {}, false, [](const std::string &v) {
        if (v == "bad")
          throw badInput("it is bad");
      });
    });
  };
  expectRefused("", "has no values");
  expectRefused("0 1\n0 2\n",
                "rates.txt:2: the numbers of iterations do not ascend");
  expectRefused("-1 2\n", "expected a number of iterations, found '-1'");
  expectRefused("x 2\n", "found 'x'");
  expectRefused("3\n", "expected a value");
  expectRefused("3 4 5\n", "found '5'");
  expectRefused("3 bad\n", "rates.txt:1: it is bad");
  test::expectError(ExitStatus::Unavailable, "none.txt", [&] {
    ValueSchedule("none.txt", {folder / ""}, false, [](const std::string &) {});
  });
}
