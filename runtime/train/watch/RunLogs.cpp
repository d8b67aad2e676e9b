//===- RunLogs.cpp - Logs of a training run -------------------------------===//

#include "runtime/train/watch/RunLogs.h"

#include "support/Error.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace brew::runtime {

RunLogs::RunLogs(Session &trainedSession, std::string folder, int netCount)
    : session(trainedSession), logFolder(std::move(folder)),
      testNets(netCount) {
  if (!logFolder.empty())
    listener = session.events().add([this](const Event &event) {
      values.update(event);
      if (metrics)
        log(event);
    });
}

RunLogs::~RunLogs() {
  if (listener >= 0)
    session.events().remove(listener);
}

/// Runs `body`, which writes to the logs. If that fails, warns and closes the
/// logs; training continues.
template <typename Body> void RunLogs::writeLogs(Body &&body) {
  try {
    body();
  } catch (const Error &error) {
    session.events().post(
        event::LogLine{log::Severity::Warning, log::site::brew,
                       std::string(error.what()) +
                           "; nothing more is logged in '" + logFolder + "'"});
    hasFailed = true;
    metrics.reset();
    board.reset();
  }
}

void RunLogs::startAt(int iteration) {
  hasGradients = false;
  displayed.reset();
  values = MetricValues();
  if (logFolder.empty() || hasFailed)
    return;
  if (!changes)
    return open(iteration);
  // A restart: the folder may be gone.
  writeLogs([&] { open(iteration); });
}

void RunLogs::open(int iteration) {
  std::error_code error;
  std::filesystem::create_directories(logFolder, error);
  if (error)
    throw unavailable("cannot create the folder '" + logFolder +
                      "': " + error.message());
  metrics.reset(); // close the file before it is opened again
  metrics = std::make_unique<MetricsLog>(logFolder, iteration);
  board = std::make_unique<TensorBoardLog>(logFolder, session, iteration);
  if (!changes)
    changes = std::make_unique<SolverChangeLog>(logFolder);
  changes->startAt(iteration);
}

void RunLogs::log(const Event &event) {
  const double seconds =
      values.value({MetricName::Time, 0, "", 0, "", ""}).value_or(0);
  if (const auto *display = std::get_if<event::Display>(&event)) {
    displayed = *display;
    speed.reset();
  } else if (const auto *measured = std::get_if<event::Throughput>(&event)) {
    speed = *measured;
  } else if (const auto *rate = std::get_if<event::LearningRateSet>(&event)) {
    if (!rate->displayed || !displayed)
      return;
    const TrainRow row{*displayed, speed, rate->learningRate, seconds};
    displayed.reset();
    writeLogs([&] {
      metrics->add(row);
      board->add(row);
    });
  } else if (std::holds_alternative<event::IterationDone>(event)) {
    hasGradients = true;
  } else if (const auto *test = std::get_if<event::TestDone>(&event)) {
    writeLogs([&] {
      const TestRow row{*test, seconds};
      metrics->add(row);
      board->add(row);
      if (test->net + 1 == testNets)
        board->addParameters(test->iteration, hasGradients);
    });
  } else if (const auto *episode = std::get_if<event::EpisodeDone>(&event)) {
    if (!episode->displayed)
      return;
    writeLogs([&] {
      const EpisodeRow row{*episode, seconds};
      metrics->add(row);
      board->add(row);
    });
  } else if (const auto *set = std::get_if<event::SolverFieldSet>(&event)) {
    writeLogs([&] { changes->add(set->iteration, set->field, set->value); });
  } else if (const auto *change =
                 std::get_if<event::ParametersChanged>(&event)) {
    writeLogs([&] { changes->addAction(change->iteration, change->action); });
  } else if (const auto *ending = std::get_if<event::StoppedByRule>(&event)) {
    writeLogs([&] { metrics->addStop(ending->iteration, ending->reason); });
  }
}

} // namespace brew::runtime
