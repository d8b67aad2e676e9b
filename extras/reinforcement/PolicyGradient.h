//===- PolicyGradient.h - MyCaffe's trainers PG.* ---------------*- C++ -*-===//
//
// REINFORCE (Williams, "Simple statistical gradient-following algorithms for
// connectionist reinforcement learning", 1992) as MyCaffe has it: the gradient
// of each action's log-chance times the standardised return of its step, summed
// over episodes. docs/reinforcement-learning.md has the formulas.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/learn/Agent.h"
#include "runtime/learn/Learner.h"
#include "runtime/learn/Network.h"

namespace brew::runtime::learn {

class PolicyGradient : public Learner {
public:
  PolicyGradient(Trainer &trainer, Session &session, LearnerOptions options,
                 Properties properties);

private:
  void run() override;
  void beginAgain() override;
  double judge(std::int64_t episodes) override;
  void runAlone();
  void update(double loss);

  Policy policy;
  GradientPasses passes;
  Agent agent;
};

/// Weighs an episode's steps by their standardised returns and adds them.
void addEpisode(GradientPasses &passes, Played &played,
                const Properties &properties);

/// Of episodes that were played, those whose reward reaches the share
/// `elitePercent` of the range from the top, best first (PG.MT).
void keepElite(std::vector<Played> &episodes, double elitePercent);

} // namespace brew::runtime::learn
