//===- PolicyGradient.h - MyCaffe's trainers PG.* ---------------*- C++ -*-===//
//
// REINFORCE (Williams, "Simple statistical gradient-following algorithms for
// connectionist reinforcement learning", 1992) as in MyCaffe: the gradient of
// each action's log probability times the (standardised) return of its step,
// summed over episodes. docs/reinforcement-learning.md has the formulas.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "extras/reinforcement/Agent.h"
#include "extras/reinforcement/Learner.h"
#include "extras/reinforcement/PolicyNetwork.h"

namespace brew::reinforcement {

/// Trains a policy with PG.SIMPLE, PG.ST or PG.MT.
class PolicyGradient : public Learner {
public:
  PolicyGradient(runtime::Trainer &trainer, runtime::Session &session,
                 LearnerOptions options, caffe::TrainerProperties properties);

private:
  void run() override;
  void restart() override;
  Evaluation evaluateEpisodes(std::int64_t episodes) override;
  void runSingleAgent();
  void update(double loss);

  Policy policy;
  GradientAccumulator accumulator;
  Agent agent;
};

/// Adds an episode's steps with their returns as advantages, standardised if
/// the properties say so.
void accumulateEpisode(GradientAccumulator &accumulator, Trajectory &trajectory,
                       const caffe::TrainerProperties &properties);

/// Keeps the episodes whose reward lies in the top `elitePercent` (0 to 1) of
/// the range of rewards, best first (PG.MT).
void selectElite(std::vector<Trajectory> &episodes, double elitePercent);

} // namespace brew::reinforcement
