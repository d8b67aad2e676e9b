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

Schedule schedule(const std::string &text) {
  return readHookLine(text + " do stop").schedule;
}

/// The counts up to `last` at which it is due, tested one by one.
std::vector<int> dueCounts(const std::string &text, int last) {
  const Schedule it = schedule(text);
  std::vector<int> counts;
  for (int now = 1; now <= last; ++now)
    if (it.isDue(static_cast<std::uint64_t>(now - 1),
                 static_cast<std::uint64_t>(now)))
      counts.push_back(now);
  return counts;
}

void refuses(const std::string &line, std::size_t offset,
             const std::string &words) {
  try {
    readHookLine(line);
    FAIL() << line << " was taken";
  } catch (const TextError &problem) {
    EXPECT_EQ(problem.offset, offset) << line;
    EXPECT_NE(problem.text.find(words), std::string::npos)
        << line << ": " << problem.text;
  }
}

/// Evaluates a criterion, once for each value of test.loss.
class Evaluations {
public:
  explicit Evaluations(const std::string &text)
      : manifest(model()), it(text, {manifest, 1, &hooks}, true) {}
  bool at(double loss) {
    values.update(event::TestDone{1, 0, {}, {{"loss", loss, 1}}});
    return it.holds(values, &flags);
  }

  std::set<std::string> hooks = {"mean"};
  plan::Manifest manifest;
  MetricValues values;
  ExternalFlags flags;
  Criterion it;
};

} // namespace

TEST(HookSchedule, IsDue) {
  EXPECT_EQ(dueCounts("every 3 iterations", 10), (std::vector{3, 6, 9}));
  EXPECT_EQ(dueCounts("every 3 iterations 2 times", 20), (std::vector{3, 6}));
  EXPECT_EQ(dueCounts("every iteration 1 time", 20), (std::vector{1}));
  EXPECT_EQ(dueCounts("after 4 epochs", 10), (std::vector{4}));
  EXPECT_EQ(dueCounts("at test", 3), (std::vector{1, 2, 3}));
  EXPECT_EQ(schedule("at pause").trigger(), HookTrigger::Pause);
  // Counts may jump: the hook is due once for all missed counts.
  EXPECT_TRUE(schedule("every 2 epochs").isDue(1, 7));
  EXPECT_FALSE(schedule("after 4 epochs").isDue(4, 9));
}

TEST(HookSchedule, KnowsWhenItWasDueLast) {
  EXPECT_EQ(schedule("every 3 iterations").lastDue(8), 6u);
  EXPECT_EQ(schedule("every 3 iterations 1 time").lastDue(8), 3u);
  EXPECT_EQ(schedule("every 3 iterations").lastDue(2), std::nullopt);
  EXPECT_EQ(schedule("after 5 iterations").lastDue(8), 5u);
  EXPECT_EQ(schedule("after 0 iterations").lastDue(0), 0u);
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
  refuses("sometimes do stop", 0, "a hook needs a schedule");
  refuses("a b: at start do stop", 0, "a hook needs a schedule");
  refuses("a.b: at start do stop", 0, "letters, digits");
  refuses("every 0 iterations do stop", 6, "from 1 to");
  refuses("every 99999999999 iterations do stop", 6, "from 1 to");
  refuses("every 2 iteratoins do stop", 8, "did you mean 'iteration'?");
  refuses("every 2 iterations 3 do stop", 21, "expected 'times'");
  refuses("after iterations do stop", 6, "after how many");
  refuses("every", 5, "expected iterations");
  refuses("at start", 8, "expected 'do'");
  refuses("at start stop", 9, "expected 'if' or 'do', found 'stop'");
  refuses("at start if do stop", 12, "expected a condition");
  refuses("at start if iter > 2", 20, "expected 'do'");
  refuses("at start do", 11, "expected an action");
  refuses("at start do needs x", 12, "expected an action");
  refuses("at start do stop needs", 22, "expected the name of a hook");
  refuses("at start do stop priority high", 26, "expected an integer");
  refuses("at start do stop priority 1 more", 28, "found 'more'");
  refuses("at start do set x \"a b", 18, "not closed");
}

TEST(HookCriterion, Repeats) {
  Evaluations evaluations("test.loss < 1 for 3");
  EXPECT_FALSE(evaluations.at(.5));
  EXPECT_FALSE(evaluations.at(.5));
  EXPECT_TRUE(evaluations.at(.5));
  EXPECT_TRUE(evaluations.at(.5));
  EXPECT_FALSE(evaluations.at(2));
  EXPECT_FALSE(evaluations.at(.5));
  evaluations.it.restart();
  EXPECT_FALSE(evaluations.at(.5));
  EXPECT_FALSE(evaluations.at(.5));
  EXPECT_TRUE(evaluations.at(.5));
}

TEST(HookCriterion, RepeatsExpressionsInParentheses) {
  Evaluations evaluations(
      "(test.loss < 1 or test.loss > 5) for 2 and test.loss != 6");
  EXPECT_FALSE(evaluations.at(.5));
  EXPECT_FALSE(evaluations.at(6)); // true for the second time, but not with 6
  EXPECT_TRUE(evaluations.at(7));  // counted although the other operand decided
}

TEST(HookCriterion, SeesExtrema) {
  Evaluations lowest("lowest test.loss"), highest("highest test.loss");
  const double losses[] = {3, 3, 2, 4, NAN, 2, 1, 5};
  const bool isLowest[] = {true, false, true, false, false, false, true, false};
  const bool isHighest[] = {true,  false, false, true,
                            false, false, false, true};
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(lowest.at(losses[i]), isLowest[i]) << i;
    EXPECT_EQ(highest.at(losses[i]), isHighest[i]) << i;
  }
}

TEST(HookCriterion, ExternalFlagsHoldOnce) {
  Evaluations evaluations("external now or external later");
  EXPECT_FALSE(evaluations.at(1));
  evaluations.flags.raise("now");
  evaluations.flags.raise("now");
  EXPECT_TRUE(evaluations.at(1));
  EXPECT_FALSE(evaluations.at(1));
  evaluations.flags.raise("later");
  EXPECT_TRUE(evaluations.at(1));
  evaluations.flags.raise("never");
  EXPECT_FALSE(evaluations.at(1));
}

TEST(HookCriterion, KnowsEpochsRatesAndHooks) {
  Evaluations evaluations("epoch >= 2 and lr < 0.5 and hook.mean > 1");
  EXPECT_FALSE(evaluations.at(1));
  evaluations.values.setEpoch(2);
  evaluations.values.update(event::IterationDone{0, 1, 1, .25, 1});
  EXPECT_FALSE(evaluations.at(1));
  evaluations.values.setHook("mean", 1.5);
  EXPECT_TRUE(evaluations.at(1));
}

TEST(HookCriterion, IsRefused) {
  const plan::Manifest manifest = model();
  const std::set<std::string> hooks = {"mean"};
  auto refused = [&](const std::string &text, std::size_t offset,
                     const std::string &words, bool isHook = true) {
    try {
      Criterion(text, {manifest, 1, isHook ? &hooks : nullptr}, isHook);
      FAIL() << text;
    } catch (const TextError &problem) {
      EXPECT_EQ(problem.offset, offset) << text;
      EXPECT_NE(problem.text.find(words), std::string::npos) << problem.text;
    }
  };
  refused("iter > 1 for 0", 13, "from 1 on");
  refused("iter > 1 for", 12, "from 1 on");
  refused("highest 3", 9, "metric");
  refused("external", 8, "name of a flag");
  refused("hook.meen > 1", 5, "did you mean 'mean'?");
  refused("iter > 1 for 2", 9, "--hooks", false);
  refused("lowest test.loss", 0, "--hooks", false);
  refused("epoch > 1", 0, "no metric 'epoch'", false);
  refused(std::string(500, '('), 100, "nested");
}

TEST(HookSchedules, OfValuesAreFollowed) {
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

TEST(HookSchedules, OfValuesAreRefused) {
  test::TempFolder folder;
  auto refused = [&](const std::string &text, const std::string &words) {
    test::writeBytes(folder / "rates.txt", text);
    test::expectError(ExitStatus::BadInput, words, [&] {
      ValueSchedule(folder / "rates.txt", {}, false, [](const std::string &v) {
        if (v == "bad")
          throw badInput("it is bad");
      });
    });
  };
  refused("", "has no values");
  refused("0 1\n0 2\n", "rates.txt:2: the numbers of iterations do not ascend");
  refused("-1 2\n", "expected a number of iterations, found '-1'");
  refused("x 2\n", "found 'x'");
  refused("3\n", "expected a value");
  refused("3 4 5\n", "found '5'");
  refused("3 bad\n", "rates.txt:1: it is bad");
  test::expectError(ExitStatus::Unavailable, "none.txt", [&] {
    ValueSchedule("none.txt", {folder / ""}, false, [](const std::string &) {});
  });
}
