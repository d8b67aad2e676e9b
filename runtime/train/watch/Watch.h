//===- Watch.h - What looks after a training run ----------------*- C++ -*-===//
//
// Rules that end it, its logs, and the search for NaN. It listens to the
// session's events; the trainer asks it between iterations.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/session/Session.h"
#include "runtime/train/watch/SolverChangeLog.h"
#include "runtime/train/watch/MetricsLog.h"
#include "runtime/train/watch/NanCheck.h"
#include "runtime/train/watch/StopRule.h"
#include "runtime/train/watch/TensorBoardLog.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

struct WatchOptions {
  /// Look for NaN and Inf in every iteration of solve() and step()
  /// (NanCheck.h).
  bool checkNan = false;
  /// Rules (StopRule.h), each of which ends training when it holds.
  std::vector<std::string> stopWhen = {};
  /// N[:METRIC[:min|:max]]; "": none.
  std::string patience = {};
  /// Folder of metrics.jsonl (MetricsLog.h), changes.hooks (SolverChangeLog.h) and
  /// TensorBoard's event files (TensorBoardLog.h), made if it is not there; "":
  /// none.
  std::string logFolder = {};
};

class Watch {
public:
  /// Throws Error (2) for rules that are none. The session outlives it.
  Watch(Session &session, const WatchOptions &options, int testNets);
  ~Watch();
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;

  /// Training goes on with this iteration. Throws Error (3) if there can be no
  /// logs.
  void startAt(int iteration);

  /// Null unless it was asked for.
  NanCheck *nanCheck() { return nan.get(); }

  /// Ends training as a rule does, unless one has.
  void requestStop(const std::string &reason) { stop(reason); }
  bool hasStopReason() const { return stopReason.has_value(); }
  /// Why training is to end, if a rule holds since the last call.
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
  std::unique_ptr<SolverChangeLog> changes;      ///< for the run's life
  std::optional<event::Display> displayed; ///< waits for its rate
  std::optional<event::Throughput> speed;
  bool hasGradients = false;
};

} // namespace brew::runtime
