//===- ParallelAgents.h - ParallelAgents on threads of their own ----------------*- C++ -*-===//
//
// PG.MT with several threads: each agent has an environment and a session of
// its own. It plays, gathers gradients and hands them to the thread that is in
// train(), which updates the primary session with them and gives the agent the
// new weights.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "extras/reinforcement/Learner.h"

namespace brew::reinforcement {

class ParallelAgents {
public:
  struct Hooks {
    std::function<bool()> shouldEnd;
    std::function<void(const EpisodeSummary &)> episode;
    /// The primary session has the gradients: the update, given its loss and
    /// where the agents stand.
    std::function<void(double, const std::vector<double> &)> update;
  };
  /// `restored`: what the last update was given, of a snapshot.
  ParallelAgents(runtime::Session &primary, const LearnerOptions &options,
         const caffe::TrainerProperties &properties,
         const std::vector<double> &restored, Hooks hooks);
  ~ParallelAgents();
  /// Returns when `shouldEnd` says so; what an agent throws is thrown here.
  void run();

private:
  struct Worker;
  struct SharedState;
  std::unique_ptr<SharedState> shared;
  std::vector<std::unique_ptr<Worker>> workers;
};

} // namespace brew::reinforcement
