//===- Events.h - Events of a session ---------------------------*- C++ -*-===//
//
// A session prints nothing. It emits events, values of the types below, to its
// listeners. Caffe's log is one listener (log/CaffeLog.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"
#include "plan/plan.pb.h"
#include "runtime/log/Log.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace brew::runtime {

/// One element of an output of a net.
struct OutputValue {
  std::string blob;
  double value;
  double lossWeight; ///< 0 for a blob that is not a loss
};

/// Pointers in events are valid during the call of the listener; pointers into
/// the plan are valid for the plan's life.
namespace event {

/// Text without a specific event: from sources, parameters and debug_info. A
/// line of Caffe's log has the site of its statement in Caffe.
struct LogLine {
  log::Severity severity;
  log::Site site;
  std::string text; ///< may have several lines
};

/// A trainer begins its set-up with this solver.
struct SolverSetUp {
  const caffe::SolverParameter *solver;
};

/// A net is set up.
struct NetSetUp {
  enum Role { Training, Test, Other } role;
  const plan::Program *program;
  plan::DataType precision;
  int testNet; ///< number among the solver's test nets; -1: not a test net
};

/// The seed of all random numbers of a trainer.
struct SeedChosen {
  std::uint64_t seed;
};

/// All nets are set up; weights come next.
struct SolverReady {};

/// A weight file is about to be loaded.
struct WeightsLoading {
  std::string file; ///< as passed by the caller
  bool training;    ///< training starts from these weights
};

/// A snapshot is about to be loaded: iteration, history and positions of
/// readers.
struct SnapshotLoading {
  std::string file;
  bool history; ///< false: its weights; true: its history
};

/// Solving begins at `iteration`.
struct SolvingBegin {
  std::string net, learningRatePolicy;
  int iteration, maxIteration;
};

/// The loss of an iteration is known. On a GPU the next iteration may already
/// be running. Emitted for every iteration, displayed or not.
struct IterationDone {
  int iteration;       ///< its number, from 0 on
  double loss;         ///< mean over its batches (iter_size)
  double smoothedLoss; ///< mean over the last average_loss iterations
  double learningRate; ///< of its update
  double seconds;      ///< since the first iteration of this call, or since
                       ///< the first forward pass that the caller controls
};

/// An iteration that the solver's `display` selects.
struct Display {
  int iteration;
  double smoothedLoss;
  double seconds;             ///< since the last displayed iteration
  double iterationsPerSecond; ///< since the last displayed iteration
  int interval;               ///< the solver's `display`
  std::vector<OutputValue> outputs;
};

/// The speed of training. Emitted after each Display except the first of a
/// call.
struct Throughput {
  int iteration;
  /// Items of the first input per second since the last Display; 0 for a net
  /// without inputs.
  double itemsPerSecond;
  double secondsLeft;    ///< of this call, at this speed, tests included
  std::uint64_t waits;   ///< total number of waits for data sources
  double secondsWaiting; ///< total duration of these waits
};

/// The learning rate of the next update. Emitted for displayed iterations and
/// for iterations at which the policy multistep or plateau takes a step.
struct LearningRateSet {
  int iteration;
  double learningRate;
  bool displayed;
  /// The number of steps taken so far, if this iteration took one.
  std::optional<int> newStep;
  bool isPlateau; ///< the policy is plateau, not multistep
  /// Plateau's minimum loss, if displayed, and if it or the step has changed
  /// since the last display.
  std::optional<double> minimumLoss;
};

/// clip_gradients has scaled the gradients.
struct GradientsClipped {
  int iteration;
  double norm, limit, factor;
};

/// The progress of training. Emitted when an iteration was started.
struct Progress {
  int iteration; ///< finished iterations, including the running one
  int maxIteration;
  double smoothedLoss;
  double seconds; ///< since the first iteration of this call
  int iterations; ///< finished in this call
  bool last;      ///< last event of this kind in this call
  double items;   ///< of the first input per iteration; 0: no input
};

struct TestBegin {
  int iteration, net;
};

struct TestDone {
  int iteration, net;
  std::optional<double> loss; ///< with test_compute_loss
  /// Means over the batches; with eval_type "detection" the mean average
  /// precision of each output.
  std::vector<OutputValue> outputs;
  struct ClassScore {
    std::size_t output; ///< its number
    int label;
    double score;
  };
  /// With show_per_class_result: average precisions.
  std::vector<ClassScore> classes = {};
};

/// A stop request interrupted a test, so the test has no results.
struct TestInterrupted {
  int iteration, net;
};

/// A snapshot file is about to be written.
struct SnapshotWriting {
  enum Content { Weights, State } content;
  std::string file;
  bool hdf5;
};

/// A snapshot is complete.
struct SnapshotDone {
  int iteration;
  std::string weights, state; ///< files
};

/// The total number and duration of the waits for a data layer.
struct DataStall {
  std::string layer;
  std::uint64_t times;
  double seconds;
};

/// A request to TrainerControl has been carried out between two iterations.
struct Paused {
  int iteration;
};
struct Resumed {
  int iteration;
};
struct SolverFieldSet {
  int iteration; ///< the first with the new value
  std::string field, value;
};

/// A hook has changed parameters.
struct ParametersChanged {
  int iteration;      ///< the first with the new values
  std::string action; ///< as in a line of hooks: scale "ip1.*" by 0.5
  bool routine;       ///< may happen in every iteration
};

/// A rule or another hook ends training (train/hooks).
struct StoppedByRule {
  int iteration; ///< iterations done
  std::string reason;
};

/// Training restarts from its initial state (TrainerControl::reset).
struct Reset {
  int iteration; ///< the next one
};

/// The times of the steps of an iteration.
struct StepTimes {
  int iteration;
  std::vector<double> seconds; ///< of each step, in order
};

/// An episode of reinforcement learning has ended.
struct EpisodeDone {
  int iteration = 0; ///< updates done
  int agent = 0;
  bool displayed = false;               ///< the solver's `display` selects it
  std::int64_t episodes = 0, steps = 0; ///< in total; of this episode
  double reward = 0;                    ///< of this episode
  double runningReward = 0; ///< exponential average with factor 0.99
  double meanReward = 0;    ///< of the last 100 episodes
  double maximumReward = 0;
  double entropy = 0; ///< of the policy, mean of the last 20 episodes
};

/// The loss after the last update. Emitted at the end of solving if the solver
/// has `display`.
struct FinalLoss {
  int iteration;
  double smoothedLoss;
};

/// Solving has ended.
struct SolvingDone {
  int iteration; ///< iterations done
  bool stopped;  ///< by a request, before max_iter
};

} // namespace event

using Event = std::variant<
    event::LogLine, event::SolverSetUp, event::NetSetUp, event::SeedChosen,
    event::SolverReady, event::WeightsLoading, event::SnapshotLoading,
    event::SolvingBegin, event::IterationDone, event::Display,
    event::LearningRateSet, event::GradientsClipped, event::Progress,
    event::TestBegin, event::TestDone, event::TestInterrupted,
    event::SnapshotWriting, event::SnapshotDone, event::DataStall,
    event::Paused, event::Resumed, event::SolverFieldSet, event::FinalLoss,
    event::SolvingDone, event::Throughput, event::StoppedByRule, event::Reset,
    event::StepTimes, event::EpisodeDone, event::ParametersChanged>;

/// The listeners of one session.
///
/// Listeners are called on the thread that is inside a call on the session, in
/// the order in which they were added. Events of prefetching threads are
/// delayed until then. A listener may call all thread-safe functions
/// (TrainerControl.h) and may read, but not run, the session. Its exceptions
/// propagate out of the call on the session.
class Events {
public:
  using Listener = std::function<void(const Event &)>;

  /// Adds a listener and returns its number for remove(). Throws Error (2) if a
  /// listener calls it.
  int add(Listener listener);
  /// Removes a listener. No-op for an unknown number. Throws Error (2) if a
  /// listener calls it.
  void remove(int listener);

  /// Delivers posted events, then passes `event` to the listeners.
  void emit(const Event &event);
  void log(log::Severity severity, log::Site site, std::string text) {
    emit(event::LogLine{severity, site, std::move(text)});
  }
  void info(log::Site site, std::string text) {
    log(log::Severity::Info, site, std::move(text));
  }
  void warning(log::Site site, std::string text) {
    log(log::Severity::Warning, site, std::move(text));
  }
  void error(log::Site site, std::string text) {
    log(log::Severity::Error, site, std::move(text));
  }

  /// Queues an event for the session's thread. Thread-safe.
  void post(Event event);
  /// Passes the posted events to the listeners.
  void deliver();

private:
  void notify(const Event &event);
  void throwIfNotifying() const;

  std::vector<std::pair<int, Listener>> listeners;
  int nextNumber = 0;
  int notifying = 0; ///< number of running calls of notify()
  std::mutex mutex;  ///< guards `posted`
  std::vector<Event> posted;
};

/// Logs a line if `events` is not null.
inline void info(Events *events, log::Site site, std::string text) {
  if (events)
    events->info(site, std::move(text));
}

} // namespace brew::runtime
