//===- ParallelAgents.h - Agents on separate threads ------------*- C++ -*-===//
//
// PG.MT with several threads: each agent has its own environment and session.
// It plays, accumulates gradients and hands them to the thread that is in
// train(), which updates the primary session and returns the new weights to the
// agent.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "extras/reinforcement/Learner.h"

namespace brew::reinforcement {

/// Runs agents on their own threads and applies their gradients.
class ParallelAgents {
public:
  struct Hooks {
    std::function<bool()> shouldEnd;
    std::function<void(const EpisodeSummary &)> episode;
    /// Performs the update; the primary session already has the gradients.
    /// Takes the loss and the saved state of all agents.
    std::function<void(double, const std::vector<double> &)> update;
  };
  /// `restored`: the agents' state from a snapshot, as passed to `update`.
  ParallelAgents(runtime::Session &primary, const LearnerOptions &options,
                 const caffe::TrainerProperties &properties,
                 const std::vector<double> &restored, Hooks hooks);
  ~ParallelAgents();
  /// Runs the agents until `shouldEnd` returns true. Rethrows their exceptions.
  void run();

private:
  struct Worker;
  struct SharedState;
  std::unique_ptr<SharedState> shared;
  std::vector<std::unique_ptr<Worker>> workers;
};

} // namespace brew::reinforcement
