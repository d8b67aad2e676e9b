//===- CaffeLog.cpp - Listener that prints Caffe's log --------------------===//

#include "runtime/caffe_log/CaffeLog.h"

#include "runtime/caffe_log/NetLog.h"
#include "runtime/session/NetOutputs.h"

#include <cmath>

namespace brew::runtime {
namespace {

namespace site = log::site;
using Clock = std::chrono::steady_clock;

std::string text(int value) { return std::to_string(value); }

/// Formats a duration as "1:02:03" or "2:03".
std::string durationText(double seconds) {
  const auto total = static_cast<long long>(seconds + 0.5);
  auto twoDigits = [](long long value) {
    return (value < 10 ? "0" : "") + std::to_string(value);
  };
  std::string tail = twoDigits(total % 60);
  if (total < 3600)
    return std::to_string(total / 60) + ":" + tail;
  return std::to_string(total / 3600) + ":" + twoDigits(total / 60 % 60) + ":" +
         tail;
}

/// Formats an output as "loss = 0.5 (* 1 = 0.5 loss)".
std::string outputText(const OutputValue &output) {
  return output.blob + " = " + log::number(output.value) +
         lossSuffix(output.lossWeight, output.value);
}

} // namespace

CaffeLog::CaffeLog()
    : writeLine(
          [](log::Severity severity, log::Site where, const std::string &text) {
            log::write(severity, where, text);
          }),
      showsStatus(log::hasStatusLine()) {}

CaffeLog::CaffeLog(Line target)
    : writeLine(std::move(target)), showsStatus(false) {}

void CaffeLog::operator()(const Event &event) {
  std::visit([this](const auto &concreteEvent) { print(concreteEvent); },
             event);
}

void CaffeLog::print(const event::LogLine &event) {
  writeLine(event.severity, event.site, event.text);
}

//===----------------------------------------------------------------------===//
// Setup
//===----------------------------------------------------------------------===//

void CaffeLog::print(const event::SolverSetUp &event) {
  info(site::solverParameters,
       "Initializing solver from parameters: \n" + event.solver->DebugString());
}

void CaffeLog::print(const event::NetSetUp &event) {
  const NetLine net = [this](log::Site where, const std::string &text) {
    info(where, text);
  };
  switch (event.role) {
  case event::NetSetUp::Training:
    return logTrainNet(*event.program, event.precision, net);
  case event::NetSetUp::Test:
    return logTestNet(*event.program, event.testNet, event.precision, net);
  case event::NetSetUp::Other:
    return logNet(*event.program, event.precision, net);
  }
}

void CaffeLog::print(const event::SeedChosen &event) {
  info(site::brew, "Random seed: " + std::to_string(event.seed));
}

void CaffeLog::print(const event::SolverReady &) {
  info(site::scaffoldingDone, "Solver scaffolding done.");
}

void CaffeLog::print(const event::WeightsLoading &event) {
  if (event.training)
    info(site::finetune, "Finetuning from " + event.file);
}

void CaffeLog::print(const event::SnapshotLoading &event) {
  if (event.history)
    info(site::restoreHistory, "SGDSolver: restoring history");
  else
    info(site::resume, "Resuming from " + event.file);
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

void CaffeLog::print(const event::SolvingBegin &event) {
  info(site::solving, "Solving " + event.net);
  info(site::ratePolicy, "Learning Rate Policy: " + event.learningRatePolicy);
}

void CaffeLog::print(const event::Display &event) {
  info(site::iteration,
       "Iteration " + text(event.iteration) + " (" +
           log::number(event.iterationsPerSecond) + " iter/s, " +
           log::number(event.seconds) + "s/" + text(event.interval) +
           " iters), loss = " + log::number(event.smoothedLoss));
  int index = 0;
  for (const OutputValue &output : event.outputs)
    info(site::trainOutput,
         "    Train net output #" + text(index++) + ": " + outputText(output));
}

/// The line has its own wording, so that no script mistakes it for one of
/// Caffe's lines.
void CaffeLog::print(const event::Throughput &event) {
  const std::string speed =
      event.itemsPerSecond > 0
          ? "Speed: " + log::number(event.itemsPerSecond) + " images/s, "
          : "";
  info(site::brew, "    " + speed + "ETA " + durationText(event.secondsLeft));
}

void CaffeLog::print(const event::LearningRateSet &event) {
  const std::string iteration = "Status: Iteration " + text(event.iteration);
  if (event.newStep)
    info(event.isPlateau ? site::plateauStep : site::multistep,
         (event.isPlateau ? "Plateau " : "MultiStep ") + iteration +
             ", step = " + text(*event.newStep));
  if (event.minimumLoss)
    info(site::plateauMinimum,
         "Plateau " + iteration +
             ", current minimum_loss = " + log::number(*event.minimumLoss));
  if (event.displayed)
    info(site::learningRate, "Iteration " + text(event.iteration) +
                                 ", lr = " + log::number(event.learningRate));
}

void CaffeLog::print(const event::GradientsClipped &event) {
  info(site::clipping, "Gradient clipping: scaling down gradients (L2 norm " +
                           log::number(event.norm) + " > " +
                           log::number(event.limit) + ") by scale factor " +
                           log::number(event.factor));
}

void CaffeLog::print(const event::Progress &event) {
  if (!showsStatus || event.iterations == 0)
    return;
  // Update at most ten times a second.
  const Clock::time_point now = Clock::now();
  if (!event.last && now - lastProgressTime < std::chrono::milliseconds(100))
    return;
  lastProgressTime = now;
  const double perSecond =
      event.seconds > 0 ? event.iterations / event.seconds : 0;
  std::string status = "iter " + text(event.iteration) + "/" +
                       text(event.maxIteration) + "  loss " +
                       log::number(event.smoothedLoss) + "  " +
                       log::number(std::round(perSecond * 10) / 10) + " it/s";
  if (event.items > 0)
    status +=
        "  " + log::number(std::round(perSecond * event.items)) + " images/s";
  if (perSecond > 0)
    status += "  ETA " +
              durationText((event.maxIteration - event.iteration) / perSecond);
  log::showStatusLine(status);
}

void CaffeLog::print(const event::TestBegin &event) {
  info(site::testing, "Iteration " + text(event.iteration) +
                          ", Testing net (#" + text(event.net) + ")");
}

void CaffeLog::print(const event::TestDone &event) {
  if (event.loss)
    info(site::testNetLoss, "Test loss: " + log::number(*event.loss));
  int index = 0;
  for (const OutputValue &output : event.outputs) {
    for (const event::TestDone::ClassScore &classScore : event.classes)
      if (classScore.output == static_cast<std::size_t>(index))
        info(site::testOutput, "class" + text(classScore.label) + ": " +
                                   log::number(classScore.score));
    info(site::testOutput,
         "    Test net output #" + text(index++) + ": " + outputText(output));
  }
}

void CaffeLog::print(const event::TestInterrupted &) {
  info(site::testInterrupted, "Test interrupted.");
}

void CaffeLog::print(const event::SnapshotWriting &event) {
  const std::string kind = event.hdf5 ? "HDF5 file " : "binary proto file ";
  if (event.content == event::SnapshotWriting::Weights)
    info(event.hdf5 ? site::snapshotHdf5 : site::snapshotBinary,
         "Snapshotting to " + kind + event.file);
  else
    info(event.hdf5 ? site::stateHdf5 : site::stateBinary,
         "Snapshotting solver state to " + kind + event.file);
}

void CaffeLog::print(const event::DataStall &event) {
  info(site::waitingForData, "Waiting for data: layer '" + event.layer +
                                 "' kept training waiting " +
                                 std::to_string(event.times) + " times, " +
                                 log::number(event.seconds) + " s in all");
}

void CaffeLog::print(const event::Paused &event) {
  info(site::brew, "Paused after iteration " + text(event.iteration));
}

void CaffeLog::print(const event::Resumed &event) {
  info(site::brew, "Resumed after iteration " + text(event.iteration));
}

void CaffeLog::print(const event::SolverFieldSet &event) {
  info(site::brew, "From iteration " + text(event.iteration) + " on, " +
                       event.field + " is " + event.value);
}

void CaffeLog::print(const event::ParametersChanged &event) {
  if (!event.routine)
    info(site::brew,
         "After iteration " + text(event.iteration) + ": " + event.action);
}

void CaffeLog::print(const event::StoppedByRule &event) {
  info(site::brew,
       "Stopping after " + text(event.iteration) +
           (event.iteration == 1 ? " iteration: " : " iterations: ") +
           event.reason);
}

void CaffeLog::print(const event::Reset &event) {
  info(site::brew, "Restarting at iteration " + text(event.iteration));
}

void CaffeLog::print(const event::FinalLoss &event) {
  info(site::finalLoss, "Iteration " + text(event.iteration) +
                            ", loss = " + log::number(event.smoothedLoss));
}

void CaffeLog::print(const event::SolvingDone &event) {
  if (showsStatus)
    log::showStatusLine("");
  if (event.stopped)
    info(site::stoppedEarly, "Optimization stopped early.");
  else
    info(site::optimizationDone, "Optimization Done.");
}

} // namespace brew::runtime
