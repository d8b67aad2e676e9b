//===- HookAction.h - What a hook does --------------------------*- C++ -*-===//
#pragma once

#include "runtime/session/Session.h"
#include "runtime/train/TrainerControl.h"
#include "runtime/train/hooks/HookLine.h"
#include "runtime/train/metrics/BestMetric.h"
#include "runtime/train/metrics/MetricName.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

/// So many test nets can be named: ranks tell each other in bits which.
inline constexpr int kNamedTests = 30;

/// What hooks ask of the trainer, which does it where they are called: between
/// two iterations, or after the tests.
struct HookRequests {
  bool snapshot = false;
  std::vector<int> tests;               ///< nets
  std::vector<const BestMetric *> best; ///< whose value is the best so far
  std::optional<std::string> stop;      ///< why
};

/// What the trainer lets hooks use.
class TrainerAccess {
public:
  virtual ~TrainerAccess() = default;
  virtual Session &session() = 0;
  virtual TrainerControl &control() = 0;
  /// As it holds now.
  virtual const caffe::SolverParameter &solver() const = 0;
  /// Iterations done.
  virtual int iteration() const = 0;
  virtual int trainProgram() const = 0;
  virtual int testProgram(int net) const = 0;
  /// Whether this rank can save all of the solver's history between two
  /// iterations: updates are not sharded.
  virtual bool hasAllHistory() const = 0;
  /// Throws Error where snapshots could not be written.
  virtual void requireSnapshots() const = 0;
  /// Whether sources of the training net make passes over records.
  virtual bool hasEpochs() const = 0;
  /// Of the first of them, those that are complete.
  virtual std::uint64_t epochs() const = 0;
  /// Runs a test net over its batches, and calls `body` after each.
  virtual void forEachTestBatch(int net, const std::function<void()> &body) = 0;
};

/// One call of a hook.
struct HookCall {
  const std::string &name; ///< of the hook
  HookTrigger trigger;
  int iteration;             ///< iterations done
  double seconds;            ///< since training began, in this run
  const std::string &reason; ///< of its criterion; "": it has none
  MetricValues &values;
  TrainerAccess &trainer;
  HookRequests &hookRequests;
  bool background;
};

class HookAction {
public:
  virtual ~HookAction() = default;
  /// Does it, on the training thread. What takes long and looks at nothing that
  /// training changes may be returned, to be called afterwards, of hooks in the
  /// background by another thread; it returns lines to log.
  using DeferredWork = std::function<std::vector<std::string>()>;
  virtual DeferredWork run(HookCall &call) = 0;

  /// Whether it only looks, so that it may finish in the background.
  virtual bool isReadOnly() const { return false; }
  /// Whether it is a program's own function, whose exceptions go to it.
  virtual bool isCallback() const { return false; }
  /// The metrics that it names.
  virtual std::vector<MetricName> metrics() const { return {}; }
  /// Whether sample() is to be called after every iteration.
  virtual bool wantsSamples() const { return false; }
  virtual void sample(const MetricValues &) {}
  /// Whether prepare() is to be called before an iteration after which the hook
  /// is due.
  virtual bool wantsPrepare() const { return false; }
  virtual void prepare(TrainerAccess &) {}
  /// Training goes on with this iteration, which the hook, without a criterion,
  /// was last due before (nothing: it was not): sets what lasts.
  virtual void resumeAt(TrainerAccess &, int, std::optional<std::uint64_t>) {}
  /// Anew: nothing is remembered.
  virtual void restart() {}
  /// What it seeks the best of; null: nothing.
  virtual BestMetric *best() { return nullptr; }
};

/// "Iteration 500, NAME: ", with which a hook's lines begin.
std::string linePrefix(const HookCall &call);
/// Nothing but this line.
HookAction::DeferredWork logLine(std::string line);

/// Reads an action's words in turn, of a line that has `end` bytes.
class ActionWords {
public:
  ActionWords(const std::vector<HookWord> &words, std::size_t end)
      : words(words), end(end) {}

  bool atEnd() const { return at >= words.size(); }
  bool peek(const char *text) const {
    return !atEnd() && !words[at].quoted && words[at].text == text;
  }
  /// Whether the next word is this one, which is taken then.
  bool take(const char *text) {
    if (!peek(text))
      return false;
    ++at;
    return true;
  }
  const HookWord &next(const std::string &expected) {
    if (atEnd())
      fail("expected " + expected);
    return words[at++];
  }
  void require(const char *text) {
    if (!take(text))
      fail(std::string("expected '") + text + "'" + found());
  }
  int nextNumber(const std::string &expected, int least);
  double nextReal(const std::string &expected);
  MetricName nextMetric(const MetricScope &scope);
  /// Throws unless all words are taken.
  void expectEnd() {
    if (!atEnd())
      fail("expected the end of the action" + found());
  }
  [[noreturn]] void fail(const std::string &what) const {
    throw TextError{atEnd() ? end : words[at].offset, what};
  }
  std::string found() const {
    return atEnd() ? "" : ", found '" + words[at].text + "'";
  }

private:
  const std::vector<HookWord> &words;
  std::size_t end, at = 0;
};

/// What actions are made with.
struct ActionContext {
  const MetricScope &scope;
  TrainerAccess &trainer;
  /// Folders of files that a line names, in the order in which they are looked
  /// up.
  std::vector<std::string> folders;
};

/// What calls back does. A call that only looks may come from another thread.
using HookFunction = std::function<void(const HookCall &)>;

/// The action of a line. Throws TextError, or Error for a file that it names
/// or is to write.
std::unique_ptr<HookAction> makeAction(const HookLine &line,
                                       const ActionContext &context);
/// Whether actions of this first word give a value.
bool producesValue(const std::string &verb);

// Each after its verb.
std::unique_ptr<HookAction> makeStop(ActionWords &words);
std::unique_ptr<HookAction> makeSnapshot(ActionWords &words,
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
