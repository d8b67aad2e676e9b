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

/// step() leaves no time to write output gradients between the passes.
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
  beginSteps();
  hooksAnywhere = allReduceOr(hooks && !hooks->get().empty(), false) != 0;
  if (runHooks(HookTrigger::Start))
    startSnapshotOfAll();
  exchangeChangeFlags();
  takeChanges();
  struct Iterating {
    bool &flag;
    ~Iterating() { flag = false; }
  } const untilHere{iterating};
  while (true) {
    if (resetIfWanted())
      takeChanges(); // by hooks that apply from the beginning
    if (stopRuleHolds() || currentIteration >= stop())
      break;
    callEnd = stop();
    iterating = true;
    if (isDue(solver.test_interval(), currentIteration) &&
        (currentIteration > 0 || solver.test_initialization())) {
      testAll();
      if (stopRequested || stopRuleHolds())
        break;
    }
    beforeTests.reset(); // from here on the iteration reads records
    timing = requests.takeStepTimes();
    stepSeconds.clear();
    const bool together = !timing && canOverlapUpdate();
    if (timing)
      drainInFlight(0);
    // debug_info shows this rank's gradients, and the gradients of several
    // batches are accumulated first.
    setReducesInSteps(together || (solver.iter_size() == 1 && !debug));

    if (together) {
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
      const int done = currentIteration;
      if (isDue(solver.display(), done))
        display(done);
      const double learningRate = applyUpdate();
      iterating = false;
      emitIteration(done, loss, learningRate);
      if (std::exchange(timing, false))
        events.emit(event::StepTimes{done, stepSeconds});
    }
    emitProgress(/*last=*/false);
    if (!betweenIterations(isDue(solver.snapshot(), currentIteration)))
      break;
  }
  drainInFlight(0);
  if (runHooks(HookTrigger::Stop))
    startSnapshotOfAll();
  if (hooks)
    hooks->get().finish();
  emitProgress(/*last=*/true);
  emitDataStalls();
  finishSnapshots();
}

void Trainer::solve() {
  requireNoOutputGradients();
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
  runTo([this] { return solver.max_iter(); });

  if (solver.snapshot_after_train() &&
      !isDue(solver.snapshot(), currentIteration))
    snapshot();
  if (stopRequested) {
    events.emit(event::SolvingDone{currentIteration, /*stopped=*/true});
    return;
  }
  // One more forward pass, only to show the loss after the last update;
  // snapshots of the final test continue from before it.
  if (isDue(solver.display(), currentIteration)) {
    rememberPosition();
    lossWindow.add(forwardBackward(), solver.average_loss());
    // Caffe keeps showing values if the last iteration showed them.
    if (debug && lastDisplayed == currentIteration - 1)
      debug->logForward();
    events.emit(event::FinalLoss{currentIteration, lossWindow.mean()});
  }
  // A rule may end training at any iteration, or by this iteration's test.
  if (endedByRule ? solver.test_interval() && lastTested != currentIteration
                  : isDue(solver.test_interval(), currentIteration))
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

/// Whether the update can be started together with the passes: gradients are
/// neither accumulated nor read in between.
bool Trainer::canOverlapUpdate() const {
  return solver.iter_size() == 1 && solver.clip_gradients() < 0 && !debug &&
         !watch->nanCheck() && !sharded &&
         executor.canStartTogether(trainProgram, updateProgram);
}

/// Starts passes and update of one iteration at once. Waits for the loss only
/// if it is displayed: the device computes while the next batch is read.
void Trainer::runOverlappedIteration() {
  const int iteration = currentIteration;
  const bool shown = isDue(solver.display(), iteration);
  pipeline->feed();
  const int stepBefore = currentStep;
  const double learningRate = setScalars();
  scalars.set(plan::GRADIENT_SCALE, 1.0 / rankCount());
  executor.start({trainProgram, updateProgram});
  // The update runs even if a check of the data fails.
  inFlight.push_back({iteration, learningRate});
  ++currentIteration;
  iterating = false;
  drainInFlight(shown || executor.runsSynchronously() ? 0 : 1);
  if (shown)
    display(iteration);
  emitLearningRate(iteration, learningRate, stepBefore);
}

/// Waits for the losses of all iterations except the last `stillRunning`.
void Trainer::drainInFlight(std::size_t stillRunning) {
  while (executor.pendingRuns() > stillRunning) {
    // finish() removes the run from its queue even if a check fails.
    const InFlight done = inFlight.front();
    inFlight.pop_front();
    trainResults = executor.finish();
    const double loss = totalLoss(executor, trainProgram, trainResults);
    lossWindow.add(loss, solver.average_loss());
    emitIteration(done.iteration, loss, done.learningRate);
  }
}

/// Caffe shows the training net's values in displayed iterations.
bool Trainer::showsDebugInfo() const {
  return debug && isDue(solver.display(), currentIteration);
}

//===----------------------------------------------------------------------===//
// Updating
//===----------------------------------------------------------------------===//

/// By the plan's program if it was compiled for clipping; on the host if
/// clip_gradients was set only at run time.
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
  // The norm of the accumulated gradients, before they are averaged over
  // iter_size: Caffe clips first. Gradients are already averaged over ranks.
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
  const double learningRate = rate.at(currentIteration, currentStep);
  scalars.set(plan::LEARNING_RATE, learningRate);
  scalars.setFields(solver, currentIteration);
  return learningRate;
}

/// Returns the learning rate.
double Trainer::applyUpdate() {
  const int stepBefore = currentStep;
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

double Trainer::learningRate() const {
  int step = currentStep;
  return iterating ? rate.at(currentIteration, step)
                   : caffe::LearningRate(requests.pendingSolver())
                         .at(currentIteration, step);
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// Carries out all requests of signals and other threads, a snapshot before a
/// stop; returns whether to stop. With `all`, includes requests on other ranks.
bool Trainer::pollRequests(bool snapshotDue, bool all) {
  auto poll = [&] { return nextAction ? nextAction() : SolverAction::None; };
  SolverAction signalled = poll();
  if (signalled == SolverAction::Snapshot) {
    snapshotDue = true;
    signalled = poll(); // a second signal may be pending
  }
  const TrainerControl::Requests wanted = requests.takeRequests();
  bool stop = wanted.stop || signalled == SolverAction::Stop;
  snapshotDue |= wanted.snapshot;
  if (all) {
    constexpr std::uint32_t kStop = 1, kSnapshot = 2, kChange = 4, kPause = 8;
    for (TrainerControl::FieldChange &change : requests.takeChanges())
      ownChanges.push_back(std::move(change));
    const std::uint32_t any =
        allReduceOr((stop ? kStop : 0) | (snapshotDue ? kSnapshot : 0) |
                        (ownChanges.empty() ? 0 : kChange) |
                        (requests.isPaused() ? kPause : 0),
                    /*countsWaits=*/!pausedAnywhere);
    stop = any & kStop;
    if (stop)
      requests.resume(); // end the pause on every rank
    snapshotDue = any & kSnapshot;
    changesPending |= (any & kChange) != 0;
    pausedAnywhere = any & kPause;
  }
  if (snapshotDue && all)
    startSnapshotOfAll();
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
  // A signal received during the iteration acts here, after the update.
  bool stop = pollRequests(snapshotDue, /*all=*/true);
  bool waited = false;
  while (!stop && pausedAnywhere &&
         !(callerHandlesReset && requests.isResetRequested())) {
    if (!waited) {
      drainInFlight(0);
      events.emit(event::Paused{currentIteration});
      waited = true;
      if (runHooks(HookTrigger::Pause))
        startSnapshotOfAll();
    }
    requests.wait();
    resetIfWanted();
    stop = pollRequests(/*snapshotDue=*/false, /*all=*/true);
    events.deliver(); // reports completed snapshots
  }
  if (waited) {
    events.emit(event::Resumed{currentIteration});
    if (runHooks(HookTrigger::Resume))
      startSnapshotOfAll();
  }
  pausedAnywhere = false;
  takeChanges();
  return !stop;
}

bool Trainer::resetIfWanted() {
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
    kept = {}; // its names are relative to the old prefix
  lossWindow.shrink(solver.average_loss());
  for (const TrainerControl::FieldChange &change : changes)
    events.emit(
        event::SolverFieldSet{currentIteration, change.field, change.value});
}

} // namespace brew::runtime
