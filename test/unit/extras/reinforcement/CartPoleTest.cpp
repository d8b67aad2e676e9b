//===- CartPoleTest.cpp - Tests of the Cart-Pole environment --------------===//

#include "extras/reinforcement/CartPole.h"
#include "support/Error.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace brew::reinforcement;

namespace {

/// Repeats one action until the episode ends. Returns the number of steps, and
/// the result of the last one in `last`.
int stepsUntilEnd(const std::string &name, int action, StepResult &last) {
  const auto environment = makeEnvironment(name);
  float observation[4];
  environment->reset(1, observation);
  for (int steps = 1;; ++steps)
    if (last = environment->step(action, observation); last.ended())
      return steps;
}

} // namespace

/// The states were recorded from Gymnasium 1.4's CartPole-v1 in double
/// precision.
TEST(CartPole, MovesAsInGymnasium) {
  CartPole::State state = {0.01, -0.02, 0.03, 0.04};
  const struct {
    int action;
    CartPole::State after;
  } steps[] = {
      {1, {0.0096, 0.174679195748, 0.0308, -0.243068717960}},
      {0, {0.013093583915, -0.020868848948, 0.025938625641, 0.059167999939}},
      {1, {0.012676206936, 0.173871774873, 0.027121985640, -0.225219572560}},
      {1, {0.016153642433, 0.368595811501, 0.022617594188, -0.509225318312}}};
  for (const auto &step : steps) {
    state = CartPole::move(state, step.action);
    for (std::size_t i = 0; i < state.size(); ++i)
      EXPECT_NEAR(state[i], step.after[i], 1e-12) << i;
  }
}

TEST(CartPole, InitialStateDependsOnTheSeed) {
  const auto environment = makeEnvironment("cartpole");
  float first[4], repeated[4], ofSeed8[4];
  environment->reset(7, first);
  environment->reset(8, ofSeed8);
  environment->reset(7, repeated);
  bool differs = false;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(first[i], repeated[i]);
    EXPECT_LE(std::abs(first[i]), 0.05f);
    differs |= first[i] != ofSeed8[i];
  }
  EXPECT_TRUE(differs);
}

/// If the cart is always pushed to one side, the pole exceeds 12 degrees after
/// 8 to 11 steps, and the 20 degrees of MyCaffe's variant later. The last step
/// has the usual reward.
TEST(CartPole, EndsWhenThePoleHasFallen) {
  StepResult last;
  const int steps = stepsUntilEnd("cartpole", 1, last);
  EXPECT_TRUE(last.terminated);
  EXPECT_FALSE(last.truncated);
  EXPECT_EQ(last.reward, 1);
  EXPECT_GE(steps, 8);
  EXPECT_LE(steps, 11);
  EXPECT_GT(stepsUntilEnd("cartpole-mycaffe", 1, last), steps);
}

/// A simple policy, which pushes in the direction of the fall, keeps the pole
/// up until truncation.
TEST(CartPole, IsTruncatedAfterTheMaximumOfSteps) {
  for (const auto &[name, maxSteps] :
       {std::pair("cartpole", 500), std::pair("cartpole-v0", 200)}) {
    const auto environment = makeEnvironment(name);
    float observation[4];
    environment->reset(3, observation);
    int steps = 0;
    StepResult last;
    while (!last.ended() && steps < 600) {
      last =
          environment->step(observation[2] + observation[3] > 0, observation);
      ++steps;
    }
    EXPECT_TRUE(last.truncated) << name;
    EXPECT_EQ(steps, maxSteps) << name;
  }
}

/// In MyCaffe's variant a step reports the state before the step.
TEST(CartPole, MyCaffesVariantReportsThePreviousState) {
  const auto gymnasiums = makeEnvironment("cartpole"),
             myCaffes = makeEnvironment("cartpole-mycaffe");
  float now[4], before[4], previous[4];
  gymnasiums->reset(5, now);
  myCaffes->reset(5, before);
  for (int step = 0; step < 4; ++step) {
    std::copy(now, now + 4, previous);
    gymnasiums->step(step % 2, now);
    myCaffes->step(step % 2, before);
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(before[i], previous[i]);
  }
}

/// By default a failing step pays 1, but 0 with PG.SIMPLE, as in MyCaffe's
/// paper. The property overrides both.
TEST(CartPole, FailureRewardDependsOnTrainerAndProperty) {
  auto lastReward = [](const std::string &text, const std::string &trainer) {
    const auto environment = makeEnvironment(text);
    environment->useDefaultsOf(trainer);
    float observation[4];
    environment->reset(1, observation);
    for (StepResult last; true;)
      if (last = environment->step(1, observation); last.terminated)
        return last.reward;
      else
        EXPECT_EQ(last.reward, 1);
  };
  EXPECT_EQ(lastReward("cartpole", "PG.ST"), 1);
  EXPECT_EQ(lastReward("cartpole-mycaffe", "PPO"), 1);
  EXPECT_EQ(lastReward("cartpole", "PG.SIMPLE"), 0);
  EXPECT_EQ(lastReward("cartpole-mycaffe", "PG.SIMPLE"), 0);
  EXPECT_EQ(lastReward("cartpole:FailureReward=1", "PG.SIMPLE"), 1);
  EXPECT_EQ(lastReward("cartpole: FailureReward = -2.5;", "PG.ST"), -2.5);
  EXPECT_EQ(makeEnvironment("cartpole:FailureReward=-2.5")->properties(),
            "FailureReward=-2.5");
}

TEST(CartPole, InvalidPropertiesAreRejected) {
  auto rejection = [](const std::string &text) {
    try {
      makeEnvironment(text);
    } catch (const brew::Error &error) {
      EXPECT_EQ(error.status(), brew::ExitStatus::Usage) << text;
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(rejection("cartpole:FailurReward=0"),
            "the environment 'cartpole' has no property 'FailurReward'; did "
            "you mean 'FailureReward'? (known: FailureReward)");
  EXPECT_EQ(rejection("cartpole:FailureReward=none"),
            "environment 'cartpole': FailureReward=none is not a finite "
            "number");
  EXPECT_EQ(rejection("cartpole:FailureReward=inf"),
            "environment 'cartpole': FailureReward=inf is not a finite number");
  EXPECT_EQ(rejection("cartpole:FailureReward"),
            "environment 'cartpole': 'FailureReward' is not KEY=VALUE");
  EXPECT_EQ(rejection("acrobot:FailureReward=0"),
            "the environment 'acrobot' has no property 'FailureReward'");
  EXPECT_EQ(rejection("cartpole:"), "");
}

TEST(CartPole, UnknownEnvironmentsAreRejected) {
  try {
    makeEnvironment("cartpol");
    FAIL();
  } catch (const brew::Error &error) {
    EXPECT_EQ(error.status(), brew::ExitStatus::Usage);
    EXPECT_STREQ(error.what(),
                 "there is no environment 'cartpol'; did you mean 'cartpole'? "
                 "(known: cartpole, cartpole-v0, cartpole-mycaffe, acrobot)");
  }
}
