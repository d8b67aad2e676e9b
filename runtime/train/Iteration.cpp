//===- Iteration.cpp - One iteration of training --------------------------===//

#include "runtime/train/Iteration.h"

#include "plan/Contract.h"
#include "runtime/session/NetOutputs.h"
#include "support/Error.h"

#include <algorithm>
#include <numeric>

namespace brew::runtime {
namespace {

int requireProgram(const Executor &executor, const char *name) {
  const int program = executor.findProgram(name);
  if (program < 0)
    throw badInput(std::string("the plan has no program '") + name +
                   "', so it cannot be trained; compile a solver, or a net "
                   "with a loss, without --deploy or --phase");
  return program;
}

} // namespace

TrainingPrograms::TrainingPrograms(const Executor &executor)
    : train(requireProgram(executor, plan::programs::kForwardBackward)),
      update(requireProgram(executor, plan::programs::kUpdate)),
      clip(executor.findProgram(plan::programs::kClip)) {}

Iteration::Iteration(Session &trainedSession,
                     const caffe::SolverParameter &currentSolver,
                     const TrainingPrograms &trainingPrograms,
                     TrainingState &trainingState, Collectives &collectives,
                     ParameterUpdate &update, ProgressEvents &progressEvents,
                     NanCheck *nanCheck, const CallerNets *netsOfCaller)
    : session(trainedSession), executor(session.executor()),
      solver(currentSolver), programs(trainingPrograms), state(trainingState),
      ranks(collectives), parameterUpdate(update), progress(progressEvents),
      nan(nanCheck), callerNets(netsOfCaller), accumulator(executor),
      debug(callerNets ? nullptr
                       : DebugInfo::create(session, programs.train, solver)) {}

void Iteration::discard() {
  accumulator.discard();
  stage = Stage::None;
  keptLosses = 0;
  passLosses.clear();
}

void Iteration::drainInFlight(std::size_t stillRunning) {
  while (executor.pendingRuns() > stillRunning) {
    // finish() removes the run from its queue even if a check fails.
    const InFlight finished = inFlight.front();
    inFlight.pop_front();
    results = executor.finish();
    const double loss = totalLoss(executor, programs.train, results);
    state.losses.add(loss, solver.average_loss());
    progress.emitIteration(finished.iteration, loss, finished.learningRate);
  }
}

//===----------------------------------------------------------------------===//
// In the solver's loop
//===----------------------------------------------------------------------===//

void Iteration::requireNoOutputGradients() const {
  const plan::Program &program = session.manifest().programs(programs.train);
  if (program.output_gradients_size())
    throw Error(ExitStatus::Usage,
                "the plan's backward pass starts from a gradient of blob '" +
                    program.output_gradients(0).name() +
                    "' that its caller writes (brewc --output-gradient, or a "
                    "MemoryLoss "
                    "layer), so it cannot be trained on its own; a policy "
                    "learns with brew-run train --env");
}

void Iteration::selectMode(bool timed) {
  const bool overlaps =
      !timed && solver.iter_size() == 1 && !debug && !nan && !callerNets &&
      parameterUpdate.canOverlap() &&
      executor.canStartTogether(programs.train, programs.update);
  mode = timed ? Mode::Timed : overlaps ? Mode::Overlapped : Mode::Sequential;
  stepSeconds.clear();
  // Other modes take the results of the iteration that they run.
  if (!overlaps)
    drainInFlight();
  // debug_info shows this rank's gradients, and the gradients of several
  // batches are accumulated first.
  ranks.setReducesInSteps(overlaps || (solver.iter_size() == 1 && !debug));
}

void Iteration::runOverlapped() {
  const int iteration = state.iteration;
  const bool isDisplayed = isDue(solver.display(), iteration);
  inputs().feed();
  const int stepBefore = state.rate.step;
  const double learningRate = parameterUpdate.setScalars();
  executor.start({programs.train, programs.update});
  // The update runs even if a check of the data fails.
  inFlight.push_back({iteration, learningRate});
  ++state.iteration;
  stage = Stage::None;
  drainInFlight(isDisplayed || executor.runsSynchronously() ? 0 : 1);
  if (isDisplayed)
    display(iteration);
  parameterUpdate.emitLearningRate(iteration, learningRate, stepBefore);
}

double Iteration::computeGradients() {
  if (callerNets)
    return callerNets->computeGradients();
  double loss = 0;
  if (nan)
    nan->begin();
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
  ranks.allReduceGradients();
  return loss / solver.iter_size();
}

void Iteration::applyGradients(double loss) {
  state.losses.add(loss, solver.average_loss());
  const int iteration = state.iteration;
  if (isDue(solver.display(), iteration))
    display(iteration);
  const double learningRate = updateParameters();
  stage = Stage::None;
  progress.emitIteration(iteration, loss, learningRate);
  if (std::exchange(mode, Mode::Sequential) == Mode::Timed)
    session.events().emit(event::StepTimes{iteration, stepSeconds});
}

/// Displays an iteration in the solver's loop.
void Iteration::display(int iteration) {
  progress.display(iteration,
                   callerNets ? callerNets->outputs()
                              : readOutputs(executor, programs.train, results));
}

double Iteration::updateParameters() {
  if (callerNets)
    callerNets->prepareUpdate();
  return parameterUpdate.apply();
}

void Iteration::runFinalPass() {
  state.losses.add(callerNets ? callerNets->forward() : forwardBackward(),
                   solver.average_loss());
  // Caffe keeps showing values if the last iteration showed them.
  if (debug && progress.lastDisplay() == state.iteration - 1)
    debug->logForward();
}

double Iteration::forwardBackward() {
  inputs().feed();
  if (mode == Mode::Timed) {
    results = executor.runTimed(
        programs.train, [this](std::size_t step, double seconds) {
          stepSeconds.resize(std::max(stepSeconds.size(), step + 1));
          stepSeconds[step] += seconds;
        });
  } else {
    executor.start({programs.train});
    results = executor.finish();
  }
  return totalLoss(executor, programs.train, results);
}

/// Returns whether to log debug_info: like Caffe, in displayed iterations.
bool Iteration::showsDebugInfo() const {
  return debug && isDue(solver.display(), state.iteration);
}

//===----------------------------------------------------------------------===//
// In separate passes
//===----------------------------------------------------------------------===//

/// Throws Error (2) unless a backward pass has computed gradients. `operation`
/// begins the message.
void Iteration::requireGradients(const char *operation) const {
  if (stage != Stage::Backward && stage != Stage::Kept)
    throw Error(ExitStatus::Usage, std::string(operation) +
                                       " needs the gradients of a backward "
                                       "pass, which come after a forward pass");
}

double Iteration::forward(bool feed) {
  // Add gradients to the sum before the next pass overwrites them.
  if (stage == Stage::Kept)
    accumulator.add();
  stage = Stage::Begun; // in case the pass fails
  if (feed)
    inputs().feed();
  session.run(programs.train, Pass::Forward);
  stage = Stage::Forward;
  const double loss = totalLoss(executor, programs.train);
  // Drop the loss of a pass whose gradients were not kept.
  passLosses.resize(keptLosses);
  passLosses.push_back(loss);
  return loss;
}

void Iteration::backward() {
  if (stage != Stage::Forward)
    throw Error(ExitStatus::Usage,
                "a backward pass needs the forward pass before it");
  ranks.setReducesInSteps(false); // accumulate() may follow
  session.run(programs.train, Pass::Backward);
  stage = Stage::Backward;
}

void Iteration::accumulate() {
  requireGradients("accumulating");
  // The next pass adds them; if an update follows, no sum is needed.
  stage = Stage::Kept;
  keptLosses = passLosses.size();
}

void Iteration::useCallerGradients(double loss) {
  passLosses.push_back(loss);
  stage = Stage::Backward;
}

void Iteration::update() {
  requireGradients("an update");
  stage = Stage::Backward;
  accumulator.finish();
  ranks.allReduceGradients();
  const int iteration = state.iteration;
  const double loss =
      std::accumulate(passLosses.begin(), passLosses.end(), 0.0) /
      static_cast<double>(passLosses.size());
  passLosses.clear();
  keptLosses = 0;
  stage = Stage::Begun;
  state.losses.add(loss, solver.average_loss());
  if (progress.isCallerRun() && isDue(solver.display(), iteration))
    progress.display(iteration, /*outputs=*/{});
  const double learningRate = parameterUpdate.apply();
  stage = Stage::None;
  progress.emitIteration(iteration, loss, learningRate);
}

} // namespace brew::runtime
