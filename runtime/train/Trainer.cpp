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
  drainInFlight(0); // what a call that failed has left
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
  watch->takeStopReason(); // of a test since
  const int stop = currentIteration + iterations;
  runTo([stop] { return stop; });
}

/// Nobody writes gradients between the passes of a step.
void Trainer::requireNoOutputGradients() const {
  const plan::Program &program = executor.manifest().programs(trainProgram);
  if (program.output_gradients_size())
    throw Error(ExitStatus::Usage,
                "the plan's backward pass starts from a gradient of blob '" +
                    program.output_gradients(0).name() +
                    "' that its caller writes (brewc --output-gradient, or a MemoryLoss "
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
      takeChanges(); // of hooks that hold from the beginning on
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
    beforeTests.reset(); // records are read from here on
    timing = requests.takeStepTimes();
    stepSeconds.clear();
    const  false;=bool hasCollectiveError = false;= !timing && canOverlapUpdate();
    if (timing)
      drainInFlight(0);
    // What is shown of a batch's gradients is this rank's, and those of several
    // batches are added up before.
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
          accumulator.finish(); // Caffe shows the sum over the batches so far
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
  // One more pass, only to show where the last update led: snapshots of its
  // test go on from before it.
  if (isDue(solver.display(), currentIteration)) {
    rememberPosition();
    lossWindow.add(forwardBackward(), solver.average_loss());
    // Caffe's net goes on showing its values if the last iteration showed them.
    if (debug && lastDisplayed == currentIteration - 1)
      debug->logForward();
    events.emit(event::FinalLoss{currentIteration, lossWindow.mean()});
  }
  // A rule may end training at any iteration, or by the test of this one.
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

/// Whether nothing stands between the two halves of an iteration: gradients are
/// neither accumulated nor looked at.
bool Trainer::canOverlapUpdate() const {
  return solver.iter_size() == 1 && solver.clip_gradients() < 0 && !debug &&
         !watch->nanCheck() && !sharded &&
         executor.canStartTogether(trainProgram, updateProgram);
}

/// One iteration whose halves are started at once. Its loss is only waited for
/// when it is shown: a device computes while the next batch is brought.
void Trainer::runOverlappedIteration() {
  const int iteration = currentIteration;
  const bool shown = isDue(solver.display(), iteration);
  pipeline->feed();
  const int stepBefore = currentStep;
  const double learningRate = setScalars();
  scalars.set(plan::GRADIENT_SCALE, 1.0 / rankCount());
  executor.start({trainProgram, updateProgram});
  // The update is on its way, whatever the checks will say.
  inFlight.push_back({iteration, learningRate});
  ++currentIteration;
  iterating = false;
  drainInFlight(shown || executor.runsSynchronously() ? 0 : 1);
  if (shown)
    display(iteration);
  emitLearningRate(iteration, learningRate, stepBefore);
}

/// Takes the losses of all iterations but the last `stillRunning`.
void Trainer::drainInFlight(std::size_t stillRunning) {
  while (executor.pendingRuns() > stillRunning) {
    // finish() takes the run off its queue, also where a check of it fails.
    const InFlight done = inFlight.front();
    inFlight.pop_front();
    trainResults = executor.finish();
    const double loss = totalLoss(executor, trainProgram, trainResults);
    lossWindow.add(loss, solver.average_loss());
    emitIteration(done.iteration, loss, done.learningRate);
  }
}

/// Caffe shows the training net's values in iterations it displays.
bool Trainer::showsDebugInfo() const {
  return debug && isDue(solver.display(), currentIteration);
}

//===----------------------------------------------------------------------===//
// Updating
//===----------------------------------------------------------------------===//

/// Of the plan's own program where it was compiled for clipping; else, with
/// clip_gradients set only now, of the host.
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
  // The norm is that of the accumulated gradients, before they are averaged
  // over iter_size: Caffe clips first.
  // Over ranks they have been averaged by then.
  const double norm = std::sqrt(gradientSumOfSquares()) / rankCount();
  if (!(norm > solver.clip_gradients()))
    return 1;
  const double factor = solver.clip_gradients() / norm;
  events.emit(event::GradientsClipped{currentIteration, norm,
                                      solver.clip_gradients(), factor});
  return factor;
}

/// Sets what an update reads but GRADIENT_SCALE; returns the learning rate.
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
  return iterating
             ? rate.at(currentIteration, step)
             : caffe::LearningRate(requests.pendingSolver()).at(currentIteration, step);
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// Acts on all that signals and other threads have asked for, a snapshot before
/// a stop; returns whether to stop. With `all`, of any rank.
bool Trainer::pollRequests(bool snapshotDue, bool all) {
  auto poll = [&] { return nextAction ? nextAction() : SolverAction::None; };
  SolverAction signalled = poll();
  if (signalled == SolverAction::Snapshot) {
    snapshotDue = true;
    signalled = poll(); // another signal may have come with it
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
      requests.resume(); // whichever rank was told to stop
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

/// What comes after an iteration's update; false if training is to stop.
bool Trainer::betweenIterations(bool snapshotDue) {
  snapshotDue |= runHooks(HookTrigger::Iteration);
  // A signal that comes during the iteration acts here, after its update.
  bool stop = pollRequests(snapshotDue, /*all=*/true);
  bool waited = false;
  while (!stop && pausedAnywhere && !(callerHandlesReset && requests.isResetRequested())) {
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
    events.deliver(); // that a snapshot is complete
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
    kept = {}; // its names are under the old one
  lossWindow.shrink(solver.average_loss());
  for (const TrainerControl::FieldChange &change : changes)
    events.emit(
        event::SolverFieldSet{currentIteration, change.field, change.value});
}

} // namespace brew::runtime
