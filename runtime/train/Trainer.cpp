//===- Trainer.cpp - Caffe's solver loop over a plan ----------------------===//

#include "runtime/train/Trainer.h"

#include "runtime/train/RankExchange.h"
#include "support/Error.h"

#include <limits>
#include <utility>

namespace brew::runtime {

//===----------------------------------------------------------------------===//
// The solver's loop
//===----------------------------------------------------------------------===//

void Trainer::beginSolving() {
  requests.exchangeChangeFlags();
  takeChanges();
  if (solver.snapshot_after_train())
    snapshots.reserve();
  ending = Ending::Completed;
  hooks->takeStopReason();
  events.emit(event::SolvingBegin{session.manifest().net_name(),
                                  solver.lr_policy(), state.iteration,
                                  solver.max_iter()});
  hooks->run(HookTrigger::Solve, state.iteration);
}

void Trainer::solve() {
  const SnapshotPeriod period(*this);
  passes.requireNoOutputGradients();
  beginSolving();
  if (state.iteration && state.iteration >= solver.max_iter())
    events.warning(log::site::solving,
                   "no iteration is left to train: the state is that of "
                   "iteration " +
                       std::to_string(state.iteration) + ", and max_iter is " +
                       std::to_string(solver.max_iter()));
  runTo([this] { return solver.max_iter(); });

  if (solver.snapshot_after_train() &&
      !isDue(solver.snapshot(), state.iteration))
    snapshot();
  if (ending == Ending::Requested) {
    events.emit(event::SolvingDone{state.iteration, /*stopped=*/true});
    return;
  }
  // Run one more forward pass, only to show the loss after the last update.
  // Snapshots of the final test continue from before this pass.
  if (isDue(solver.display(), state.iteration)) {
    snapshots.rememberPosition();
    passes.runFinalPass();
    events.emit(event::FinalLoss{state.iteration, state.losses.mean()});
  }
  // A rule may have ended training at any iteration, perhaps because of this
  // iteration's test.
  if (ending == Ending::ByHook
          ? solver.test_interval() && lastTested != state.iteration
          : isTestDue())
    testAll();
  snapshots.finish();
  events.emit(event::SolvingDone{state.iteration, /*stopped=*/false});
}

void Trainer::step(int iterations) {
  const SnapshotPeriod period(*this);
  passes.requireNoOutputGradients();
  ending = Ending::Completed;
  hooks->takeStopReason(); // a reason left by a test since the last call
  const int end = iterations < std::numeric_limits<int>::max() - state.iteration
                      ? state.iteration + iterations
                      : std::numeric_limits<int>::max();
  runTo([end] { return end; });
}

void Trainer::beginCall() {
  passes.drainInFlight(); // runs left by a failed call
  passes.discard();
  if (!std::exchange(lossesRestored, false))
    state.losses.clear();
  progress.beginCall();
}

/// Begins the loop of iterations: runs the hooks `at start`.
void Trainer::beginLoop() {
  beginCall();
  hooks->beginCall();
  if (runHooks(HookTrigger::Start))
    startSnapshot();
  requests.exchangeChangeFlags();
  takeChanges();
}

/// Trains until the iteration that `end` returns, a rule or a request.
void Trainer::runTo(const std::function<int()> &end) {
  if (solver.snapshot())
    snapshots.reserve();
  beginLoop();
  struct EndAtExit {
    Iteration &passes;
    ~EndAtExit() { passes.end(); }
  } const scope{passes};
  while (true) {
    if (resetIfRequested() || restoreIfRequested())
      takeChanges(); // by hooks that apply from the beginning
    if (hookRequestsStop() || state.iteration >= end())
      break;
    progress.setEnd(end());
    passes.begin();
    if (isTestDue() && (state.iteration > 0 || solver.test_initialization())) {
      testAll();
      if (ending == Ending::Requested || hookRequestsStop())
        break;
      if (!stateToRestore.empty())
        continue;
    }
    runIteration();
    if (!betweenIterations(isDue(solver.snapshot(), state.iteration)))
      break;
  }
  endLoop();
}

/// Ends the loop of iterations: runs the hooks `at stop`.
void Trainer::endLoop() {
  passes.drainInFlight();
  if (runHooks(HookTrigger::Stop))
    startSnapshot();
  restoreIfRequested();
  hooks->finish();
  progress.emitProgress(/*last=*/true);
  progress.emitDataStalls();
  progress.endCall();
  snapshots.finish();
}

/// Performs an iteration, except for the work between two iterations.
void Trainer::runIteration() {
  iterationBegins();
  passes.selectMode(/*timed=*/trainerControl.takeStepTimes());
  if (passes.overlapsUpdate()) {
    passes.runOverlapped();
  } else {
    const double loss = passes.computeGradients();
    requireFinite(loss);
    passes.applyGradients(loss);
  }
  progress.emitProgress(/*last=*/false);
}

/// Call this before an iteration reads records.
void Trainer::iterationBegins() {
  snapshots.forgetPosition();
  hooks->beforeIteration(state.iteration);
  parameterChanges.rememberFrozen();
}

/// Begins an iteration in separate passes. All ranks must call it.
void Trainer::beginSeparateIteration() {
  takeChanges();
  // Hooks may have been added since the last iteration.
  hooks->beginCall();
  hooks->share({});
  progress.beginIteration();
  iterationBegins();
}

/// Ends training before the update if the loss or a gradient is not finite on
/// any rank.
void Trainer::requireFinite(double loss) {
  if (!nan || !ranks->allReduceOr(nan->foundNonFinite(loss)))
    return;
  ranks->setReducesInSteps(false); // each rank checks its own gradients
  const NanCheck::Finding finding =
      earliestFinding(nan->find(solver.iter_size()), *ranks);
  passes.discard();
  std::string text =
      "iteration " + std::to_string(state.iteration) + ": " + finding.text;
  if (!finding.inParameters && solver.snapshot_after_train()) {
    try {
      snapshot();
      text += "; the snapshot contains the state before the iteration";
    } catch (const Error &error) {
      text += std::string("; there is no snapshot: ") + error.what();
    }
  }
  throw ranks->collectiveError(badInput(text));
}

/// Returns whether a hook ends the call before the next iteration. Emits
/// StoppedByRule for the first request. All ranks must call it: the hooks of
/// rank 0 end training on all ranks.
bool Trainer::hookRequestsStop() {
  if (ending == Ending::ByHook)
    return true;
  if (!hooks->mayStop() || !ranks->allReduceOr(hooks->hasStopReason()))
    return false;
  passes.drainInFlight();
  if (const std::optional<std::string> reason = hooks->takeStopReason())
    events.emit(event::StoppedByRule{state.iteration, *reason});
  ending = Ending::ByHook;
  return true;
}

//===----------------------------------------------------------------------===//
// Separate passes
//===----------------------------------------------------------------------===//

double Trainer::forward(bool feed) {
  if (options.callerNets)
    throw Error(ExitStatus::Usage, "the caller runs the passes of its nets");
  passes.drainInFlight();
  if (!passes.hasBegun()) {
    passes.discard(); // a failed step() may have left one
    requests.exchangeChangeFlags();
    beginSeparateIteration();
    passes.begin();
  }
  return passes.forward(feed);
}

void Trainer::useCallerGradients(double loss) {
  passes.drainInFlight();
  passes.discard();
  beginSeparateIteration();
  passes.useCallerGradients(loss);
}

void Trainer::update() {
  if (options.callerNets) {
    snapshots.forgetPosition();
    takeChanges();
    passes.updateParameters();
    return;
  }
  parameterChanges.rememberFrozen(); // the caller may have written them
  passes.update();
  if (ending == Ending::Requested)
    ending = Ending::Completed;
  const bool isCallerRun = progress.isCallerRun();
  if (isCallerRun)
    progress.emitProgress(/*last=*/false);
  betweenIterations(isCallerRun && isDue(solver.snapshot(), state.iteration));
  if (restoreIfRequested()) // at a hook of a pause
    takeChanges();
  if (!isCallerRun)
    snapshots.finish();
}

double Trainer::learningRate() const {
  caffe::LearningRateState rateState = state.rate;
  return passes.hasBegun()
             ? parameterUpdate.learningRate()
             : caffe::LearningRate(trainerControl.pendingSolver())
                   .at(state.iteration, rateState, state.losses.mean());
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

void Trainer::testAll() {
  runTests([](int) { return true; }, /*repeatOnResume=*/true);
  if (ending != Ending::Requested)
    lastTested = state.iteration;
}

/// Tests the selected nets. With `repeatOnResume`, a run that resumes from a
/// snapshot written during the tests repeats them.
void Trainer::runTests(const std::function<bool(int)> &isSelected,
                       bool repeatOnResume) {
  passes.drainInFlight();
  if (repeatOnResume)
    snapshots.rememberPosition();
  if (tests.isDistributed())
    tests.prepareDistributed();
  const auto scope = tests.isDistributed() ? RequestPoller::Scope::AllRanks
                                           : RequestPoller::Scope::ThisRank;
  const auto isInterrupted = [&] {
    return pollRequests(/*snapshotDue=*/false, scope);
  };
  const BestMetric *deferredBest = nullptr;
  bool isFirst = true;
  for (int net = 0;
       tests.runsHere() && net < testNets() && ending != Ending::Requested;
       ++net) {
    if (!isSelected(net))
      continue;
    const int batches = solver.test_iter(net);
    const std::optional<event::TestDone> done =
        tests.isDistributed()
            ? tests.runDistributed(net, batches, isInterrupted)
            : tests.run(net, batches, std::exchange(isFirst, false),
                        isInterrupted);
    if (!done)
      continue;
    const HookRequests own =
        hooks->run(HookTrigger::NetTest, state.iteration, net);
    for (const BestMetric *metric : own.best)
      if (parameterUpdate.isSharded())
        deferredBest = metric; // writing it needs all ranks
      else
        snapshots.startBest(metric);
  }
  // Requests that rank 0 received while testing apply to all ranks.
  constexpr std::uint32_t kStop = 1, kBest = 2, kSnapshot = 4;
  const std::uint32_t requestBits = ranks->allReduceOr(
      (ending == Ending::Requested ? kStop : 0) | (deferredBest ? kBest : 0) |
          (snapshotDeferred ? kSnapshot : 0),
      /*countsWaits=*/false);
  if (requestBits & kStop)
    ending = Ending::Requested;
  snapshotDeferred = false;
  if (requestBits & kBest)
    snapshots.startBest(deferredBest);
  const bool hooksWantSnapshot =
      ending != Ending::Requested && runHooks(HookTrigger::Test);
  if (requestBits & kSnapshot || hooksWantSnapshot)
    startSnapshot();
}

std::optional<event::TestDone> Trainer::test(int net, int batches) {
  tests.requireNet(net);
  if (batches < 0)
    throw Error(ExitStatus::Usage, "the number of test batches is negative");
  if (ending == Ending::Requested)
    ending = Ending::Completed;
  snapshots.forgetPosition();
  passes.drainInFlight();
  takeChanges(RequestPoller::Scope::ThisRank);
  std::optional<event::TestDone> done =
      tests.run(net, batches ? batches : solver.test_iter(net),
                /*prepareFirst=*/true, [this] {
                  return pollRequests(/*snapshotDue=*/false,
                                      RequestPoller::Scope::ThisRank);
                });
  if (done)
    hooks->run(HookTrigger::CallerTest, state.iteration, net);
  snapshots.finish(); // requested during the test
  return done;
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// Runs the hooks of a trigger and carries out their requests; returns whether
/// they request a snapshot, which the caller writes. All ranks must call it.
bool Trainer::runHooks(HookTrigger trigger) {
  const HookRequests own = hooks->run(trigger, state.iteration);
  for (const BestMetric *metric : own.best) {
    passes.drainInFlight(); // the losses must match the weights
    snapshots.startBest(metric);
  }
  const TrainerHooks::Shared shared = hooks->share(own);
  if (shared.wantsTests()) {
    bool areAllSelected = true;
    // A resumed run does not repeat these tests, so it needs no earlier
    // position.
    runTests(
        [&](int net) {
          const bool isSelected = shared.wantsTest(net);
          areAllSelected &= isSelected;
          return isSelected;
        },
        /*repeatOnResume=*/false);
    if (areAllSelected && ending != Ending::Requested)
      lastTested = state.iteration;
  }
  if (!shared.restore().empty())
    stateToRestore = shared.restore();
  // A snapshot of what is abandoned could replace the state to restore.
  return shared.wantsSnapshot() && stateToRestore.empty();
}

/// Carries out all requests of signals and other threads: a snapshot first,
/// then a stop. Returns whether to stop.
bool Trainer::pollRequests(bool snapshotDue, RequestPoller::Scope scope) {
  const TrainerControl::Requests requested = requests.poll(snapshotDue, scope);
  if (!requested.snapshot)
    snapshots.check();
  else if (scope == RequestPoller::Scope::ThisRank &&
           parameterUpdate.isSharded())
    snapshotDeferred = true; // needs the other ranks' history
  else
    startSnapshot();
  if (requested.stop)
    ending = Ending::Requested;
  return requested.stop;
}

/// Carries out the work after an iteration's update; returns false if training
/// should stop.
bool Trainer::betweenIterations(bool snapshotDue) {
  parameterChanges.restoreFrozen();
  snapshotDue |= runHooks(HookTrigger::Iteration);
  if (restoreIfRequested())
    snapshotDue = false;
  // A signal received during the iteration takes effect here, after the update.
  bool stop = pollRequests(snapshotDue, RequestPoller::Scope::AllRanks);
  if (!stop && requests.isPaused())
    stop = pauseUntilResumed();
  requests.clearPause();
  takeChanges();
  return !stop;
}

/// Returns whether a request ends training.
bool Trainer::pauseUntilResumed() {
  bool stop = false, hasPaused = false;
  while (!stop && requests.isPaused() &&
         !(callerHandlesReset && trainerControl.isResetRequested())) {
    if (!hasPaused) {
      passes.drainInFlight();
      events.emit(event::Paused{state.iteration});
      hasPaused = true;
      if (runHooks(HookTrigger::Pause))
        startSnapshot();
    }
    trainerControl.wait();
    resetIfRequested();
    stop = pollRequests(/*snapshotDue=*/false, RequestPoller::Scope::AllRanks);
    events.deliver(); // reports completed snapshots
  }
  if (hasPaused) {
    events.emit(event::Resumed{state.iteration});
    if (runHooks(HookTrigger::Resume))
      startSnapshot();
  }
  return stop;
}

void Trainer::takeStop() {
  if (trainerControl.takeStop())
    ending = Ending::Requested;
}

bool Trainer::resetIfRequested() {
  if (callerHandlesReset || !trainerControl.takeReset())
    return false;
  restart();
  beginCall();
  if (runHooks(HookTrigger::Reset))
    startSnapshot();
  return true;
}

bool Trainer::restoreIfRequested() {
  if (stateToRestore.empty())
    return false;
  const int iteration = state.iteration;
  restore(std::exchange(stateToRestore, {}));
  if (!std::exchange(lossesRestored, false))
    state.losses.clear();
  progress.moveFrom(iteration);
  if (ranks->isRoot())
    snapshots.abandonAfter(state.iteration);
  hooks->share({}); // changes of parameters that apply again
  return true;
}

void Trainer::takeChanges(RequestPoller::Scope scope) {
  const std::vector<TrainerControl::FieldChange> changes =
      requests.applyChanges(scope);
  if (changes.empty())
    return;
  solverChanged();
  for (const TrainerControl::FieldChange &change : changes)
    events.emit(
        event::SolverFieldSet{state.iteration, change.field, change.value});
}

void Trainer::setSolver(caffe::SolverParameter newSolver) {
  trainerControl.replace(std::move(newSolver));
  solverChanged();
}

void Trainer::solverChanged() {
  parameterUpdate.solverChanged();
  snapshots.solverChanged();
  state.losses.shrink(solver.average_loss());
}

/// Starts a snapshot. All ranks must call it.
void Trainer::startSnapshot() {
  passes.drainInFlight(); // the losses must match the weights
  snapshots.start();
  if (options.callerNets) // whose functions may use the files, as with Caffe
    snapshots.finish();
}

void Trainer::snapshot() {
  const SnapshotPeriod period(*this);
  startSnapshot();
  snapshots.finish();
}

} // namespace brew::runtime
