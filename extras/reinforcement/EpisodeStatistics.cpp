//===- EpisodeStatistics.cpp - Statistics of episodes ---------------------===//

#include "extras/reinforcement/EpisodeStatistics.h"

#include "extras/reinforcement/SavedCount.h"
#include "runtime/log/Log.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace brew::reinforcement {
namespace {

constexpr std::size_t kRewardWindow = 100; // Gymnasium's evaluation window
constexpr std::size_t kEntropyWindow = 20; // window that detects a collapse
/// Fractions of the maximum entropy: the policy has collapsed below the first,
/// and has recovered above the second.
constexpr double kCollapseFraction = 0.01, kRecoveryFraction = 0.05;

void push(std::deque<double> &window, double value, std::size_t maxSize) {
  window.push_back(value);
  if (window.size() > maxSize)
    window.pop_front();
}

double mean(const std::deque<double> &window) {
  return window.empty() ? 0
                        : std::accumulate(window.begin(), window.end(), 0.0) /
                              static_cast<double>(window.size());
}

} // namespace

EpisodeStatistics::EpisodeStatistics(runtime::Events &sessionEvents,
                                     const caffe::TrainerProperties &properties,
                                     int actions, int displayed)
    : events(&sessionEvents), rewardType(properties.rewardType),
      maxEntropy(std::log(static_cast<double>(actions))), display(displayed) {}

EpisodeStatistics EpisodeStatistics::emptyCopy() const {
  EpisodeStatistics fresh = *this;
  fresh.episodes = fresh.allSteps = 0;
  fresh.runningReward = fresh.maximumReward = 0;
  fresh.rewards.clear();
  fresh.entropies.clear();
  fresh.isCollapsed = false;
  return fresh;
}

double EpisodeStatistics::meanReward() const { return mean(rewards); }
double EpisodeStatistics::meanEntropy() const { return mean(entropies); }

double EpisodeStatistics::displayedReward(double reward) const {
  switch (rewardType) {
  case caffe::TrainerProperties::Reward::Value:
    break;
  case caffe::TrainerProperties::Reward::Average:
    return runningReward;
  case caffe::TrainerProperties::Reward::Maximum:
    return maximumReward;
  }
  return reward;
}

void EpisodeStatistics::add(const EpisodeSummary &episode, int iteration,
                            double loss, double rate) {
  const bool first = episodes == 0;
  ++episodes;
  allSteps += episode.steps;
  runningReward =
      first ? episode.reward : 0.99 * runningReward + 0.01 * episode.reward;
  maximumReward =
      first ? episode.reward : std::max(maximumReward, episode.reward);
  push(rewards, episode.reward, kRewardWindow);
  push(entropies, episode.entropy, kEntropyWindow);
  watchEntropy();
  const bool displayed = display && episodes % display == 0;
  events->emit(
      runtime::event::EpisodeDone{iteration, episode.agent, displayed, episodes,
                                  episode.steps, episode.reward, runningReward,
                                  meanReward(), maximumReward, meanEntropy()});
  if (!displayed)
    return;
  events->info(
      log::site::brew,
      "Episode " + std::to_string(episodes) +
          ", reward = " + log::number(displayedReward(episode.reward)) +
          ", running reward = " + log::number(runningReward) + ", mean of " +
          std::to_string(rewards.size()) + " = " + log::number(meanReward()) +
          ", entropy = " + log::number(meanEntropy()) +
          ", steps = " + std::to_string(allSteps) +
          ", loss = " + log::number(loss) + ", lr = " + log::number(rate));
}

void EpisodeStatistics::watchEntropy() {
  if (entropies.size() < kEntropyWindow)
    return;
  const double fraction = meanEntropy() / maxEntropy;
  if (isCollapsed && fraction > kRecoveryFraction)
    isCollapsed = false;
  if (isCollapsed || fraction > kCollapseFraction)
    return;
  isCollapsed = true;
  events->warning(
      log::site::brew,
      "The policy has collapsed in episode " + std::to_string(episodes) +
          ": over the last " + std::to_string(kEntropyWindow) +
          " its entropy is " + log::number(meanEntropy()) + " of " +
          log::number(maxEntropy) + ", so it hardly explores; mean reward " +
          log::number(meanReward()));
}

std::vector<double> EpisodeStatistics::save() const {
  std::vector<double> values = {double(episodes),        double(allSteps),
                                runningReward,           maximumReward,
                                double(isCollapsed),     double(rewards.size()),
                                double(entropies.size())};
  values.insert(values.end(), rewards.begin(), rewards.end());
  values.insert(values.end(), entropies.begin(), entropies.end());
  return values;
}

void EpisodeStatistics::restore(const std::vector<double> &values) {
  constexpr std::size_t kFixedFields = 7;
  if (values.size() < kFixedFields)
    return;
  const auto rewardCount =
      static_cast<std::size_t>(savedCount(values[5], kRewardWindow));
  const auto entropyCount =
      static_cast<std::size_t>(savedCount(values[6], kEntropyWindow));
  if (values.size() < kFixedFields + rewardCount + entropyCount)
    return;
  const std::int64_t savedEpisodes = savedCount(values[0]),
                     savedSteps = savedCount(values[1]);
  episodes = savedEpisodes;
  allSteps = savedSteps;
  runningReward = values[2];
  maximumReward = values[3];
  isCollapsed = values[4] != 0;
  const auto begin = values.begin() + kFixedFields;
  const auto middle = begin + static_cast<std::ptrdiff_t>(rewardCount);
  rewards.assign(begin, middle);
  entropies.assign(middle, middle + static_cast<std::ptrdiff_t>(entropyCount));
}

} // namespace brew::reinforcement
