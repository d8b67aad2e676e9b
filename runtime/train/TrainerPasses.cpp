//===- TrainerPasses.cpp - Iterations in separate passes ------------------===//

#include "runtime/train/Trainer.h"

#include "runtime/session/NetOutputs.h"
#include "support/Error.h"

#include <numeric>

namespace brew::runtime {

/// Throws Error (2) unless a backward pass has computed gradients. `operation`
/// begins the message.
void Trainer::requireGradients(const char *operation) const {
  if (lastPass != Pass::Backward)
    throw Error(ExitStatus::Usage, std::string(operation) +
                                       " needs the gradients of a backward "
                                       "pass, which come after a forward pass");
}

/// Adds gradients that accumulate() keeps to the sum, before the next pass
/// overwrites them.
void Trainer::addGradients() {
  if (!keepGradients)
    return;
  accumulator.add();
  keepGradients = false;
}

/// Discards an unfinished iteration and its gradient sum, also after a failure.
void Trainer::discardIteration() {
  accumulator.discard();
  keepGradients = lossKept = iterating = false;
  passLosses.clear();
  lastPass.reset();
}

double Trainer::forward(bool feed) {
  drainInFlight(0);
  if (!iterating) {
    discardIteration(); // a failed step() may have left one
    exchangeChangeFlags();
    takeChanges();
    if (!inCallerRun)
      stepBegin = Clock::now();
    iterating = true;
  }
  addGradients();
  lastPass.reset(); // in case the pass fails
  if (feed)
    pipeline->feed();
  session.run(trainProgram, Pass::Forward);
  lastPass = Pass::Forward;
  const double loss = totalLoss(executor, trainProgram);
  // Drop the loss of a pass whose gradients were not kept.
  if (!lossKept && !passLosses.empty())
    passLosses.pop_back();
  lossKept = false;
  passLosses.push_back(loss);
  return loss;
}

void Trainer::backward() {
  if (lastPass != Pass::Forward)
    throw Error(ExitStatus::Usage,
                "a backward pass needs the forward pass before it");
  setReducesInSteps(false); // accumulate() may follow
  session.run(trainProgram, Pass::Backward);
  lastPass = Pass::Backward;
}

void Trainer::accumulate() {
  requireGradients("accumulating");
  // The next pass adds them; if an update follows, no sum is needed.
  keepGradients = lossKept = true;
}

void Trainer::useCallerGradients(double loss) {
  drainInFlight(0);
  discardIteration();
  takeChanges();
  if (!inCallerRun)
    stepBegin = Clock::now();
  iterating = true;
  passLosses.push_back(loss);
  lastPass = Pass::Backward;
}

void Trainer::update() {
  requireGradients("an update");
  keepGradients = false;
  accumulator.finish();
  allReduceGradients();
  const int iteration = currentIteration;
  const double loss =
      std::accumulate(passLosses.begin(), passLosses.end(), 0.0) /
      static_cast<double>(passLosses.size());
  passLosses.clear();
  lossKept = false;
  lastPass.reset();
  lossWindow.add(loss, solver.average_loss());
  if (inCallerRun && isDue(solver.display(), iteration))
    display(iteration, /*passes=*/true);
  const double learningRate = applyUpdate();
  iterating = false;
  emitIteration(iteration, loss, learningRate);
  stopRequested = false;
  if (inCallerRun)
    emitProgress(/*last=*/false);
  betweenIterations(inCallerRun && isDue(solver.snapshot(), currentIteration));
  if (!inCallerRun)
    finishSnapshots();
}

bool Trainer::isStopRequested() {
  // The function may take a lock, or do more than check for signals.
  constexpr auto kInterval = std::chrono::milliseconds(20);
  if (const Clock::time_point now = Clock::now();
      nextAction && now - lastPolled >= kInterval) {
    lastPolled = now;
    switch (nextAction()) {
    case SolverAction::None:
      break;
    case SolverAction::Stop:
      requests.stop();
      break;
    case SolverAction::Snapshot:
      requests.snapshot();
      break;
    }
  }
  return requests.isStopRequested();
}

void Trainer::takeStop() { stopRequested |= requests.takeStop(); }

} // namespace brew::runtime
