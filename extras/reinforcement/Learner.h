//===- Learner.h - Trainers of reinforcement learning -----------*- C++ -*-===//
#pragma once

#include "caffe/TrainerProperties.h"
#include "extras/reinforcement/Environment.h"
#include "extras/reinforcement/EpisodeStatistics.h"
#include "runtime/train/Trainer.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace brew::reinforcement {

struct LearnerOptions {
  /// PG.SIMPLE, PG.ST, PG.MT, PPO or A2C; "": TrainerType of the properties.
  std::string trainer;
  /// Properties that override the solver's.
  std::string properties;
  /// One per agent (PG.MT) or per row of the test net (PPO, A2C); otherwise
  /// one. They must outlive the learner.
  std::vector<Environment *> environments;
  /// As many for tests and evaluate(), in which nothing else plays; empty: the
  /// solver's tests are not run, and evaluate() uses `environments`.
  std::vector<Environment *> testEnvironments;
  /// Steps after which an episode is truncated; 0: never.
  std::int64_t maxSteps = 0;
  /// Called after each episode, on the thread that is in train().
  std::function<void(const EpisodeSummary &, const EpisodeStatistics &)>
      episode;
};

/// The results of episodes without learning.
struct Evaluation {
  std::int64_t episodes = 0; ///< that have ended
  double meanReward = 0, minimumReward = 0, maximumReward = 0, meanSteps = 0;
  void add(double reward, std::int64_t steps);
};

/// Trains a net by acting in environments.
class Learner {
public:
  virtual ~Learner();

  /// Trains until `episodes` more episodes have ended (0: no limit), the
  /// solver's max_iter updates are done, a rule ends training, or a stop is
  /// requested. Hooks, rules, logs, snapshots and, with test environments,
  /// tests work as in any training.
  void train(std::int64_t episodes);
  /// Plays episodes without learning. Returns the results of the episodes that
  /// ended before a stop was requested.
  Evaluation evaluate(std::int64_t episodes);
  const EpisodeStatistics &episodes() const { return *log; }

protected:
  Learner(runtime::Trainer &trainer, runtime::Session &session,
          LearnerOptions options, caffe::TrainerProperties properties);

  /// Acts and learns until shouldEnd() returns true or the trainer stops.
  virtual void run() = 0;
  /// Resets the learner to `restoredState`, which comes from the snapshot that
  /// training started from, or to its initial state if that is empty.
  virtual void restart() = 0;
  /// Plays `episodes` episodes without learning, in
  /// evaluationEnvironments(); fewer if a stop is requested.
  virtual Evaluation evaluateEpisodes(std::int64_t episodes) = 0;
  /// Returns the environments to evaluate in.
  const std::vector<Environment *> &evaluationEnvironments() const {
    return options.testEnvironments.empty() ? options.environments
                                            : options.testEnvironments;
  }
  /// Returns whether run() must return.
  bool shouldEnd();
  /// Returns whether no more updates may run, even if episodes are pending.
  bool updatesDone();
  /// Returns whether evaluateEpisodes() must abort.
  bool isStopRequested() { return stopped |= trainer.isStopRequested(); }
  /// Returns whether run() must abort and return.
  bool interrupted() {
    return isStopRequested() || trainer.control().isResetRequested();
  }
  /// Counts an episode, logs it and calls the caller's function.
  void reportEpisode(const EpisodeSummary &episode);
  /// Begins the next iteration, which may run a test. Call it after each
  /// update.
  void afterUpdate();
  /// Sets the state that the next snapshots contain, besides the statistics.
  void setSnapshotState(std::vector<double> learnerState = {});

  runtime::Trainer &trainer;
  runtime::Session &session;
  LearnerOptions options;
  caffe::TrainerProperties properties;
  std::unique_ptr<EpisodeStatistics> log;
  /// The argument of setSnapshotState(), from a snapshot.
  std::vector<double> restoredState;
  double lastLoss = 0;

private:
  struct Call;
  void restore();
  void beginIteration();
  std::optional<std::vector<runtime::OutputValue>> test(int episodes);

  std::int64_t episodeLimit = 0; ///< of the call; 0: no limit
  bool ended = false;            ///< the trainer has ended this call
  bool stopped = false;          ///< by a request during this call
};

/// Creates the learner that the options or the solver's properties name. Throws
/// Error: (2) for invalid options, (1) for a net that is not a policy over the
/// environment's actions.
std::unique_ptr<Learner> makeLearner(runtime::Trainer &trainer,
                                     runtime::Session &session,
                                     LearnerOptions options);

/// Returns how many environments the trainer of these options needs.
int environmentCount(const runtime::Session &session,
                     const LearnerOptions &options);

} // namespace brew::reinforcement
