//===- RunLogs.h - Logs of a training run -----------------------*- C++ -*-===//
#pragma once

#include "runtime/session/Session.h"
#include "runtime/train/metrics/MetricValues.h"
#include "runtime/train/watch/MetricsLog.h"
#include "runtime/train/watch/SolverChangeLog.h"
#include "runtime/train/watch/TensorBoardLog.h"

#include <memory>
#include <optional>
#include <string>

namespace brew::runtime {

/// Writes the events of a training run to the logs in a folder.
class RunLogs {
public:
  /// `folder` is created if missing; "": no logs. The session must outlive this
  /// object.
  RunLogs(Session &session, std::string folder, int testNets);
  ~RunLogs();
  RunLogs(const RunLogs &) = delete;
  RunLogs &operator=(const RunLogs &) = delete;

  /// Call this when training starts, resumes or restarts at `iteration`. Throws
  /// Error (3) if the logs cannot be opened at the first start. Later failures
  /// are one warning, and nothing more is logged.
  void startAt(int iteration);

private:
  void open(int iteration);
  void log(const Event &event);
  template <typename Body> void writeLogs(Body &&body);

  Session &session;
  std::string logFolder;
  int testNets;
  int listener = -1;
  MetricValues values;

  std::unique_ptr<MetricsLog> metrics;
  std::unique_ptr<TensorBoardLog> board;
  std::unique_ptr<SolverChangeLog> changes; ///< kept for the whole run
  std::optional<event::Display> displayed;  ///< waits for its learning rate
  std::optional<event::Throughput> speed;
  bool hasGradients = false;
  bool hasFailed = false; ///< a log could not be written
};

} // namespace brew::runtime
