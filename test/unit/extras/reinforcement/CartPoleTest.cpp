//===- CartPoleTest.cpp - A pole on a cart --------------------------------===//

#include "extras/reinforcement/CartPole.h"
#include "support/Error.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace brew::reinforcement;

namespace {

/// Steps that always push to one side until the episode ends.
int stepsOf(const std::string &name, int action, StepResult &last) {
  const auto environment = makeEnvironment(name);
  float observation[4];
  environment->reset(1, observation);
  for (int steps = 1;; ++steps)
    if (last = environment->step(action, observation); last.ended())
      return steps;
}

} // namespace

/// Recorded from Gymnasium 1.4's CartPole-v1 in double precision, with the
/// first row as the initial state.
TEST(CartPole, MovesAsGymnasiumsDoes) {
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

TEST(CartPole, BeginsNearTheMiddleBySeed) {
  const auto environment = makeEnvironment("cartpole");
  float first[4], again[4], other[4];
  environment->reset(7, first);
  environment->reset(8, other);
  environment->reset(7, again);
  bool differs = false;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(first[i], again[i]);
    EXPECT_LE(std::abs(first[i]), 0.05f);
    differs |= first[i] != other[i];
  }
  EXPECT_TRUE(differs);
}

/// Pushed to one side, the pole falls within ten steps, at 20 degrees later
/// than at 12, and the last step has the same reward.
TEST(CartPole, EndsWhereThePoleHasFallen) {
  StepResult last;
  const int twelve = stepsOf("cartpole", 1, last);
  EXPECT_TRUE(last.terminated);
  EXPECT_FALSE(last.truncated);
  EXPECT_EQ(last.reward, 1);
  EXPECT_GE(twelve, 8);
  EXPECT_LE(twelve, 11);
  EXPECT_GT(stepsOf("cartpole-mycaffe", 1, last), twelve);
}

/// A simple policy (push in the direction of the fall) lasts until truncation.
TEST(CartPole, IsTruncatedAfterItsSteps) {
  for (const auto &[name, most] :
       {std::pair("cartpole", 500), std::pair("cartpole-v0", 200)}) {
    const auto environment = makeEnvironment(name);
    float seen[4];
    environment->reset(3, seen);
    int steps = 0;
    StepResult last;
    while (!last.ended() && steps < 600) {
      last = environment->step(seen[2] + seen[3] > 0, seen);
      ++steps;
    }
    EXPECT_TRUE(last.truncated) << name;
    EXPECT_EQ(steps, most) << name;
  }
}

/// MyCaffe's step returns the state before the step.
TEST(CartPole, MyCaffesShowsTheStateBefore) {
  const auto ours = makeEnvironment("cartpole"),
             theirs = makeEnvironment("cartpole-mycaffe");
  float now[4], before[4], previous[4];
  ours->reset(5, now);
  theirs->reset(5, before);
  for (int step = 0; step < 4; ++step) {
    std::copy(now, now + 4, previous);
    ours->step(step % 2, now);
    theirs->step(step % 2, before);
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(before[i], previous[i]);
  }
}

TEST(CartPole, UnknownEnvironmentsAreNamed) {
  try {
    makeEnvironment("cartpol");
    FAIL();
  } catch (const brew::Error &error) {
    EXPECT_EQ(error.status(), brew::ExitStatus::Usage);
    EXPECT_STREQ(error.what(),
                 "there is no environment 'cartpol'; did you mean 'cartpole'? "
                 "(known: cartpole, cartpole-v0, cartpole-mycaffe)");
  }
}
