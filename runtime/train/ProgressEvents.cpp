//===- ProgressEvents.cpp - Events of the progress of training ------------===//

#include "runtime/train/ProgressEvents.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace brew::runtime {
namespace {

double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

} // namespace

void ProgressEvents::beginCall() {
  begin = Clock::now();
  firstIteration = state.iteration;
  if (state.iteration == lastEnd) {
    displayBegin = begin - undisplayed;
  } else {
    displayBegin = begin;
    lastDisplayed = state.iteration;
  }
  inCallerRun = false;
}

void ProgressEvents::endCall() {
  lastEnd = state.iteration;
  undisplayed = Clock::now() - displayBegin;
}

void ProgressEvents::moveFrom(int iteration) {
  firstIteration += state.iteration - iteration;
  displayBegin = Clock::now();
  lastDisplayed = state.iteration;
}

void ProgressEvents::emitIteration(int iteration, double loss,
                                   double learningRate) {
  events.emit(event::IterationDone{iteration, loss, state.losses.mean(),
                                   learningRate, secondsSince(begin)});
}

void ProgressEvents::display(int iteration, std::vector<OutputValue> outputs) {
  const double seconds = secondsSince(displayBegin);
  const double perSecond =
      (iteration - lastDisplayed) / (seconds > 0 ? seconds : 1);
  events.emit(event::Display{iteration, state.losses.mean(), seconds, perSecond,
                             solver.display(), std::move(outputs)});
  // The number of items in an iteration of the caller is unknown.
  if (iteration > lastDisplayed && !inCallerRun && countsItems)
    emitThroughput(iteration, perSecond);
  if (iteration != lastDisplayed)
    warnOfStraggler(seconds);
  displayBegin = Clock::now();
  lastDisplayed = iteration;
}

double ProgressEvents::itemsPerIteration() const {
  const plan::Manifest &manifest = session.manifest();
  const plan::Program &program = manifest.programs(programs.train);
  if (program.data_inputs().empty() ||
      program.data_inputs(0).buffer_indices().empty())
    return 0;
  const plan::Buffer &top = manifest.buffers(
      static_cast<int>(program.data_inputs(0).buffer_indices(0)));
  return top.dims().empty() ? 0
                            : static_cast<double>(top.dims(0)) *
                                  solver.iter_size() * ranks.count();
}

void ProgressEvents::emitThroughput(int iteration, double perSecond) {
  event::Throughput throughput{iteration, perSecond * itemsPerIteration(),
                               std::max(0, end - iteration) / perSecond, 0, 0};
  for (const DataPipeline::Stall &stall :
       session.dataPipeline(programs.train).stalls()) {
    throughput.waits += stall.times;
    throughput.secondsWaiting += stall.seconds;
  }
  events.emit(throughput);
}

void ProgressEvents::warnOfStraggler(double seconds) {
  const std::optional<comm::Straggler> straggler = ranks.takeStraggler(seconds);
  if (!straggler || !ranks.isRoot())
    return;
  char text[128];
  std::snprintf(text, sizeof text,
                "Rank %d is slower than the others, which waited for it %.3g s "
                "of the last %.3g s",
                straggler->rank, straggler->seconds, seconds);
  events.emit(event::LogLine{log::Severity::Warning, log::site::brew, text});
}

void ProgressEvents::emitProgress(bool last) {
  if (!countsItems)
    return;
  events.emit(event::Progress{state.iteration, solver.max_iter(),
                              state.losses.mean(), secondsSince(begin),
                              state.iteration - firstIteration, last,
                              inCallerRun ? 0 : itemsPerIteration()});
}

void ProgressEvents::emitDataStalls() {
  const DataPipeline &pipeline = session.dataPipeline(programs.train);
  for (const DataPipeline::Stall &stall : pipeline.stalls())
    events.emit(event::DataStall{stall.layer, stall.times, stall.seconds});
  auto percent = [](double fraction) {
    return std::to_string(std::lround(fraction * 100)) + " %";
  };
  constexpr double kMinFraction = 0.005; // smaller values round to 0 %
  for (const DataPipeline::ReaderLoad &load : pipeline.readerLoads()) {
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
