//===- EpisodeStatisticsTest.cpp - Tests of averages and collapse ---------===//

#include "extras/reinforcement/EpisodeStatistics.h"
#include "support/Error.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace brew::runtime;
using namespace brew::reinforcement;

namespace {

/// Collects the logged lines.
struct LogRecorder {
  LogRecorder() {
    events.add([this](const Event &event) {
      if (const auto *line = std::get_if<event::LogLine>(&event))
        lines.push_back(line->text);
      if (const auto *episode = std::get_if<event::EpisodeDone>(&event))
        ended.push_back(*episode);
    });
  }
  Events events;
  std::vector<std::string> lines;
  std::vector<event::EpisodeDone> ended;
};

} // namespace

TEST(EpisodeStatistics, RunningRewardMovesByOnePercentPerEpisode) {
  LogRecorder log;
  EpisodeStatistics episodes(log.events, {}, 2, 2);
  episodes.add({0, 10, 10, 0.6}, 3, 0.5, 0.001);
  EXPECT_EQ(episodes.running(), 10);
  EXPECT_TRUE(log.lines.empty());
  episodes.add({0, 30, 30, 0.4}, 3, 0.25, 0.001);
  EXPECT_DOUBLE_EQ(episodes.running(), 0.99 * 10 + 0.01 * 30);
  EXPECT_EQ(episodes.maximum(), 30);
  EXPECT_EQ(episodes.meanReward(), 20);
  EXPECT_EQ(episodes.steps(), 40);
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_EQ(log.lines[0],
            "Episode 2, reward = 30, running reward = 10.2, mean of 2 = 20, "
            "entropy = 0.5, steps = 40, loss = 0.25, lr = 0.001");
  // Every episode is an event.
  ASSERT_EQ(log.ended.size(), 2u);
  EXPECT_FALSE(log.ended[0].displayed);
  const event::EpisodeDone &last = log.ended[1];
  EXPECT_TRUE(last.displayed);
  EXPECT_EQ(last.iteration, 3);
  EXPECT_EQ(last.episodes, 2);
  EXPECT_EQ(last.steps, 30);
  EXPECT_EQ(last.reward, 30);
  EXPECT_EQ(last.meanReward, 20);
  EXPECT_EQ(last.maximumReward, 30);
  EXPECT_EQ(last.entropy, 0.5);
}

TEST(EpisodeStatistics, RewardTypeSelectsTheLoggedReward) {
  for (const auto &[type, expected] :
       {std::pair(brew::caffe::TrainerProperties::Reward::Maximum,
                  "reward = 30,"),
        std::pair(brew::caffe::TrainerProperties::Reward::Average,
                  "reward = 29.8,")}) {
    LogRecorder log;
    brew::caffe::TrainerProperties properties;
    properties.rewardType = type;
    EpisodeStatistics episodes(log.events, properties, 2, 1);
    episodes.add({0, 30, 30, 0.6}, 3, 0, 0);
    episodes.add({0, 10, 10, 0.6}, 3, 0, 0);
    EXPECT_NE(log.lines[1].find(expected), std::string::npos) << log.lines[1];
  }
}

TEST(EpisodeStatistics, CollapseIsReportedOnce) {
  LogRecorder log;
  EpisodeStatistics episodes(log.events, {}, 2, 0);
  for (int i = 0; i < 19; ++i)
    episodes.add({0, 9, 9, 0.001}, 3, 0, 0);
  EXPECT_FALSE(episodes.collapsed());
  for (int i = 0; i < 5; ++i)
    episodes.add({0, 9, 9, 0.001}, 3, 0, 0);
  EXPECT_TRUE(episodes.collapsed());
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_EQ(log.lines[0].find("The policy has collapsed in episode 20: "), 0u)
      << log.lines[0];
  for (int i = 0; i < 20; ++i)
    episodes.add({0, 9, 9, 0.6}, 3, 0, 0);
  EXPECT_FALSE(episodes.collapsed());
  for (int i = 0; i < 20; ++i)
    episodes.add({0, 9, 9, 0}, 3, 0, 0);
  EXPECT_EQ(log.lines.size(), 2u);
}

TEST(EpisodeStatistics, RestoreBringsBackTheSavedState) {
  LogRecorder log;
  EpisodeStatistics first(log.events, {}, 2, 0), second(log.events, {}, 2, 0);
  for (int i = 0; i < 130; ++i)
    first.add({0, i, double(i), 0.5}, 3, 0, 0);
  second.restore(first.save());
  EXPECT_EQ(second.save(), first.save());
  EXPECT_EQ(second.count(), 130);
  EXPECT_EQ(second.meanReward(), first.meanReward());
  second.restore({1, 2, 3}); // too few numbers: ignored
  EXPECT_EQ(second.count(), 130);
}

/// A snapshot may contain arbitrary numbers.
TEST(EpisodeStatistics, DamagedCountsAreRejected) {
  LogRecorder log;
  EpisodeStatistics episodes(log.events, {}, 2, 0);
  episodes.add({0, 9, 9, 0.5}, 3, 0, 0);
  const std::vector<double> intact = episodes.save();
  for (std::size_t position : {0, 1, 5, 6})
    for (double value : {-1.0, 0.5, 1e300, double(NAN), double(INFINITY)}) {
      std::vector<double> damaged = intact;
      damaged[position] = value;
      EXPECT_THROW(episodes.restore(damaged), brew::Error)
          << position << " " << value;
      EXPECT_EQ(episodes.save(), intact);
    }
}
