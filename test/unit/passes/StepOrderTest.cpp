//===- StepOrderTest.cpp - Orders of steps --------------------------------===//
#include "passes/plan/StepOrder.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <numeric>
#include <random>

using brew::passes::OrderProblem;
using brew::passes::peakBytesOf;
using brew::passes::reducePeak;

namespace {

std::vector<unsigned> programOrder(const OrderProblem &problem) {
  std::vector<unsigned> order(problem.steps.size());
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

/// Returns whether every step occurs once, after its dependencies, and forward
/// steps precede all others.
bool isValidOrder(const OrderProblem &problem,
                  const std::vector<unsigned> &order) {
  std::vector<unsigned> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != programOrder(problem))
    return false;
  std::vector<unsigned> position(order.size());
  for (unsigned i = 0; i < order.size(); ++i)
    position[order[i]] = i;
  for (unsigned step = 0; step < order.size(); ++step) {
    for (unsigned earlier : problem.steps[step].after)
      if (position[earlier] > position[step])
        return false;
    for (unsigned earlier = 0; earlier < step; ++earlier)
      for (unsigned value : problem.steps[earlier].writes) {
        const auto &reads = problem.steps[step].reads;
        if (std::count(reads.begin(), reads.end(), value) &&
            position[earlier] > position[step])
          return false;
      }
    if ((step < problem.forwardSteps) !=
        (position[step] < problem.forwardSteps))
      return false;
  }
  return true;
}

OrderProblem randomProblem(std::mt19937 &random) {
  auto draw = [&](unsigned below) { return random() % below; };
  OrderProblem problem;
  const unsigned count = 4 + draw(4);
  problem.forwardSteps = draw(2) ? count : 1 + draw(count - 1);
  for (unsigned step = 0; step < count; ++step) {
    brew::passes::OrderedStep &newStep = problem.steps.emplace_back();
    for (unsigned value = 0; value < problem.values.size(); ++value)
      if (draw(3) == 0)
        newStep.reads.push_back(value);
    if (step && draw(4) == 0)
      newStep.after.push_back(draw(step));
    newStep.writes.push_back(problem.values.size());
    problem.values.push_back(
        {static_cast<int64_t>(1 + draw(20)), false, draw(4) == 0});
    if (!newStep.reads.empty() && draw(3) == 0)
      newStep.inPlacePairs.push_back(
          {newStep.writes.front(), newStep.reads.front()});
  }
  return problem;
}

/// The first step computes a value that only the last step needs. reducePeak()
/// must move this step past the peak.
TEST(StepOrder, SinksStepsNotNeededYet) {
  OrderProblem problem;
  problem.forwardSteps = 4;
  problem.values = {{100, false, false},
                    {10, false, false},
                    {60, false, false},
                    {1, false, true}};
  problem.steps = {{{}, {0}, {}, {}},
                   {{}, {1}, {}, {}},
                   {{1}, {2}, {}, {}},
                   {{0, 2}, {3}, {}, {}}};
  problem.values.push_back({200, false, false}); // temporary of the third step
  problem.steps[2].writes.push_back(4);
  EXPECT_EQ(peakBytesOf(problem, programOrder(problem)), 100 + 10 + 60 + 200);
  const auto order = reducePeak(problem);
  EXPECT_EQ(order, (std::vector<unsigned>{1, 2, 0, 3}));
  EXPECT_EQ(peakBytesOf(problem, order), 10 + 60 + 200);
}

/// A step that frees more than it takes moves before the peak, with its
/// dependencies.
TEST(StepOrder, HoistsStepsThatFree) {
  OrderProblem problem;
  problem.forwardSteps = 5;
  problem.values = {{100, false, false},
                    {300, false, false},
                    {1, false, false},
                    {1, false, true},
                    {1, false, true}};
  problem.steps = {{{}, {0}, {}, {}},
                   {{}, {1}, {0}, {}}, // the peak
                   {{1}, {4}, {}, {}},
                   {{}, {2}, {}, {}},
                   {{0, 2}, {3}, {}, {}}};
  EXPECT_EQ(peakBytesOf(problem, programOrder(problem)), 401);
  const auto order = reducePeak(problem);
  EXPECT_TRUE(isValidOrder(problem, order));
  EXPECT_EQ(peakBytesOf(problem, order), 302);
}

TEST(StepOrder, InPlaceResultNeedsNoMemory) {
  OrderProblem problem;
  problem.forwardSteps = 2;
  problem.values = {{100, true, false}, {100, false, true}};
  problem.steps = {{{0}, {1}, {}, {{1, 0}}}, {{1}, {}, {}, {}}};
  EXPECT_EQ(peakBytesOf(problem, programOrder(problem)), 100);
  problem.values[0].liveAtEnd = true;
  EXPECT_EQ(peakBytesOf(problem, programOrder(problem)), 200);
}

/// The peak never exceeds the peak of the program order, and mostly equals the
/// least peak of all orders.
TEST(StepOrder, PeakIsBetweenProgramOrderAndOptimum) {
  std::mt19937 random(7);
  int optimal = 0, improved = 0;
  constexpr int cases = 300;
  for (int i = 0; i < cases; ++i) {
    const OrderProblem problem = randomProblem(random);
    const auto order = reducePeak(problem);
    ASSERT_TRUE(isValidOrder(problem, order)) << "case " << i;
    const int64_t programPeak = peakBytesOf(problem, programOrder(problem)),
                  foundPeak = peakBytesOf(problem, order);
    ASSERT_LE(foundPeak, programPeak) << "case " << i;
    int64_t leastPeak = programPeak;
    auto candidate = programOrder(problem);
    do
      if (isValidOrder(problem, candidate))
        leastPeak = std::min(leastPeak, peakBytesOf(problem, candidate));
    while (std::next_permutation(candidate.begin(), candidate.end()));
    ASSERT_GE(foundPeak, leastPeak) << "case " << i;
    optimal += foundPeak == leastPeak;
    improved += foundPeak < programPeak;
  }
  EXPECT_GT(improved, cases / 10);
  EXPECT_GT(optimal, cases * 8 / 10);
}

} // namespace
