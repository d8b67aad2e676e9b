//===- Learner.h - Trains a net by what it does -----------------*- C++ -*-===//
#pragma once

#include "caffe/TrainerProperties.h"
#include "extras/reinforcement/Environment.h"
#include "extras/reinforcement/EpisodeStatistics.h"
#include "runtime/train/Trainer.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace brew::reinforcement {

struct LearnerOptions {
  /// PG.SIMPLE, PG.ST, PG.MT, PPO or A2C; "": what the properties say.
  std::string trainer;
  /// Over those of the solver.
  std::string properties;
  /// One for each agent (PG.MT), or of those that act side by side (PPO, A2C);
  /// of the others one. They outlive the learner.
  std::vector<Environment *> environments;
  /// Steps after which an episode is cut; 0: never.
  std::int64_t maxSteps = 0;
  /// Called after each episode, on the thread that is in train().
  std::function<void(const EpisodeSummary &, const EpisodeStatistics &)> episode;
};

class Learner {
public:
  virtual ~Learner() = default;

  /// Acts and learns until so many more episodes have ended (0: no limit), the
  /// solver's max_iter updates are done, or a stop is requested.
  void train(std::int64_t episodes);
  /// Plays episodes without learning; mean reward of those that ended before a
  /// stop was requested.
  double evaluate(std::int64_t episodes);
  const EpisodeStatistics &episodes() const { return *log; }

protected:
  Learner(runtime::Trainer &trainer, runtime::Session &session,
          LearnerOptions options, caffe::TrainerProperties properties);

  virtual void run() = 0;
  /// Training begins again: with what setSnapshotState() was given of the snapshot that
  /// it was begun with (`restoredState`), else emptyCopy.
  virtual void restart() = 0;
  virtual double evaluateEpisodes(std::int64_t episodes) = 0;
  /// Whether run() is to return.
  bool shouldEnd();
  /// Whether there are to be no more updates, whatever has been trajectory.
  bool updatesDone();
  /// Whether evaluateEpisodes() is to give up what it plays.
  bool isStopRequested() { return stopped |= trainer.isStopRequested(); }
  /// Likewise run(), which returns.
  bool interrupted() { return isStopRequested() || trainer.control().isResetRequested(); }
  /// Counts an episode and tells of it.
  void reportEpisode(const EpisodeSummary &episode);
  /// After each update of the solver: a snapshot if one is due. Before it, what
  /// goes into snapshots is what setSnapshotState() was given last.
  void afterUpdate();
  void setSnapshotState(std::vector<double> own = {});

  runtime::Trainer &trainer;
  runtime::Session &session;
  LearnerOptions options;
  caffe::TrainerProperties properties;
  std::unique_ptr<EpisodeStatistics> log;
  std::vector<double> restoredState; ///< what setSnapshotState() was given, of a snapshot
  double lastLoss = 0;

private:
  struct Call;
  void restore();

  std::int64_t episodeLimit = 0; ///< of the call; 0: none
  int iterationLimit = 0;        ///< likewise
  bool stopped = false;         ///< by a request, in this call
};

/// The learner that the options or the solver's properties name. Throws Error:
/// (2) for options that make no sense, (1) for a net that is no policy over the
/// environment's actions.
std::unique_ptr<Learner> makeLearner(runtime::Trainer &trainer,
                                     runtime::Session &session,
                                     LearnerOptions options);

/// How many environments the trainer of these options takes side by side,
/// unless the caller has others in mind.
int environmentCount(const runtime::Session &session,
                     const LearnerOptions &options);

} // namespace brew::reinforcement
