//===- TrainerRuns.cpp - Begin and end of training runs -------------------===//

#include "runtime/train/Trainer.h"

namespace brew::runtime {

void Trainer::beginSolving() {
  exchangeChangeFlags();
  takeChanges();
  if (solver.snapshot_after_train() && isRoot())
    probeSnapshotFolder(prefix);
  endedByRule = false;
  watch->takeStopReason();
  events.emit(event::SolvingBegin{executor.manifest().net_name(),
                                  solver.lr_policy(), currentIteration,
                                  solver.max_iter()});
  stopRequested = false;
}

/// Begins the loop of iterations: runs the hooks `at start`.
void Trainer::beginLoop() {
  beginSteps();
  hooksAnywhere = allReduceOr(hooks && !hooks->get().empty(), false) != 0;
  if (runHooks(HookTrigger::Start))
    startSnapshotOnAllRanks();
  exchangeChangeFlags();
  takeChanges();
}

/// Ends the loop of iterations: runs the hooks `at stop`.
void Trainer::endLoop() {
  drainInFlight(0);
  if (runHooks(HookTrigger::Stop))
    startSnapshotOnAllRanks();
  if (hooks)
    hooks->get().finish();
  emitProgress(/*last=*/true);
  emitDataStalls();
  finishSnapshots();
}

//===----------------------------------------------------------------------===//
// Runs whose iterations the caller performs
//===----------------------------------------------------------------------===//

void Trainer::beginRun() {
  beginSolving();
  beginLoop();
  inCallerRun = true;
}

void Trainer::restartRun() {
  restart();
  beginSteps();
  inCallerRun = true;
  endedByRule = false;
  takeChanges(); // by hooks that apply from the beginning
}

bool Trainer::beginIteration() {
  const int limit = solver.max_iter();
  if (stopRequested || stopRuleHolds() ||
      (limit > 0 && currentIteration >= limit))
    return false;
  callEnd = limit;
  if (callerTest && lastTested != currentIteration &&
      isDue(solver.test_interval(), currentIteration) &&
      (currentIteration > 0 || solver.test_initialization())) {
    testAll();
    if (stopRequested || stopRuleHolds())
      return false;
  }
  beforeTests.reset(); // the iteration now begins
  return true;
}

void Trainer::iterate() {
  iterating = true;
  runIteration();
  drainInFlight(0); // the caller runs other programs next
  betweenIterations(isDue(solver.snapshot(), currentIteration));
}

void Trainer::endRun() {
  endLoop();
  inCallerRun = false;
  if (solver.snapshot_after_train() &&
      !isDue(solver.snapshot(), currentIteration))
    snapshot();
  if (!stopRequested && callerTest && lastTested != currentIteration &&
      solver.test_interval() &&
      (endedByRule || isDue(solver.test_interval(), currentIteration))) {
    testAll();
    finishSnapshots();
  }
  events.emit(event::SolvingDone{currentIteration, stopRequested});
}

/// Runs a test of a net by the caller's function.
std::optional<event::TestDone> Trainer::runCallerTest(int net, int iterations) {
  session.prepare(); // the caller reads values derived from weights
  events.emit(event::TestBegin{currentIteration, net});
  const std::optional<std::vector<OutputValue>> outputs =
      callerTest(iterations);
  if (!outputs) {
    takeStop();
    events.emit(event::TestInterrupted{currentIteration, net});
    return {};
  }
  const event::TestDone done{currentIteration, net, {}, *outputs};
  events.emit(done);
  return done;
}

} // namespace brew::runtime
