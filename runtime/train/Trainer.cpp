//===- Trainer.cpp - Caffe's solver loop over a plan ----------------------===//

#include "runtime/train/Trainer.h"

#include "runtime/session/NetOutputs.h"
#include "runtime/train/SolverFields.h"
#include "support/Error.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace brew::runtime {

void Trainer::beginSteps() {
  drainInFlight(0); // runs left by a failed call
  discardIteration();
  inCallerRun = false;
  if (!lossesRestored)
    lossWindow.clear();
  lossesRestored = false;
  stepBegin = displayBegin = Clock::now();
  stepBeginIteration = lastDisplayed = currentIteration;
}

void Trainer::step(int iterations) {
  requireNoOutputGradients();
  stopRequested = endedByRule = false;
  watch->takeStopReason(); // a reason left by a test since the last call
  const int stop = currentIteration + iterations;
  runTo([stop] { return stop; });
}

/// Throws Error (2) if the caller must write output gradients: the training
/// loop leaves no time for that between the passes.
void Trainer::requireNoOutputGradients() const {
  const plan::Program &program = executor.manifest().programs(trainProgram);
  if (program.output_gradients_size())
    throw Error(ExitStatus::Usage,
                "the plan's backward pass starts from a gradient of blob '" +
                    program.output_gradients(0).name() +
                    "' that its caller writes (brewc --output-gradient, or a "
                    "MemoryLoss "
                    "layer), so it cannot be trained on its own; a policy "
                    "learns with brew-run train --env");
}

void Trainer::runTo(const std::function<int()> &stop) {
  beginLoop();
  struct ClearAtExit {
    bool &flag;
    ~ClearAtExit() { flag = false; }
  } const scope{iterating};
  while (true) {
    if (resetIfRequested())
      takeChanges(); // by hooks that apply from the beginning
    if (stopRuleHolds() || currentIteration >= stop())
      break;
    callEnd = stop();
    iterating = true;
    if (isTestDue() && (currentIteration > 0 || solver.test_initialization())) {
      testAll();
      if (stopRequested || stopRuleHolds())
        break;
    }
    runIteration();
    if (!betweenIterations(isDue(solver.snapshot(), currentIteration)))
      break;
  }
  endLoop();
}

/// Performs an iteration, except for the work between two iterations.
void Trainer::runIteration() {
  beforeTests.reset(); // the iteration now reads records
  timing = requests.takeStepTimes();
  stepSeconds.clear();
  const bool overlapsUpdate = !timing && canOverlapUpdate();
  if (timing)
    drainInFlight(0);
  // debug_info shows this rank's gradients, and the gradients of several
  // batches are accumulated first.
  setReducesInSteps(overlapsUpdate || (solver.iter_size() == 1 && !debug));

  if (overlapsUpdate) {
    runOverlappedIteration();
  } else {
    double loss = 0;
    if (NanCheck *check = watch->nanCheck())
      check->begin();
    for (int i = 0; i < solver.iter_size(); ++i) {
      loss += forwardBackward();
      if (showsDebugInfo()) {
        accumulator.finish(); // Caffe shows the sum so far
        debug->logForward();
        debug->logBackward();
      }
      if (i + 1 < solver.iter_size())
        accumulator.add();
    }
    accumulator.finish();
    allReduceGradients();
    loss /= solver.iter_size();
    requireFinite(loss);
    lossWindow.add(loss, solver.average_loss());
    const int iteration = currentIteration;
    if (isDue(solver.display(), iteration))
      display(iteration);
    const double learningRate = applyUpdate();
    iterating = false;
    emitIteration(iteration, loss, learningRate);
    if (std::exchange(timing, false))
      events.emit(event::StepTimes{iteration, stepSeconds});
  }
  emitProgress(/*last=*/false);
}

void Trainer::solve() {
  requireNoOutputGradients();
  beginSolving();
  runTo([this] { return solver.max_iter(); });

  if (solver.snapshot_after_train() &&
      !isDue(solver.snapshot(), currentIteration))
    snapshot();
  if (stopRequested) {
    events.emit(event::SolvingDone{currentIteration, /*stopped=*/true});
    return;
  }
  // Run one more forward pass, only to show the loss after the last update.
  // Snapshots of the final test continue from before this pass.
  if (isDue(solver.display(), currentIteration)) {
    rememberPosition();
    lossWindow.add(forwardBackward(), solver.average_loss());
    // Caffe keeps showing values if the last iteration showed them.
    if (debug && lastDisplayed == currentIteration - 1)
      debug->logForward();
    events.emit(event::FinalLoss{currentIteration, lossWindow.mean()});
  }
  // A rule may have ended training at any iteration, perhaps because of this
  // iteration's test.
  if (endedByRule ? solver.test_interval() && lastTested != currentIteration
                  : isTestDue())
    testAll();
  finishSnapshots();
  events.emit(event::SolvingDone{currentIteration, /*stopped=*/false});
}

double Trainer::forwardBackward() {
  pipeline->feed();
  if (timing) {
    trainResults = executor.runTimed(
        trainProgram, [this](std::size_t step, double seconds) {
          stepSeconds.resize(std::max(stepSeconds.size(), step + 1));
          stepSeconds[step] += seconds;
        });
  } else {
    executor.start({trainProgram});
    trainResults = executor.finish();
  }
  return totalLoss(executor, trainProgram, trainResults);
}

/// Returns whether the update can be started together with the passes, because
/// gradients are neither accumulated nor read in between.
bool Trainer::canOverlapUpdate() const {
  return solver.iter_size() == 1 && solver.clip_gradients() < 0 && !debug &&
         !watch->nanCheck() && !sharded && !rate.readsLoss() &&
         executor.canStartTogether(trainProgram, updateProgram);
}

/// Starts the passes and the update of one iteration together. Waits for the
/// loss only if it is displayed, so that the device computes while the next
/// batch is read.
void Trainer::runOverlappedIteration() {
  const int iteration = currentIteration;
  const bool isDisplayed = isDue(solver.display(), iteration);
  pipeline->feed();
  const int stepBefore = rateState.step;
  const double learningRate = setScalars();
  scalars.set(plan::GRADIENT_SCALE, 1.0 / rankCount());
  executor.start({trainProgram, updateProgram});
  // The update runs even if a check of the data fails.
  inFlight.push_back({iteration, learningRate});
  ++currentIteration;
  iterating = false;
  drainInFlight(isDisplayed || executor.runsSynchronously() ? 0 : 1);
  if (isDisplayed)
    display(iteration);
  emitLearningRate(iteration, learningRate, stepBefore);
}

/// Waits for the losses of all iterations except the last `stillRunning`.
void Trainer::drainInFlight(std::size_t stillRunning) {
  while (executor.pendingRuns() > stillRunning) {
    // finish() removes the run from its queue even if a check fails.
    const InFlight finished = inFlight.front();
    inFlight.pop_front();
    trainResults = executor.finish();
    const double loss = totalLoss(executor, trainProgram, trainResults);
    lossWindow.add(loss, solver.average_loss());
    emitIteration(finished.iteration, loss, finished.learningRate);
  }
}

/// Returns whether to log debug_info: like Caffe, in displayed iterations.
bool Trainer::showsDebugInfo() const {
  return debug && isDue(solver.display(), currentIteration);
}

//===----------------------------------------------------------------------===//
// Updating
//===----------------------------------------------------------------------===//

/// Returns the squared L2 norm of the gradients. A plan compiled for clipping
/// has a program that computes it. If clip_gradients was set only at run time,
/// the host computes it.
double Trainer::gradientSumOfSquares() {
  if (clipProgram < 0)
    return parameters().gradientSumOfSquares();
  executor.run(clipProgram);
  double sum = 0;
  for (const OutputValue &output : readOutputs(executor, clipProgram))
    sum += output.value;
  return sum;
}

double Trainer::clipFactor() {
  if (solver.clip_gradients() < 0)
    return 1;
  // Caffe averages the gradients over ranks, clips them, and then averages them
  // over iter_size. Here the gradients are sums over both, so divide only by
  // the number of ranks.
  const double norm = std::sqrt(gradientSumOfSquares()) / rankCount();
  if (!(norm > solver.clip_gradients()))
    return 1;
  const double factor = solver.clip_gradients() / norm;
  events.emit(event::GradientsClipped{currentIteration, norm,
                                      solver.clip_gradients(), factor});
  return factor;
}

/// Sets the update's scalars except GRADIENT_SCALE; returns the learning rate.
double Trainer::setScalars() {
  const double learningRate = takeLearningRate();
  scalars.set(plan::LEARNING_RATE, learningRate);
  scalars.setFields(solver, currentIteration);
  return learningRate;
}

/// Updates the parameters and increments the iteration. Returns the learning
/// rate of the update.
double Trainer::applyUpdate() {
  const int stepBefore = rateState.step;
  const double learningRate = setScalars();
  emitLearningRate(currentIteration, learningRate, stepBefore);
  scalars.set(plan::GRADIENT_SCALE,
              clipFactor() / (solver.iter_size() * rankCount()));
  runUpdate();
  ++currentIteration;
  return learningRate;
}

void Trainer::runUpdate() {
  if (sharded)
    sharded->run();
  else
    executor.run(updateProgram);
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// Carries out all requests of signals and other threads: a snapshot first,
/// then a stop. Returns whether to stop. With `onAllRanks`, includes the
/// requests on other ranks.
bool Trainer::pollRequests(bool snapshotDue, bool onAllRanks) {
  auto nextSignalAction = [&] {
    return nextAction ? nextAction() : SolverAction::None;
  };
  SolverAction signalAction = nextSignalAction();
  if (signalAction == SolverAction::Snapshot) {
    snapshotDue = true;
    signalAction = nextSignalAction(); // a second signal may be pending
  }
  const TrainerControl::Requests requested = requests.takeRequests();
  bool stop = requested.stop || signalAction == SolverAction::Stop;
  snapshotDue |= requested.snapshot;
  if (onAllRanks) {
    constexpr std::uint32_t kStop = 1, kSnapshot = 2, kChange = 4, kPause = 8;
    for (TrainerControl::FieldChange &change : requests.takeChanges())
      ownChanges.push_back(std::move(change));
    const std::uint32_t requestBits =
        allReduceOr((stop ? kStop : 0) | (snapshotDue ? kSnapshot : 0) |
                        (ownChanges.empty() ? 0 : kChange) |
                        (requests.isPaused() ? kPause : 0),
                    /*countsWaits=*/!pausedAnywhere);
    stop = requestBits & kStop;
    if (stop)
      requests.resume(); // end the pause on every rank
    snapshotDue = requestBits & kSnapshot;
    changesPending |= (requestBits & kChange) != 0;
    pausedAnywhere = requestBits & kPause;
  }
  if (snapshotDue && onAllRanks)
    startSnapshotOnAllRanks();
  else if (snapshotDue)
    startSnapshot();
  else
    writer.check();
  if (!stop)
    return false;
  return stopRequested = true;
}

/// Carries out the work after an iteration's update; returns false if training
/// should stop.
bool Trainer::betweenIterations(bool snapshotDue) {
  snapshotDue |= runHooks(HookTrigger::Iteration);
  // A signal received during the iteration takes effect here, after the update.
  bool stop = pollRequests(snapshotDue, /*onAllRanks=*/true);
  bool hasPaused = false;
  while (!stop && pausedAnywhere &&
         !(callerHandlesReset && requests.isResetRequested())) {
    if (!hasPaused) {
      drainInFlight(0);
      events.emit(event::Paused{currentIteration});
      hasPaused = true;
      if (runHooks(HookTrigger::Pause))
        startSnapshotOnAllRanks();
    }
    requests.wait();
    resetIfRequested();
    stop = pollRequests(/*snapshotDue=*/false, /*onAllRanks=*/true);
    events.deliver(); // reports completed snapshots
  }
  if (hasPaused) {
    events.emit(event::Resumed{currentIteration});
    if (runHooks(HookTrigger::Resume))
      startSnapshotOnAllRanks();
  }
  pausedAnywhere = false;
  takeChanges();
  return !stop;
}

bool Trainer::resetIfRequested() {
  if (callerHandlesReset || !requests.takeReset())
    return false;
  restart();
  beginSteps();
  return true;
}

void Trainer::takeChanges() {
  const std::vector<TrainerControl::FieldChange> changes = gatherChanges();
  if (changes.empty())
    return;
  for (const TrainerControl::FieldChange &change : changes)
    setSolverField(solver, change.field, change.value);
  rate = caffe::LearningRate(solver);
  const std::string oldPrefix = std::exchange(prefix, resolvePrefix(solver));
  if (prefix != oldPrefix)
    keptSnapshots = {}; // its names are relative to the old prefix
  lossWindow.shrink(solver.average_loss());
  for (const TrainerControl::FieldChange &change : changes)
    events.emit(
        event::SolverFieldSet{currentIteration, change.field, change.value});
}

} // namespace brew::runtime
