//===- CaffeLog.h - Listener that prints Caffe's log ------------*- C++ -*-===//
#pragma once

#include "runtime/events/Events.h"
#include "runtime/log/Log.h"

#include <chrono>
#include <functional>
#include <string>

namespace brew::runtime {

/// An event listener that prints the lines Caffe would log, in Caffe's order:
/// `session.events().add(CaffeLog())`. By default the lines go to standard
/// error (log::write), with a status line on a terminal.
class CaffeLog {
public:
  using Line =
      std::function<void(log::Severity, log::Site, const std::string &)>;

  CaffeLog();
  /// Passes the lines to `target` instead, without a status line.
  explicit CaffeLog(Line target);

  void operator()(const Event &event);

private:
  void info(log::Site site, const std::string &text) {
    writeLine(log::Severity::Info, site, text);
  }
  void print(const event::LogLine &event);
  void print(const event::SolverSetUp &event);
  void print(const event::NetSetUp &event);
  void print(const event::SeedChosen &event);
  void print(const event::SolverReady &event);
  void print(const event::WeightsLoading &event);
  void print(const event::SnapshotLoading &event);
  void print(const event::SolvingBegin &event);
  void print(const event::IterationDone &) {}
  void print(const event::Display &event);
  void print(const event::Throughput &event);
  void print(const event::LearningRateSet &event);
  void print(const event::GradientsClipped &event);
  void print(const event::Progress &event);
  void print(const event::TestBegin &event);
  void print(const event::TestDone &event);
  void print(const event::TestInterrupted &event);
  void print(const event::SnapshotWriting &event);
  void print(const event::SnapshotDone &) {}
  void print(const event::DataStall &event);
  void print(const event::Paused &event);
  void print(const event::Resumed &event);
  void print(const event::SolverFieldSet &event);
  void print(const event::ParametersChanged &event);
  void print(const event::StoppedByRule &event);
  void print(const event::Reset &event);
  void print(const event::StepTimes &) {}
  void print(const event::EpisodeDone &) {}
  void print(const event::FinalLoss &event);
  void print(const event::SolvingDone &event);

  Line writeLine;
  bool showsStatus;
  std::chrono::steady_clock::time_point lastProgressTime;
};

} // namespace brew::runtime
