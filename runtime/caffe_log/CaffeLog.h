//===- CaffeLog.h - A session's events as Caffe's log -----------*- C++ -*-===//
#pragma once

#include "runtime/log/Log.h"
#include "runtime/events/Events.h"

#include <chrono>
#include <functional>
#include <string>

namespace brew::runtime {

/// A listener that turns events into the lines Caffe would log, in its order:
/// `session.events().add(CaffeLog())`. By default they go to standard error
/// (log::write), with a status line on a terminal.
class CaffeLog {
public:
  using Line =
      std::function<void(log::Severity, log::Site, const std::string &)>;

  CaffeLog();
  /// Lines go to `line` instead, and there is no status line.
  explicit CaffeLog(Line line);

  void operator()(const Event &event);

private:
  void info(log::Site site, const std::string &text) {
    line(log::Severity::Info, site, text);
  }
  void tell(const event::LogLine &event);
  void tell(const event::SolverSetUp &event);
  void tell(const event::NetSetUp &event);
  void tell(const event::SeedChosen &event);
  void tell(const event::SolverReady &event);
  void tell(const event::WeightsLoading &event);
  void tell(const event::SnapshotLoading &event);
  void tell(const event::SolvingBegin &event);
  void tell(const event::IterationDone &) {}
  void tell(const event::Display &event);
  void tell(const event::Throughput &event);
  void tell(const event::LearningRateSet &event);
  void tell(const event::GradientsClipped &event);
  void tell(const event::Progress &event);
  void tell(const event::TestBegin &event);
  void tell(const event::TestDone &event);
  void tell(const event::TestInterrupted &event);
  void tell(const event::SnapshotWriting &event);
  void tell(const event::SnapshotDone &) {}
  void tell(const event::DataStall &event);
  void tell(const event::Paused &event);
  void tell(const event::Resumed &event);
  void tell(const event::SolverFieldSet &event);
  void tell(const event::StoppedByRule &event);
  void tell(const event::Reset &event);
  void tell(const event::StepTimes &) {}
  void tell(const event::FinalLoss &event);
  void tell(const event::SolvingDone &event);

  Line line;
  bool showsStatus;
  std::chrono::steady_clock::time_point progressShown;
};

} // namespace brew::runtime
