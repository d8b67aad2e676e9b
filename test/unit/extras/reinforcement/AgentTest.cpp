//===- AgentTest.cpp - Tests of agents ------------------------------------===//

#include "extras/reinforcement/Agent.h"

#include "support/Error.h"

#include <gtest/gtest.h>

using namespace brew::reinforcement;

namespace {

/// An environment whose observation is 100 + the number of steps. Its episodes
/// have three steps with a reward of 0.5 each.
class CountingEnvironment : public Environment {
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

/// Returns the observation of each step.
std::vector<float> observationsOf(const Trajectory &trajectory) {
  std::vector<float> values;
  for (const auto &step : trajectory.steps)
    values.push_back(step.observation[0]);
  return values;
}

/// An agent in a CountingEnvironment, and the lines that it logs. play()'s
/// policy chooses action 0 with the given probability.
struct RecordingPlayer {
  explicit RecordingPlayer(brew::caffe::TrainerProperties chosen,
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
  CountingEnvironment environment;
  Agent agent;
  std::vector<std::string> lines;
};

/// Returns properties with which the inputs depend on the last state.
brew::caffe::TrainerProperties withDifferences() {
  brew::caffe::TrainerProperties properties;
  properties.useRawInput = false;
  return properties;
}

} // namespace

TEST(Agents, FeedStatesOrDifferences) {
  RecordingPlayer player({});
  const Trajectory trajectory = player.play();
  EXPECT_EQ(observationsOf(trajectory), (std::vector<float>{100, 101, 102}));
  EXPECT_EQ(trajectory.end.reward, 1.5);
  EXPECT_EQ(trajectory.end.steps, 3);
  // The first difference is 0. The first difference of the next episode is
  // relative to the last state of the previous one.
  RecordingPlayer differences(withDifferences());
  EXPECT_EQ(observationsOf(differences.play()), (std::vector<float>{0, 1, 1}));
  EXPECT_EQ(observationsOf(differences.play()), (std::vector<float>{-2, 1, 1}));
}

TEST(Agents, NormalizeByTheEnvironmentsRange) {
  brew::caffe::TrainerProperties properties;
  properties.normalizeInput = true;
  EXPECT_EQ(observationsOf(RecordingPlayer(properties).play()),
            (std::vector<float>{0, 0.25f, 0.5f}));
}

TEST(Agents, RandomNumbersDependOnEpisodeAndStep) {
  RecordingPlayer first(withDifferences()), second(withDifferences());
  for (int i = 0; i < 3; ++i)
    first.play();
  second.play();
  second.play();
  const std::vector<double> saved = second.agent.save();
  RecordingPlayer third(withDifferences());
  third.agent.restore(saved);
  const Trajectory continued = second.play(), restored = third.play();
  EXPECT_EQ(observationsOf(continued), observationsOf(restored));
  EXPECT_EQ(first.environment.seeds, second.environment.seeds);
  EXPECT_EQ(first.environment.actions, second.environment.actions);
  EXPECT_EQ(third.environment.seeds.back(), first.environment.seeds.back());
}

/// An empty range cannot be normalized to [0, 1].
TEST(Agents, RejectEmptyRanges) {
  struct Empty : CountingEnvironment {
    std::vector<float> high() const override { return {100}; }
  } environment;
  brew::caffe::TrainerProperties properties;
  properties.normalizeInput = true;
  EXPECT_THROW(Agent(environment, properties, 1, 0, 0), brew::Error);
  properties.normalizeInput = false;
  EXPECT_NO_THROW(Agent(environment, properties, 1, 0, 0));
}

/// A cancelled episode is replayed from its beginning.
TEST(Agents, ReplayACancelledEpisode) {
  RecordingPlayer undisturbed(withDifferences()), cancelled(withDifferences());
  undisturbed.play();
  cancelled.play();
  int checks = 0;
  const Trajectory nothing = cancelled.agent.play(
      [](const std::vector<float> &) {
        return Distribution{0.5, 0.5};
      },
      [&] { return checks++ == 2; }, [](const std::string &) {});
  EXPECT_TRUE(nothing.steps.empty());
  EXPECT_EQ(observationsOf(cancelled.play()),
            observationsOf(undisturbed.play()));
  EXPECT_EQ(cancelled.agent.save(), undisturbed.agent.save());
}

TEST(Agents, RejectDamagedSnapshots) {
  RecordingPlayer player({});
  EXPECT_THROW(player.agent.restore({-1, 0, 0}), brew::Error);
  EXPECT_THROW(player.agent.restore({1e300, 0, 0}), brew::Error);
}

TEST(Agents, TruncateEpisodesAfterMaxSteps) {
  EXPECT_EQ(RecordingPlayer({}, 2).play().end.steps, 2);
}

/// Explored actions are recorded with probability 1, so a policy of one logit
/// learns nothing from them.
TEST(Agents, ExploreWithTheGivenProbability) {
  brew::caffe::TrainerProperties properties;
  properties.epsSteps = 1000000;
  properties.epsStart = 1;
  properties.showActionProb = properties.verbose = true;
  RecordingPlayer player(properties);
  int zeros = 0;
  for (int i = 0; i < 200; ++i)
    for (const auto &step : player.play(1).steps) {
      zeros += step.action == 0;
      EXPECT_EQ(step.probabilities[static_cast<std::size_t>(step.action)], 1);
    }
  // Of 600 explored steps, half choose action 0.
  EXPECT_NEAR(zeros, 300, 50);
  EXPECT_EQ(player.lines.size(), 600u);
}
