//===- Events.h - What a session tells its caller ---------------*- C++ -*-===//
//
// A session prints nothing: what happens is told as events, values of the types
// below, to the listeners that were added to it. Caffe's log is one listener
// (log/CaffeLog.h).
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

/// One element of one of a net's outputs.
struct OutputValue {
  std::string blob;
  double value;
  double lossWeight; ///< 0 for a blob that is no loss
};

/// Pointers in events are valid during the call of the listener; what they
/// point to in the plan, for the plan's life.
namespace event {

/// Text that has no event of its own: what sources, parameters and debug_info
/// say. A line of Caffe's has the site of its statement there.
struct LogLine {
  log::Severity severity;
  log::Site site;
  std::string text; ///< may have several lines
};

/// A trainer begins to set itself up with this solver.
struct SolverSetUp {
  const caffe::SolverParameter *solver;
};

/// A net is set up.
struct NetSetUp {
  enum Role { Training, Test, Other } role;
  const plan::Program *program;
  plan::DataType precision;
  int testNet; ///< its number among the solver's test nets; -1: it is none
};

/// What a trainer draws all its random numbers from.
struct SeedChosen {
  std::uint64_t seed;
};

/// All nets are set up; weights come next.
struct SolverReady {};

/// A weight file is about to be loaded.
struct WeightsLoading {
  std::string file; ///< as it was given
  bool training;    ///< to train from
};

/// A snapshot is about to be loaded: iteration, history and readers.
struct SnapshotLoading {
  std::string file;
  bool history; ///< false: first its weights; true: now its history
};

/// Solving begins at `iteration`.
struct SolvingBegin {
  std::string net, learningRatePolicy;
  int iteration, maxIteration;
};

/// An iteration's loss is known. On a device that may be while the next one
/// runs. Comes for every iteration, displayed or not.
struct IterationDone {
  int iteration;       ///< its number, from 0 on
  double loss;         ///< mean over its batches (iter_size)
  double smoothedLoss; ///< mean over the last average_loss iterations
  double learningRate; ///< of its update
  double seconds;      ///< since the first iteration of this call; in the
                       ///< caller's hands, since its own first forward pass
};

/// An iteration that the solver's `display` asks to show.
struct Display {
  int iteration;
  double smoothedLoss;
  double seconds;             ///< since the last one shown
  double iterationsPerSecond; ///< likewise
  int interval;               ///< the solver's `display`
  std::vector<OutputValue> outputs;
};

/// How fast training is, after a Display that is not the first of a call.
struct Throughput {
  int iteration;
  /// Items of the first input that were trained with, since the last Display;
  /// 0 for a net without one.
  double itemsPerSecond;
  double secondsLeft;  ///< of this call, at this speed, tests included
  std::uint64_t waits; ///< how often sources have kept training waiting, in all
  double secondsWaiting; ///< and how long
};

/// The rate of the update to come. Comes for iterations that are displayed and
/// for those where the policy multistep takes a step.
struct LearningRateSet {
  int iteration;
  double learningRate;
  bool displayed;
  /// Of multistep: the steps taken, if this iteration took one.
  std::optional<int> newStep;
};

/// clip_gradients had something to do.
struct GradientsClipped {
  int iteration;
  double norm, limit, factor;
};

/// An iteration was started: how far training has come.
struct Progress {
  int iteration; ///< iterations done, the one that still runs included
  int maxIteration;
  double smoothedLoss;
  double seconds; ///< since the first iteration of this call
  int iterations; ///< done in this call
  bool last;      ///< no more are coming in this call
  double items;   ///< of the first input in an iteration; 0: there is none
};

struct TestBegin {
  int iteration, net;
};

struct TestDone {
  int iteration, net;
  std::optional<double> loss; ///< with test_compute_loss
  /// Means over the batches; with eval_type "detection" each output's mean
  /// average precision.
  std::vector<OutputValue> outputs;
  struct ClassScore {
    std::size_t output; ///< its number
    int label;
    double score;
  };
  /// With show_per_class_result: average precisions.
  std::vector<ClassScore> classes = {};
};

/// A stop was requested during a test: it has no results.
struct TestInterrupted {
  int iteration, net;
};

/// A file of a snapshot is about to be written.
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

/// How often and how long a feed kept training waiting, in all.
struct DataStall {
  std::string layer;
  std::uint64_t times;
  double seconds;
};

/// A request of Control has been carried out between two iterations.
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

/// A rule ends training (train/watch/StopRule.h).
struct StoppedByRule {
  int iteration; ///< iterations done
  std::string reason;
};

/// Training begins again as it was begun (TrainerControl::reset).
struct Reset {
  int iteration; ///< the next one
};

/// An iteration that was run with a clock at each step of its program.
struct StepTimes {
  int iteration;
  std::vector<double> seconds; ///< of each step, in order
};

/// The loss after the last update, which solving shows with `display`.
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

using Event =
    std::variant<event::LogLine, event::SolverSetUp, event::NetSetUp,
                 event::SeedChosen, event::SolverReady, event::WeightsLoading,
                 event::SnapshotLoading, event::SolvingBegin,
                 event::IterationDone, event::Display, event::LearningRateSet,
                 event::GradientsClipped, event::Progress, event::TestBegin,
                 event::TestDone, event::TestInterrupted,
                 event::SnapshotWriting, event::SnapshotDone, event::DataStall,
                 event::Paused, event::Resumed, event::SolverFieldSet,
                 event::FinalLoss, event::SolvingDone, event::Throughput,
                 event::StoppedByRule, event::Reset, event::StepTimes>;

/// The listeners of one session.
///
/// Listeners are called on the thread that is inside a call on the session, one
/// after the other, in the order in which they were added. What threads that
/// read ahead have to say waits until then. A listener may call whatever is
/// for any thread (TrainerControl.h) and read, but not run, the session. What it
/// throws comes out of the call on the session.
class Events {
public:
  using Listener = std::function<void(const Event &)>;

  /// Adds a listener; returns what remove() takes. Throws Error (2) when a
  /// listener calls it.
  int add(Listener listener);
  /// Takes it away; a no-op for another number. Throws Error (2) when a
  /// listener calls it.
  void remove(int listener);
  /// Whether anybody listens, so that what is costly to find out is worth it.
  bool hasListeners() const { return !listeners.empty(); }

  /// Tells the listeners, what was posted first.
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

  /// Keeps an event for the session's thread. From any thread.
  void post(Event event);
  /// Tells the listeners what was posted.
  void deliver();

private:
  void notify(const Event &event);
  void refuseWhileNotifying() const;

  std::vector<std::pair<int, Listener>> listeners;
  int nextNumber = 0;
  int notifying = 0;  ///< calls of notify() that are under way
  std::mutex mutex; ///< of `posted`
  std::vector<Event> posted;
};

/// Whoever has something to say may have nobody to notify it to.
inline void info(Events *events, log::Site site, std::string text) {
  if (events)
    events->info(site, std::move(text));
}

} // namespace brew::runtime
