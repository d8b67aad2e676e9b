//===- AcrobotTest.cpp - Tests of the Acrobot environment -----------------===//

#include "extras/reinforcement/Acrobot.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace brew::reinforcement;

/// The states were recorded from Gymnasium 1.4's Acrobot-v1 in double
/// precision.
TEST(Acrobot, MovesAsInGymnasium) {
  Acrobot::State state = {0.3, -0.4, 0.5, -0.6};
  const struct {
    int action;
    Acrobot::State after;
  } steps[] = {
      {0, {0.365706829666, -0.480466713412, 0.143245861275, -0.185983525062}},
      {2, {0.329404445999, -0.404925831369, -0.498371075560, 0.927883358268}},
      {1, {0.188030426454, -0.157510164653, -0.880906441223, 1.486913853416}},
      {2, {-0.017976028487, 0.191889871631, -1.124264114694, 1.907556005937}},
      {2, {-0.237267090464, 0.561097139138, -1.013786096738, 1.688195002244}},
      {0, {-0.380976745708, 0.774332338325, -0.398433798936, 0.414116503812}},
      {0, {-0.390806272993, 0.721820913848, 0.303429797410, -0.936802412696}},
      {2, {-0.287696650618, 0.471541039050, 0.703977820827, -1.521786565241}}};
  for (const auto &step : steps) {
    state = Acrobot::move(state, step.action);
    for (std::size_t i = 0; i < state.size(); ++i)
      EXPECT_NEAR(state[i], step.after[i], 1e-11) << i;
  }
}

/// At rest, the free end hangs two lengths below the joint. Upright it is two
/// lengths above, and with a folded second link at the height of the joint.
TEST(Acrobot, TheGoalIsOneLengthAboveTheJoint) {
  const double pi = std::acos(-1.0);
  EXPECT_FALSE(Acrobot::isGoal({0, 0, 0, 0}));
  EXPECT_FALSE(Acrobot::isGoal({pi, pi, 0, 0}));
  EXPECT_TRUE(Acrobot::isGoal({pi, 0, 0, 0}));
  EXPECT_FALSE(Acrobot::isGoal({pi, pi / 2 + 0.01, 0, 0}));
  EXPECT_TRUE(Acrobot::isGoal({pi, pi / 2 - 0.01, 0, 0}));
}

/// A torque in the direction of the second link's velocity swings the links up;
/// without a torque the episode is truncated.
TEST(Acrobot, EndsAtTheGoalOrAfterTheMaximumOfSteps) {
  Acrobot acrobot;
  float observation[6];
  auto play = [&](bool pumps, double &reward) {
    acrobot.reset(4, observation);
    reward = 0;
    for (int steps = 1;; ++steps) {
      const StepResult outcome =
          acrobot.step(pumps ? (observation[5] > 0 ? 2 : 0) : 1, observation);
      reward += outcome.reward;
      if (!outcome.ended())
        continue;
      EXPECT_EQ(outcome.terminated, pumps);
      EXPECT_EQ(outcome.truncated, !pumps);
      return steps;
    }
  };
  double reward;
  const int steps = play(true, reward);
  EXPECT_LT(steps, 200);
  EXPECT_EQ(reward, -(steps - 1)); // the last step pays 0
  EXPECT_EQ(play(false, reward), Acrobot::kMaxSteps);
  EXPECT_EQ(reward, -Acrobot::kMaxSteps);
}

TEST(Acrobot, InitialStateDependsOnTheSeed) {
  const auto first = makeEnvironment("acrobot"),
             second = makeEnvironment("acrobot");
  float observations[3][6];
  first->reset(7, observations[0]);
  second->reset(8, observations[1]);
  second->reset(7, observations[2]);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(observations[0][i], observations[2][i]);
  EXPECT_NE(observations[0][1], observations[1][1]);
  EXPECT_LE(std::abs(observations[0][4]), 0.1f);
}
