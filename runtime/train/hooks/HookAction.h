//===- HookAction.h - Actions of hooks --------------------------*- C++ -*-===//
#pragma once

#include "runtime/session/Session.h"
#include "runtime/train/ParameterChanges.h"
#include "runtime/train/TrainerControl.h"
#include "runtime/train/hooks/HookLine.h"
#include "runtime/train/metrics/BestMetric.h"
#include "runtime/train/metrics/MetricValues.h"
#include "runtime/train/metrics/Patience.h"
#include "runtime/train/snapshots/SnapshotWriter.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

/// Test nets that a hook can name individually: ranks exchange them as bits.
inline constexpr int kMaxNamedTestNets = 29;

/// Actions that hooks request from the trainer, which carries them out after
/// the hooks: between two iterations, or after the tests.
struct HookRequests {
  bool snapshot = false;
  std::vector<int> tests; ///< nets
  /// Metrics that have their best value so far.
  std::vector<const BestMetric *> best;
  std::optional<std::string> stop;    ///< the reason
  std::optional<std::string> restore; ///< the path of a solver state
};

/// The part of the trainer that hooks can use.
class TrainerAccess {
public:
  virtual ~TrainerAccess() = default;
  virtual Session &session() = 0;
  virtual TrainerControl &control() = 0;
  /// Returns the current solver.
  virtual const caffe::SolverParameter &solver() const = 0;
  /// Returns whether a learner runs the iterations (MetricScope::hasLearner).
  virtual bool hasLearner() const = 0;
  /// Returns the number of iterations done.
  virtual int iteration() const = 0;
  virtual int trainProgram() const = 0;
  virtual int testProgram(int net) const = 0;
  /// Returns whether this rank has the full solver history between two
  /// iterations: updates are not sharded.
  virtual bool hasAllHistory() const = 0;
  /// Throws Error if snapshots could not be written.
  virtual void requireSnapshots() const = 0;
  /// Returns the last snapshot that the run has written, or the one that it was
  /// resumed from; nullopt without one. Waits until it is on disk.
  virtual std::optional<SnapshotPair> lastSnapshot() = 0;
  /// Returns the metrics whose best values hooks keep.
  virtual std::vector<BestMetric *> bestMetrics() const = 0;
  /// Returns the snapshot of the best value of a metric; nullopt if there is
  /// none yet. Waits for the one that is being written.
  virtual std::optional<SnapshotPair>
  bestSnapshot(const BestMetric &metric) = 0;
  /// Changes parameters on this rank now, on the others before the next
  /// iteration.
  virtual void change(const ParameterChange &change) = 0;
  /// Returns whether hooks may run programs (TrainerOptions::allowCommands).
  virtual bool allowsCommands() const = 0;
  /// Returns whether a source of the training net makes passes over records.
  virtual bool hasEpochs() const = 0;
  /// Returns the completed passes of the first such source.
  virtual std::uint64_t epochs() const = 0;
  /// Runs a test net over its batches and calls `body` after each.
  virtual void forEachTestBatch(int net, const std::function<void()> &body) = 0;
};

/// One call of a hook.
struct HookCall {
  const std::string &name; ///< of the hook; "": an option added it
  HookTrigger trigger;
  int iteration;  ///< iterations done
  double seconds; ///< since training began, in this run
  /// Why its criterion holds; "": it has no criterion.
  const std::string &reason;
  MetricValues &values;
  const TensorStatistics &statistics;
  TrainerAccess &trainer;
  HookRequests &hookRequests;
  bool background;
  bool once; ///< its schedule is due once in a training
};

/// The action of a hook.
class HookAction {
public:
  virtual ~HookAction() = default;
  /// Runs the action on the training thread. May return deferred work, which
  /// takes long and reads nothing that training changes; background hooks run
  /// it on another thread. The work returns lines to log.
  using DeferredWork = std::function<std::vector<std::string>()>;
  virtual DeferredWork run(HookCall &call) = 0;

  /// Returns whether the action does not affect training, so that it may run in
  /// the background.
  virtual bool isReadOnly() const { return false; }
  /// Returns whether the schedule may be "after 0": resumeAt() carries the
  /// action out.
  virtual bool appliesFromBeginning() const { return false; }
  /// Returns whether the action is a caller's function, whose exceptions
  /// propagate.
  virtual bool isCallback() const { return false; }
  /// Returns the metrics that the action reads.
  virtual std::vector<MetricName> metrics() const { return {}; }
  /// Returns whether to call sample() after every iteration.
  virtual bool wantsSamples() const { return false; }
  virtual void sample(const MetricValues &) {}
  /// Returns the parameters whose last update the action measures, beyond those
  /// of metrics().
  virtual std::vector<TensorName> updatesOf() const { return {}; }
  /// Where training starts or resumes.
  struct Resumption {
    int iteration;
    /// The last iteration so far at which the hook was due; nullopt if there is
    /// none, or if the hook counts neither iterations nor epochs.
    std::optional<std::uint64_t> lastDue;
    /// Returns whether the hook has the schedule "after 0" and training begins.
    bool isBeginning() const { return iteration == 0 && lastDue == 0u; }
  };
  /// Restores lasting settings of a hook without a criterion.
  virtual void resumeAt(TrainerAccess &, const Resumption &) {}
  /// Throws TextError if the action does not suit the metrics whose best values
  /// hooks keep.
  virtual void check(const std::vector<BestMetric *> &) const {}
  /// Forgets everything recorded so far, when training starts or resumes after
  /// `iteration` iterations, `seconds` after the run's start.
  virtual void restart(int /*iteration*/, double /*seconds*/) {}
  /// Returns whether the action may request a stop.
  virtual bool mayStop() const { return false; }
  /// Returns the metric whose best value the action tracks, or null.
  virtual BestMetric *best() { return nullptr; }
};

/// Returns the prefix of a hook's log lines: "Iteration 500, NAME: ".
std::string linePrefix(const HookCall &call);
/// Returns deferred work that only logs this line.
HookAction::DeferredWork logLine(std::string line);

/// Parses the words of an action, in a line of `end` bytes.
class ActionWords {
public:
  ActionWords(const std::vector<HookWord> &words, std::size_t end)
      : words(words), end(end) {}

  bool atEnd() const { return at >= words.size(); }
  bool peek(const char *text) const {
    return !atEnd() && !words[at].quoted && words[at].text == text;
  }
  /// Consumes the next word if it is `text`; returns whether it was.
  bool take(const char *text) {
    if (!peek(text))
      return false;
    ++at;
    return true;
  }
  /// Consumes the next word. Throws TextError "expected EXPECTED" at the end.
  const HookWord &next(const std::string &expected) {
    if (atEnd())
      fail("expected " + expected);
    return words[at++];
  }
  void require(const char *text) {
    if (!take(text))
      fail(std::string("expected '") + text + "'" + found());
  }
  int nextNumber(const std::string &expected, int minimum);
  double nextReal(const std::string &expected);
  MetricName nextMetric(const MetricScope &scope);
  RankedMetric nextRankedMetric(const MetricScope &scope);
  /// Throws unless all words are consumed.
  void expectEnd() {
    if (!atEnd())
      fail("expected the end of the action" + found());
  }
  [[noreturn]] void fail(const std::string &problem) const {
    throw TextError{atEnd() ? end : words[at].offset, problem};
  }
  std::string found() const {
    return atEnd() ? "" : ", found '" + words[at].text + "'";
  }

private:
  const std::vector<HookWord> &words;
  std::size_t end, at = 0;
};

/// Context in which actions are created.
struct ActionContext {
  const MetricScope &scope;
  TrainerAccess &trainer;
  /// Folders searched in order for files that a line names.
  std::vector<std::string> folders;
};

/// A caller's function for the action `call`. In the background it is called on
/// another thread.
using HookFunction = std::function<void(const HookCall &)>;

/// Creates the action of a line. Throws TextError, or Error for a file that it
/// reads or writes.
std::unique_ptr<HookAction> makeAction(const HookLine &line,
                                       const ActionContext &context);
/// Returns whether the action with this verb produces a value.
bool producesValue(const std::string &verb);

// The actions of options (OptionHooks.h), too.
std::unique_ptr<HookAction> makeStop();
std::unique_ptr<HookAction> makeSaveBest(RankedMetric metric);
std::unique_ptr<HookAction> makeEarlyStop(Patience patience);

// Each parses the words after its verb.
std::unique_ptr<HookAction> makeStop(ActionWords &words);
std::unique_ptr<HookAction> makeSnapshot(ActionWords &words,
                                         const ActionContext &context);
std::unique_ptr<HookAction> makeLoad(ActionWords &words,
                                     const ActionContext &context);
std::unique_ptr<HookAction> makeRestore(ActionWords &words,
                                        const ActionContext &context);
std::unique_ptr<HookAction> makeClip(ActionWords &words,
                                     const ActionContext &context);
std::unique_ptr<HookAction> makeScale(ActionWords &words,
                                      const ActionContext &context);
std::unique_ptr<HookAction> makeFreeze(ActionWords &words,
                                       const ActionContext &context);
std::unique_ptr<HookAction> makeUnfreeze(ActionWords &words,
                                         const ActionContext &context);
std::unique_ptr<HookAction> makeReinitialise(ActionWords &words,
                                             const ActionContext &context);
std::unique_ptr<HookAction> makePrint(ActionWords &words,
                                      const ActionContext &context);
std::unique_ptr<HookAction> makeRun(ActionWords &words,
                                    const ActionContext &context);
std::unique_ptr<HookAction> makeTest(ActionWords &words,
                                     const ActionContext &context);
std::unique_ptr<HookAction> makeSet(ActionWords &words,
                                    const ActionContext &context);
std::unique_ptr<HookAction> makeSaveBest(ActionWords &words,
                                         const ActionContext &context);
std::unique_ptr<HookAction> makeEarlyStop(ActionWords &words,
                                          const ActionContext &context);
std::unique_ptr<HookAction> makeReport(ActionWords &words,
                                       const ActionContext &context);
std::unique_ptr<HookAction> makeAccumulate(ActionWords &words,
                                           const ActionContext &context);
std::unique_ptr<HookAction> makeReportTime(ActionWords &words,
                                           const ActionContext &context);
std::unique_ptr<HookAction> makeReportProgress(ActionWords &words);
std::unique_ptr<HookAction> makeReportAccuracy(ActionWords &words,
                                               const ActionContext &context);
std::unique_ptr<HookAction> makeReportUpdates(ActionWords &words,
                                              const ActionContext &context);
std::unique_ptr<HookAction> makeMaximise(ActionWords &words,
                                         const ActionContext &context);

} // namespace brew::runtime
