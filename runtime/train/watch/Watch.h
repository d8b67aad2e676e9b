//===- Watch.h - Stop rules, logs and NaN checks ----------------*- C++ -*-===//
//
// Watches a training run: its stop rules, its logs, and the search for NaN.
// Listens to the session's events; the trainer queries it between iterations.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/session/Session.h"
#include "runtime/train/watch/MetricsLog.h"
#include "runtime/train/watch/NanCheck.h"
#include "runtime/train/watch/SolverChangeLog.h"
#include "runtime/train/watch/StopRule.h"
#include "runtime/train/watch/TensorBoardLog.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

struct WatchOptions {
  /// Checks for NaN and Inf in every iteration of solve() and step()
  /// (NanCheck.h).
  bool checkNan = false;
  /// Rules (StopRule.h), each of which ends training when it holds.
  std::vector<std::string> stopWhen = {};
  /// Argument of Patience (StopRule.h): N[:METRIC[:min|:max]]; "": none.
  std::string patience = {};
  /// Folder of metrics.jsonl (MetricsLog.h), changes.hooks (SolverChangeLog.h)
  /// and TensorBoard's event files (TensorBoardLog.h), created if missing; "":
  /// none.
  std::string logFolder = {};
};

/// The stop rules, logs and NaN check of a training run.
class Watch {
public:
  /// Throws Error (2) for invalid rules. The session must outlive this object.
  Watch(Session &session, const WatchOptions &options,
        const MetricScope &scope);
  ~Watch();
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;

  /// Call this when training starts or resumes at `iteration`. Throws Error (3)
  /// if the logs cannot be opened.
  void startAt(int iteration);

  /// Returns null unless WatchOptions::checkNan is set.
  NanCheck *nanCheck() { return nan.get(); }

  /// Ends training as a rule does, unless a rule already holds.
  void requestStop(const std::string &reason) { stop(reason); }
  bool hasStopReason() const { return stopReason.has_value(); }
  /// Returns and clears the reason to end training, if a rule has held since
  /// the last call.
  std::optional<std::string> takeStopReason();

private:
  void onEvent(const Event &event);
  void checkRules();
  void log(const Event &event);
  void stop(const std::string &reason);
  template <typename Body> void writeLogs(Body &&body);

  Session &session;
  std::string logFolder;
  int testNets;
  int listener = -1;
  MetricValues values;
  std::vector<StopRule> rules;
  std::optional<Patience> patience;
  std::optional<std::string> stopReason;
  std::unique_ptr<NanCheck> nan;

  std::unique_ptr<MetricsLog> metrics;
  std::unique_ptr<TensorBoardLog> board;
  std::unique_ptr<SolverChangeLog> changes; ///< kept for the whole run
  std::optional<event::Display> displayed;  ///< waits for its learning rate
  std::optional<event::Throughput> speed;
  bool hasGradients = false;
};

} // namespace brew::runtime
