//===- GradientsTest.cpp - Tests of returns, advantages and gradients -----===//

#include "extras/reinforcement/PolicyGradient.h"
#include "extras/reinforcement/PolicyNetwork.h"
#include "extras/reinforcement/Returns.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace brew::reinforcement;

TEST(Returns, AreDiscountedFromTheEnd) {
  // From the end: 3, 2 + 0.5 * 3, 1 + 0.5 * 3.5.
  EXPECT_EQ(discountedReturns({1, 2, 3}, 0.5, false),
            (std::vector<double>{2.75, 3.5, 3}));
  // The sum restarts at each nonzero reward.
  EXPECT_EQ(discountedReturns({0, -1, 0, 1}, 0.5, true),
            (std::vector<double>{-0.5, -1, 0.5, 1}));
  EXPECT_EQ(discountedReturns({0, -1, 0, 1}, 0.5, false),
            (std::vector<double>{-0.375, -0.75, 0.5, 1}));
}

TEST(Returns, AreStandardisedByThePopulationDeviation) {
  std::vector<double> values = {1, 2, 3, 6}; // mean 3, variance 14 / 4
  standardise(values);
  const double deviation = std::sqrt(3.5);
  EXPECT_DOUBLE_EQ(values[0], -2 / deviation);
  EXPECT_DOUBLE_EQ(values[3], 3 / deviation);
  std::vector<double> equal = {1, 1, 1};
  standardise(equal);
  EXPECT_EQ(equal, (std::vector<double>{1, 1, 1}));
  // Rounding makes the mean differ slightly from 0.1; the values still count as
  // equal.
  std::vector<double> equalTenths =
      discountedReturns({0.1, 0.1, 0.1}, 0, false);
  standardise(equalTenths);
  EXPECT_EQ(equalTenths, (std::vector<double>{0.1, 0.1, 0.1}));
}

/// Computed by hand with gamma = 0.9 and lambda = 0.8. The deltas are
/// 1 + 0.9 * 2 - 1 = 1.8, 1 + 0 - 2 = -1 (terminated) and
/// 1 + 0.9 * 5 - 3 = 2.5 (truncated).
TEST(Returns, AdvantagesRestartAfterAnEnd) {
  const Segment segment = {
      {1, 1, 1}, {1, 2, 3}, {false, true, true}, {2, 0, 5}};
  const std::vector<double> result = computeAdvantages(segment, 0.9, 0.8);
  EXPECT_NEAR(result[0], 1.8 + 0.72 * -1, 1e-12);
  EXPECT_NEAR(result[1], -1, 1e-12);
  EXPECT_NEAR(result[2], 2.5, 1e-12);
}

TEST(Policies, OneLogitBelongsToAction0) {
  const float logit = std::log(3.0f);
  const Distribution probabilities = distributionOf(&logit, 1);
  EXPECT_NEAR(probabilities[0], 0.75, 1e-7);
  EXPECT_NEAR(probabilities[1], 0.25, 1e-7);
  EXPECT_EQ(sample(probabilities, 0.7499), 0);
  EXPECT_EQ(sample(probabilities, 0.7501), 1);
  EXPECT_NEAR(entropyOf(probabilities),
              -(0.75 * std::log(0.75) + 0.25 * std::log(0.25)), 1e-6);
  // The gradient is -R * ((action == 0) - p(0)) with R = 2.
  float gradient = 0;
  policyGradient(probabilities, 0, 2, &gradient, 1);
  EXPECT_NEAR(gradient, -(1 - 0.75) * 2, 1e-6);
  policyGradient(probabilities, 1, 2, &gradient, 1);
  EXPECT_NEAR(gradient, -(0 - 0.75) * 2, 1e-6);
}

/// (p - onehot(a)) * R is the derivative of -R * log p(a).
TEST(Policies, GradientsAgreeWithFiniteDifferences) {
  const float logits[] = {0.3f, -1.2f, 0.7f};
  for (int action = 0; action < 3; ++action) {
    float gradient[3];
    policyGradient(distributionOf(logits, 3), action, 1.5, gradient, 3);
    for (int i = 0; i < 3; ++i) {
      auto loss = [&](float shift) {
        float moved[] = {logits[0], logits[1], logits[2]};
        moved[i] += shift;
        return -1.5 * std::log(distributionOf(
                          moved, 3)[static_cast<std::size_t>(action)]);
      };
      const float step = 0.0625f;
      EXPECT_NEAR(gradient[i], (loss(step) - loss(-step)) / (2 * step), 1e-3);
    }
  }
}

TEST(Policies, LargeLogitsStayFinite) {
  const float logits[] = {1000, -1000};
  const Distribution probabilities = distributionOf(logits, 2);
  EXPECT_EQ(probabilities[0], 1);
  EXPECT_EQ(entropyOf(probabilities), 0);
  EXPECT_EQ(sample({0.5, 0.4999}, 0.99995), 1); // the sum is less than 1
}

/// The cutoff is a fraction of the range of rewards.
TEST(Elite, KeepsTheTopOfTheRange) {
  std::vector<Trajectory> episodes(4);
  const double rewards[] = {10, 50, 30, 20};
  for (std::size_t i = 0; i < 4; ++i)
    episodes[i].end.reward = rewards[i];
  std::vector<Trajectory> all = episodes;
  selectElite(all, 1);
  EXPECT_EQ(all.size(), 4u);
  selectElite(episodes, 0.5); // the cutoff is 10 + 0.5 * (50 - 10) = 30
  ASSERT_EQ(episodes.size(), 2u);
  EXPECT_EQ(episodes[0].end.reward, 50);
  EXPECT_EQ(episodes[1].end.reward, 30);
}
