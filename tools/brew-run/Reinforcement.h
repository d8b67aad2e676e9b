//===- Reinforcement.h - Training by what a net does -----------------*- C++ -*-===//
#pragma once

#include "Session.h"

#include "tools/monitor/RunMonitor.h"

#include <cstdint>
#include <string>

namespace brew::run {

/// What `brew-run train` takes for reinforcement learning.
struct ReinforcementOptions {
  std::string trainer, properties, environment;
  std::string recorder; ///< a file for pictures of an episode
  std::int64_t episodes = 0, maxSteps = 0, evaluate = 0;

  /// Whether any of it is given.
  bool isRequested() const {
    return !trainer.empty() || !properties.empty() || !environment.empty() ||
           !recorder.empty() || episodes || maxSteps || evaluate;
  }
};

void addReinforcementOptions(CLI::App &command, ReinforcementOptions &options);

/// Learns by the trainer in the environment of that name, as many of them as
/// the learner takes; `page`, which may be null, is errorReported of it. Throws Error
/// (2) for options that say too little or do not fit.
void learn(const ReinforcementOptions &options, Session &session,
           api::Trainer &trainer, monitor::RunMonitor *page);

} // namespace brew::run
