//===- ActorCritic.h - PPO and advantage actor-critic -----------*- C++ -*-===//
//
// Proximal policy optimization (Schulman et al., 2017) and its simpler relative
// A2C. Their losses are layers of the net, so an update is one run of the plan.
// The class acts in several environments at once, estimates the advantages and
// sets them as inputs of the net.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "caffe/RandomStream.h"
#include "extras/reinforcement/Learner.h"
#include "extras/reinforcement/PolicyNetwork.h"

namespace brew::reinforcement {

/// Trains a policy and its value function with PPO or A2C.
class ActorCritic : public Learner {
public:
  ActorCritic(runtime::Trainer &trainer, runtime::Session &session,
              LearnerOptions options, caffe::TrainerProperties properties);

  /// Returns the number of environments: the batch size of the test net.
  static int environmentCount(const runtime::Session &session);

private:
  /// An environment and the state of its current episode.
  struct Actor {
    Environment *environment;
    EpisodeSummary end;
    double entropySum = 0;
    std::int64_t episodes = 0;
  };
  /// Observations and actions of several steps of all actors; row = step *
  /// actors + actor.
  struct Rollout;

  void run() override;
  void restart() override;
  Evaluation evaluateEpisodes(std::int64_t episodes) override;
  void restoreState();
  void findBlobs();
  void beginEpisode(std::size_t index);
  void evaluatePolicy(const std::vector<float> &observations);
  void act(Rollout &rollout, std::int64_t step);
  void learn(const Rollout &rollout);
  void feed(const Rollout &rollout, const std::vector<std::size_t> &rows);
  std::vector<double> saveState() const;
  Distribution probabilitiesOf(std::size_t actor) const;

  InferenceProgram inference;
  int program; ///< the training program
  std::string logits, value;
  std::int64_t actionCount = 0, observationCount, batch = 0;
  bool usesOldProbability = false;
  int steps, epochs;
  caffe::RandomStream starts, draws, orders;
  std::vector<Actor> actors;
  std::vector<float> states;               ///< current, of all actors
  std::vector<float> logitRows, valueRows; ///< of the last evaluatePolicy()
  std::uint64_t drawCount = 0, orderCount = 0;
};

} // namespace brew::reinforcement
