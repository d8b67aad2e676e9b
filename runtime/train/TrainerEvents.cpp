//===- TrainerEvents.cpp - Events of a training run -----------------------===//

#include "runtime/train/Trainer.h"

#include "runtime/session/NetOutputs.h"

#include <cmath>

namespace brew::runtime {

double Trainer::secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

void Trainer::emitIteration(int iteration, double loss, double learningRate) {
  events.emit(event::IterationDone{iteration, loss, lossWindow.mean(),
                                   learningRate, secondsSince(stepBegin)});
}

/// Displays an iteration, in separate passes (`passes`) or not.
void Trainer::display(int iteration, bool passes) {
  const double seconds = secondsSince(displayBegin);
  const double perSecond =
      (iteration - lastDisplayed) / (seconds > 0 ? seconds : 1);
  event::Display event{iteration, lossWindow.mean(), seconds,
                       perSecond, solver.display(),  {}};
  // In separate passes, the outputs are only those of the last pass.
  if (!passes)
    event.outputs = readOutputs(executor, trainProgram, trainResults);
  events.emit(event);
  // The number of items in an iteration of the caller is unknown.
  if (iteration > lastDisplayed && !inCallerRun)
    emitThroughput(iteration, perSecond);
  if (iteration != lastDisplayed)
    warnOfStraggler(seconds);
  displayBegin = Clock::now();
  lastDisplayed = iteration;
}

void Trainer::emitProgress(bool last) {
  events.emit(event::Progress{currentIteration, solver.max_iter(),
                              lossWindow.mean(), secondsSince(stepBegin),
                              currentIteration - stepBeginIteration, last,
                              inCallerRun ? 0 : itemsPerIteration()});
}

void Trainer::emitDataStalls() {
  for (const DataPipeline::Stall &stall : pipeline->stalls())
    events.emit(event::DataStall{stall.layer, stall.times, stall.seconds});
  auto percent = [](double fraction) {
    return std::to_string(std::lround(fraction * 100)) + " %";
  };
  constexpr double kMinFraction = 0.005; // smaller values round to 0 %
  for (const DataPipeline::ReaderLoad &load : pipeline->readerLoads()) {
    if (load.waited >= kMinFraction)
      events.emit(event::LogLine{log::Severity::Info, log::site::waitingForData,
                                 "Waiting for data: readers of '" + load.layer +
                                     "' idle " + percent(load.idle) +
                                     ", steps waited " + percent(load.waited)});
    if (load.skipped)
      events.emit(event::LogLine{log::Severity::Warning, log::site::brew,
                                 "data: " + std::to_string(load.skipped) +
                                     " damaged records of '" + load.layer +
                                     "' skipped"});
  }
}

} // namespace brew::runtime
