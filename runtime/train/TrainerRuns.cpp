//===- TrainerRuns.cpp - Runs whose iterations the caller performs --------===//

#include "runtime/train/Trainer.h"

#include <utility>

namespace brew::runtime {

void Trainer::beginRun() {
  beginSolving();
  beginLoop();
  progress.beginCallerRun();
}

void Trainer::restartRun() {
  restart();
  beginCall();
  progress.beginCallerRun();
  if (ending == Ending::ByHook)
    ending = Ending::Completed;
  if (runHooks(HookTrigger::Reset))
    startSnapshot();
  takeChanges(); // by hooks that apply from the beginning
}

bool Trainer::beginIteration() {
  const int limit = solver.max_iter();
  if (ending == Ending::Requested || hookRequestsStop() ||
      (limit > 0 && state.iteration >= limit))
    return false;
  progress.setEnd(limit);
  if (tests.hasFunction() && lastTested != state.iteration && isTestDue() &&
      (state.iteration > 0 || solver.test_initialization())) {
    testAll();
    if (ending == Ending::Requested || hookRequestsStop())
      return false;
  }
  snapshots.forgetPosition(); // the iteration now begins
  return true;
}

void Trainer::iterate() {
  passes.begin();
  runIteration();
  passes.drainInFlight(); // the caller runs other programs next
  betweenIterations(isDue(solver.snapshot(), state.iteration));
}

void Trainer::endRun() {
  endLoop();
  progress.endCallerRun();
  if (solver.snapshot_after_train() &&
      !isDue(solver.snapshot(), state.iteration))
    snapshot();
  if (ending != Ending::Requested && tests.hasFunction() &&
      lastTested != state.iteration && solver.test_interval() &&
      (ending == Ending::ByHook || isTestDue())) {
    testAll();
    snapshots.finish();
  }
  events.emit(event::SolvingDone{state.iteration, ending == Ending::Requested});
}

void Trainer::leaveRun() { progress.endCallerRun(); }

void Trainer::setTestFunction(TestFunction function) {
  if (!function)
    return tests.setFunction({});
  tests.setFunction([this, function = std::move(function)](int iterations) {
    std::optional<std::vector<OutputValue>> outputs = function(iterations);
    if (!outputs)
      takeStop();
    return outputs;
  });
}

} // namespace brew::runtime
