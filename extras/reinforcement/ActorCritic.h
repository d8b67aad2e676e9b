//===- ActorCritic.h - PPO and advantage actor-critic -----------*- C++ -*-===//
//
// Proximal policy optimization (Schulman et al., 2017) and its simpler relative
// A2C. Their losses are layers of the net, so that an update is one run of the
// plan: this acts in several environments at once, estimates advantages and
// feeds the net with them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "caffe/RandomStream.h"
#include "extras/reinforcement/Learner.h"
#include "extras/reinforcement/PolicyNetwork.h"

namespace brew::reinforcement {

class ActorCritic : public Learner {
public:
  ActorCritic(runtime::Trainer &trainer, runtime::Session &session,
              LearnerOptions options, caffe::TrainerProperties properties);

  /// The rows of the test net, which acts in as many.
  static int environmentCount(const runtime::Session &session);

private:
  /// An environment and where it stands.
  struct Actor {
    Environment *environment;
    EpisodeSummary end;
    double entropySum = 0;
    std::int64_t episodes = 0;
  };
  /// What was seen and done, step by step, of all actors one behind the other.
  struct Rollout;

  void run() override;
  void restart() override;
  double evaluateEpisodes(std::int64_t episodes) override;
  void restoreState();
  void findBlobs();
  void begin(std::size_t actor);
  void evaluatePolicy();
  void act(Rollout &rollout, std::int64_t step);
  void learn(const Rollout &rollout);
  void feed(const Rollout &rollout, const std::vector<std::size_t> &rows);
  std::vector<double> saveState() const;
  Distribution probabilitiesOf(std::size_t actor) const;

  InferenceProgram inference;
  int program; ///< that learns
  std::string logits, value;
  std::int64_t width = 0, observationCount, batch = 0;
  bool usesOldProbability = false;
  int steps, epochs;
  caffe::RandomStream starts, draws, orders;
  std::vector<Actor> actors;
  std::vector<float> states;               ///< of all actors, now
  std::vector<float> logitRows, valueRows; ///< of `states`
  std::uint64_t drawCount = 0, orderCount = 0;
  bool finished = false; ///< a rule of the trainer has ended the last train()
};

} // namespace brew::reinforcement
