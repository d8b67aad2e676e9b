//===- ProgressEvents.h - Events of the progress of training ----*- C++ -*-===//
#pragma once

#include "runtime/session/Session.h"
#include "runtime/train/Collectives.h"
#include "runtime/train/TrainingPrograms.h"
#include "runtime/train/TrainingState.h"

#include <chrono>
#include <vector>

namespace brew::runtime {

/// Emits the events of a training run's progress: iterations, displays and
/// speed.
class ProgressEvents {
public:
  /// `countsItems`: iterations run the plan's training program, whose inputs
  /// tell the number of items; else there are no events of speed and progress.
  /// The other arguments must outlive this object.
  ProgressEvents(Session &session, const caffe::SolverParameter &solver,
                 const TrainingPrograms &programs, const TrainingState &state,
                 Collectives &ranks, bool countsItems)
      : session(session), events(session.events()), solver(solver),
        programs(programs), state(state), ranks(ranks),
        countsItems(countsItems) {}

  /// Call this when a call starts to train. If it continues at the iteration
  /// where the last call ended, displays count the iterations and the time of
  /// both calls.
  void beginCall();
  /// Call this when the call ends.
  void endCall();
  /// Call this when training has gone from `iteration` to another one, within a
  /// call: the time and the number of iterations go on.
  void moveFrom(int iteration);
  /// Call this after beginCall() if the caller performs the iterations of a run
  /// (Trainer::beginRun()), and when the run ends.
  void beginCallerRun() { inCallerRun = true; }
  void endCallerRun() { inCallerRun = false; }
  bool isCallerRun() const { return inCallerRun; }
  /// Call this when an iteration in separate passes begins. In a run, times
  /// count from the begin of the run.
  void beginIteration() {
    if (!inCallerRun)
      begin = Clock::now();
  }
  /// Sets the iteration at which the call ends.
  void setEnd(int iteration) { end = iteration; }

  void emitIteration(int iteration, double loss, double learningRate);
  /// Emits the loss of an iteration, the speed, and a warning about the rank
  /// that kept the others waiting. `outputs`: of its last batch; none in
  /// separate passes.
  void display(int iteration, std::vector<OutputValue> outputs);
  void emitProgress(bool last);
  void emitDataStalls();
  /// Returns the iteration of the last display.
  int lastDisplay() const { return lastDisplayed; }

private:
  using Clock = std::chrono::steady_clock;

  void emitThroughput(int iteration, double iterationsPerSecond);
  double itemsPerIteration() const;
  void warnOfStraggler(double seconds);

  Session &session;
  Events &events;
  const caffe::SolverParameter &solver;
  const TrainingPrograms &programs;
  const TrainingState &state;
  Collectives &ranks;
  const bool countsItems;
  Clock::time_point begin, displayBegin;
  bool inCallerRun = false;
  int firstIteration = 0; ///< of the call
  int lastDisplayed = 0;
  int lastEnd = -1;              ///< iteration where the last call ended
  Clock::duration undisplayed{}; ///< time of that call after its last display
  int end = 0;                   ///< iteration at which the call ends
};

} // namespace brew::runtime
