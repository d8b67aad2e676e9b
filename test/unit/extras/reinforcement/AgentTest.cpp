//===- AgentTest.cpp - Tests of agents ------------------------------------===//

#include "extras/reinforcement/Agent.h"

#include "support/Error.h"

#include <gtest/gtest.h>

using namespace brew::reinforcement;

namespace {

/// An environment whose observation is 100 + the number of steps; its episodes
/// have three steps.
class Counter : public Environment {
public:
  std::string name() const override { return "counter"; }
  std::int64_t observationCount() const override { return 1; }
  int actionCount() const override { return 2; }
  std::vector<float> low() const override { return {100}; }
  std::vector<float> high() const override { return {104}; }
  void reset(std::uint64_t seed, float *observation) override {
    seeds.push_back(seed);
    *observation = 100;
    steps = 0;
  }
  StepResult step(int action, float *observation) override {
    actions.push_back(action);
    *observation = 100 + static_cast<float>(++steps);
    return {0.5, steps == 3, false};
  }
  std::vector<std::uint64_t> seeds;
  std::vector<int> actions;
  int steps = 0;
};

std::vector<float> seen(const Trajectory &trajectory) {
  std::vector<float> values;
  for (const auto &step : trajectory.steps)
    values.push_back(step.observation[0]);
  return values;
}

struct Player {
  explicit Player(brew::caffe::TrainerProperties chosen,
                  std::int64_t maxSteps = 0)
      : properties(chosen), agent(environment, properties, 1, 0, maxSteps) {}
  Trajectory play(double probability = 0.5) {
    return agent.play(
        [&](const std::vector<float> &) {
          return Distribution{probability, 1 - probability};
        },
        [] { return false; },
        [this](const std::string &line) { lines.push_back(line); });
  }
  brew::caffe::TrainerProperties properties;
  Counter environment;
  Agent agent;
  std::vector<std::string> lines;
};

} // namespace

TEST(Agents, ObserveStatesOrDifferences) {
  brew::caffe::TrainerProperties raw;
  raw.useRawInput = true;
  Player player(raw);
  const Trajectory trajectory = player.play();
  EXPECT_EQ(seen(trajectory), (std::vector<float>{100, 101, 102}));
  EXPECT_EQ(trajectory.end.reward, 1.5);
  EXPECT_EQ(trajectory.end.steps, 3);
  // The first difference is 0; the next episode continues from the last
  // observed state.
  Player differences({});
  EXPECT_EQ(seen(differences.play()), (std::vector<float>{0, 1, 1}));
  EXPECT_EQ(seen(differences.play()), (std::vector<float>{-2, 1, 1}));
}

TEST(Agents, NormalizeByTheEnvironmentsRange) {
  brew::caffe::TrainerProperties properties;
  properties.useRawInput = properties.normalizeInput = true;
  EXPECT_EQ(seen(Player(properties).play()),
            (std::vector<float>{0, 0.25f, 0.5f}));
}

TEST(Agents, DrawByEpisodeAndStep) {
  Player first({}), second({});
  for (int i = 0; i < 3; ++i)
    first.play();
  second.play();
  second.play();
  const std::vector<double> place = second.agent.save();
  Player third({});
  third.agent.restore(place);
  const Trajectory here = second.play(), there = third.play();
  EXPECT_EQ(seen(here), seen(there));
  EXPECT_EQ(first.environment.seeds, second.environment.seeds);
  EXPECT_EQ(first.environment.actions, second.environment.actions);
  EXPECT_EQ(third.environment.seeds.back(), first.environment.seeds.back());
}

/// An empty range cannot be normalized to [0, 1].
TEST(Agents, RejectEmptyRanges) {
  struct Empty : Counter {
    std::vector<float> high() const override { return {100}; }
  } environment;
  brew::caffe::TrainerProperties properties;
  properties.normalizeInput = true;
  EXPECT_THROW(Agent(environment, properties, 1, 0, 0), brew::Error);
  properties.normalizeInput = false;
  EXPECT_NO_THROW(Agent(environment, properties, 1, 0, 0));
}

/// An aborted episode is replayed from its beginning.
TEST(Agents, ContinueAfterACancelledEpisode) {
  Player whole({}), cancelled({});
  whole.play();
  cancelled.play();
  int asked = 0;
  const Trajectory nothing = cancelled.agent.play(
      [](const std::vector<float> &) {
        return Distribution{0.5, 0.5};
      },
      [&] { return asked++ == 2; }, [](const std::string &) {});
  EXPECT_TRUE(nothing.steps.empty());
  EXPECT_EQ(seen(cancelled.play()), seen(whole.play()));
  EXPECT_EQ(cancelled.agent.save(), whole.agent.save());
}

TEST(Agents, RejectDamagedSnapshots) {
  Player player({});
  EXPECT_THROW(player.agent.restore({-1, 0, 0}), brew::Error);
  EXPECT_THROW(player.agent.restore({1e300, 0, 0}), brew::Error);
}

TEST(Agents, TruncateEpisodes) { EXPECT_EQ(Player({}, 2).play().end.steps, 2); }

/// Explored actions have probability 1, so a single logit learns nothing from
/// them.
TEST(Agents, ExploreWithTheGivenProbability) {
  brew::caffe::TrainerProperties properties;
  properties.epsSteps = 1000000;
  properties.epsStart = 1;
  properties.showActionProb = properties.verbose = true;
  Player player(properties);
  int zeros = 0;
  for (int i = 0; i < 200; ++i)
    for (const auto &step : player.play(1).steps) {
      zeros += step.action == 0;
      EXPECT_EQ(step.probabilities[static_cast<std::size_t>(step.action)], 1);
    }
  EXPECT_NEAR(zeros, 300, 50);
  EXPECT_EQ(player.lines.size(), 600u);
}
