//===- PolicyGradient.h - MyCaffe's trainers PG.* ---------------*- C++ -*-===//
//
// REINFORCE (Williams, "Simple statistical gradient-following algorithms for
// connectionist reinforcement learning", 1992) as MyCaffe has it: the gradient
// of each action's log-probability times the standardised return of its step, summed
// over episodes. docs/reinforcement-learning.md has the formulas.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "extras/reinforcement/Agent.h"
#include "extras/reinforcement/Learner.h"
#include "extras/reinforcement/PolicyNetwork.h"

namespace brew::reinforcement {

class PolicyGradient : public Learner {
public:
  PolicyGradient(runtime::Trainer &trainer, runtime::Session &session,
                 LearnerOptions options, caffe::TrainerProperties properties);

private:
  void run() override;
  void restart() override;
  double evaluateEpisodes(std::int64_t episodes) override;
  void runAlone();
  void update(double loss);

  Policy policy;
  GradientAccumulator passes;
  Agent agent;
};

/// Weighs an episode's steps by their standardised returns and adds them.
void accumulateEpisode(GradientAccumulator &passes, Trajectory &trajectory,
                const caffe::TrainerProperties &properties);

/// Of episodes that were trajectory, those whose reward reaches the share
/// `elitePercent` of the range from the top, best first (PG.MT).
void selectElite(std::vector<Trajectory> &episodes, double elitePercent);

} // namespace brew::reinforcement
