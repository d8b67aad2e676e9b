//===- Learning.h - Training by what a net does -----------------*- C++ -*-===//
#pragma once

#include "Session.h"

#include <cstdint>
#include <string>

namespace brew::run {

/// What `brew-run train` takes for reinforcement learning.
struct LearningOptions {
  std::string trainer, properties, environment;
  std::int64_t episodes = 0, maxSteps = 0, evaluate = 0;

  /// Whether any of it is given.
  bool isAsked() const {
    return !trainer.empty() || !properties.empty() || !environment.empty() ||
           episodes || maxSteps || evaluate;
  }
};

void addLearningOptions(CLI::App &command, LearningOptions &options);

/// Learns by the trainer in the environment of that name, as many of them as
/// the learner takes.
void learn(const LearningOptions &options, Session &session,
           api::Trainer &trainer);

} // namespace brew::run
