//===- RematerializationChoiceTest.cpp - Rematerialization ----------------===//
#include "passes/fused/RematerializationChoice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

using namespace brew;
using namespace brew::passes;

namespace {

/// Returns a net of `count` layers, each of which reads the one before and
/// sometimes an earlier one; the backward pass reads the inputs of the layers.
brew::passes::RematerializationProblem net(unsigned count,
                                           std::mt19937 &random) {
  brew::passes::RematerializationProblem problem;
  auto number = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  const int64_t steps = 2 * count + 1;
  problem.otherBytes.assign(steps, 0);
  problem.units.resize(count);
  for (unsigned u = 0; u < count; ++u) {
    brew::passes::RematerializationUnit &unit = problem.units[u];
    unit.bytes = number(1, 20);
    unit.seconds = number(1, 50);
    unit.canRematerialize = u > 0; // the first is data
    unit.definedAt = unit.lastForwardUse = u;
    if (u > 0)
      unit.inputs.push_back(u - 1);
    if (u > 2 && number(0, 3) == 0)
      unit.inputs.push_back(number(0, static_cast<int>(u) - 2));
    for (unsigned input : unit.inputs) {
      brew::passes::RematerializationUnit &read = problem.units[input];
      read.lastForwardUse = u;
      const int64_t backward = steps - 1 - u;
      read.firstBackwardUse = read.lastBackwardUse < 0
                                  ? backward
                                  : std::min(read.firstBackwardUse, backward);
      read.lastBackwardUse = std::max(read.lastBackwardUse, backward);
    }
    // Its gradient is live for two steps.
    for (int64_t step = steps - 1 - u; step < steps && step < steps - u + 1;
         ++step)
      problem.otherBytes[step] += unit.bytes;
  }
  return problem;
}

std::vector<bool> bitsOf(unsigned bits, size_t count) {
  std::vector<bool> rematerialized(count);
  for (size_t u = 0; u < count; ++u)
    rematerialized[u] = bits >> u & 1;
  return rematerialized;
}

/// Returns the best of all choices: the smallest peak, or the least time within
/// a limit.
struct Best {
  int64_t peak = INT64_MAX;
  std::optional<double> seconds;
};

Best bestOf(const brew::passes::RematerializationProblem &problem,
            int64_t limit) {
  Best best;
  for (unsigned bits = 0; bits < 1u << problem.units.size(); ++bits) {
    const std::vector<bool> rematerialized = bitsOf(bits, problem.units.size());
    bool can = true;
    for (size_t u = 0; u < rematerialized.size(); ++u)
      can &= !rematerialized[u] || problem.units[u].canRematerialize;
    if (!can)
      continue;
    const brew::passes::RematerializationCost outcome =
        evaluate(problem, rematerialized);
    best.peak = std::min(best.peak, outcome.peakBytes);
    if (outcome.peakBytes <= limit &&
        (!best.seconds || outcome.seconds < *best.seconds))
      best.seconds = outcome.seconds;
  }
  return best;
}

TEST(RematerializationChoice, SavedValuesLiveUntilTheirLastReader) {
  brew::passes::RematerializationProblem problem;
  problem.otherBytes.assign(6, 1);
  problem.units.resize(2);
  problem.units[0] = {10, 0, 1, 4, 4, 0, false, -1, {}};
  problem.units[1] = {100, 1, 2, 3, 5, 2.5, true, -1, {0}};
  brew::passes::RematerializationCost saved = evaluate(problem, {false, false});
  EXPECT_EQ(saved.bytesAt, (std::vector<int64_t>{11, 111, 111, 111, 111, 101}));
  EXPECT_EQ(saved.peakBytes, 111);
  EXPECT_EQ(saved.peakStep, 1);
  EXPECT_EQ(saved.seconds, 0);
}

TEST(RematerializationChoice, RecomputedValuesNeedTheirInputs) {
  brew::passes::RematerializationProblem problem;
  problem.otherBytes.assign(8, 0);
  problem.units.resize(2);
  // The backward pass does not read the first one itself.
  problem.units[0] = {10, 0, 1, 0, -1, 1, true, -1, {}};
  problem.units[1] = {100, 1, 2, 5, 7, 2.5, true, -1, {0}};
  brew::passes::RematerializationCost rematerialized =
      evaluate(problem, {false, true});
  EXPECT_EQ(rematerialized.bytesAt,
            (std::vector<int64_t>{10, 110, 110, 10, 10, 110, 100, 100}));
  EXPECT_EQ(rematerialized.seconds, 2.5);
  rematerialized = evaluate(problem, {true, true});
  EXPECT_EQ(rematerialized.bytesAt,
            (std::vector<int64_t>{10, 110, 100, 0, 0, 110, 100, 100}));
  EXPECT_EQ(rematerialized.seconds, 3.5);
}

TEST(RematerializationChoice, FusedValuesReuseTheirInput) {
  brew::passes::RematerializationProblem problem;
  problem.otherBytes.assign(8, 0);
  problem.units.resize(2);
  problem.units[0] = {100, 0, 1, 6, 6, 0, false, -1, {}};
  // Read at step 5, which can be deferred until step 6 has read the other.
  problem.units[1] = {100, 1, 2, 5, 5, 2.5, true, 6, {0}};
  brew::passes::RematerializationCost saved = evaluate(problem, {false, false});
  EXPECT_EQ(saved.bytesAt,
            (std::vector<int64_t>{100, 200, 200, 200, 200, 200, 100, 0}));
  brew::passes::RematerializationCost rematerialized =
      evaluate(problem, {false, true});
  EXPECT_EQ(rematerialized.bytesAt,
            (std::vector<int64_t>{100, 200, 200, 100, 100, 100, 100, 100}));
  EXPECT_EQ(rematerialized.seconds, 2.5);
  // A slice of a concatenated tensor has no memory to reuse.
  problem.units[1].reusesInputMemory = false;
  rematerialized = evaluate(problem, {false, true});
  EXPECT_EQ(rematerialized.bytesAt,
            (std::vector<int64_t>{100, 200, 200, 100, 100, 100, 200, 0}));
  // Nothing is recomputed then, because the peak stays.
  EXPECT_EQ(chooseFused(problem, 10), (std::vector<bool>{false, false}));
}

/// Returns layers of two values each, which the backward pass both reads, as in
/// nets with a normalization after every convolution.
brew::passes::RematerializationProblem netOfPairs(unsigned layers,
                                                  std::mt19937 &random) {
  brew::passes::RematerializationProblem problem;
  auto number = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  const int64_t steps = 5 * layers;
  problem.otherBytes.assign(steps, 0);
  for (unsigned layer = 0; layer < layers; ++layer) {
    const int64_t made = 2 * layer, bytes = number(1, 20);
    const int64_t backward = steps - 3 * (layer + 1);
    const unsigned x = problem.units.size();
    brew::passes::RematerializationUnit unit = {
        bytes, made, made + 1, backward, backward + 1, 50, false, -1, {}};
    problem.units.push_back(unit);
    unit = {bytes,         made + 1,         made + 2,     backward, backward,
            double(bytes), number(0, 3) > 0, backward + 1, {x}};
    problem.units.push_back(unit);
    for (int64_t step = backward; step < backward + 3; ++step)
      problem.otherBytes[step] += number(0, 30);
  }
  return problem;
}

TEST(RematerializationChoice, FusedChoiceIsTheBest) {
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) {
    const brew::passes::RematerializationProblem problem =
        netOfPairs(6, random);
    const Best least = bestOf(problem, 0);
    const std::vector<bool> all = chooseFused(problem, 1e9);
    EXPECT_EQ(evaluate(problem, all).peakBytes, least.peak) << i;
    // Every recomputed unit is needed.
    for (size_t u = 0; u < all.size(); ++u) {
      if (!all[u])
        continue;
      std::vector<bool> without = all;
      without[u] = false;
      EXPECT_GT(evaluate(problem, without).peakBytes, least.peak) << i;
    }
    EXPECT_LE(evaluate(problem, chooseFused(problem, 20)).seconds, 20);
    EXPECT_EQ(chooseFused(problem, 0), std::vector<bool>(all.size()));
  }
}

TEST(RematerializationChoice, NothingWithinTheLimit) {
  std::mt19937 random(1);
  const brew::passes::RematerializationProblem problem = net(10, random);
  const int64_t peak = evaluate(problem, std::vector<bool>(10)).peakBytes;
  EXPECT_EQ(chooseRematerialized(problem, peak), std::vector<bool>(10));
}

TEST(RematerializationChoice, IsNearTheBestChoice) {
  std::mt19937 random(2);
  double peaks = 0, times = 0;
  int fits = 0, nets = 60;
  for (int i = 0; i < nets; ++i) {
    const brew::passes::RematerializationProblem problem = net(12, random);
    const int64_t whole = evaluate(problem, std::vector<bool>(12)).peakBytes;
    const Best least = bestOf(problem, whole);
    const brew::passes::RematerializationCost found =
        evaluate(problem, chooseRematerialized(problem, 0));
    // The minimum is reached for all but a few nets.
    EXPECT_LE(found.peakBytes, 1.35 * static_cast<double>(least.peak)) << i;
    peaks +=
        static_cast<double>(found.peakBytes) / static_cast<double>(least.peak);
    // The time for a limit half way.
    const int64_t limit = (whole + least.peak) / 2;
    const Best best = bestOf(problem, limit);
    const std::vector<bool> rematerialized =
        chooseRematerialized(problem, limit);
    for (size_t u = 0; u < rematerialized.size(); ++u)
      EXPECT_TRUE(!rematerialized[u] || problem.units[u].canRematerialize);
    const brew::passes::RematerializationCost outcome =
        evaluate(problem, rematerialized);
    if (outcome.peakBytes > limit)
      continue;
    ++fits;
    ASSERT_TRUE(best.seconds);
    times += (outcome.seconds + 1) / (*best.seconds + 1);
  }
  // Measured: 1.009, all and 1.056.
  EXPECT_LE(peaks / nets, 1.02);
  EXPECT_GE(fits, nets - 1);
  EXPECT_LE(times / fits, 1.1);
}

} // namespace
