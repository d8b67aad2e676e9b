//===- Trainer.cpp - Caffe's solver loop over a plan ----------------------===//

#include "runtime/train/Trainer.h"

#include "formats/Error.h"
#include "runtime/log/Log.h"
#include "runtime/train/NetOutputs.h"

#include <cmath>

namespace brew::runtime {
namespace {

std::string text(int value) { return std::to_string(value); }

double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// "1:02:03" or "2:03".
std::string clockText(double seconds) {
  const auto total = static_cast<long long>(seconds + 0.5);
  auto twoDigits = [](long long value) {
    return (value < 10 ? "0" : "") + std::to_string(value);
  };
  std::string tail = twoDigits(total % 60);
  if (total < 3600)
    return std::to_string(total / 60) + ":" + tail;
  return std::to_string(total / 3600) + ":" + twoDigits(total / 60 % 60) + ":" +
         tail;
}

} // namespace

void Trainer::step(int iterations) {
  const int stop = currentIteration + iterations;
  if (!lossesRestored) {
    recentLosses.clear();
    smoothed = 0;
  }
  lossesRestored = false;
  stepBegin = displayBegin = Clock::now();
  stepBeginIteration = lastDisplayed = currentIteration;

  while (currentIteration < stop) {
    if (solver.test_interval() &&
        currentIteration % solver.test_interval() == 0 &&
        (currentIteration > 0 || solver.test_initialization())) {
      testAll();
      if (stopRequested)
        break;
    }

    if (stepsTogether()) {
      stepTogether();
    } else {
      double loss = 0;
      for (int i = 0; i < solver.iter_size(); ++i) {
        loss += forwardBackward();
        if (showsDebugInfo()) {
          accumulator.finish(); // Caffe shows the sum over the batches so far
          debug->forward();
          debug->backward();
        }
        if (i + 1 < solver.iter_size())
          accumulator.add();
      }
      accumulator.finish();
      smooth(loss / solver.iter_size());

      if (solver.display() && currentIteration % solver.display() == 0)
        displayIteration(secondsSince(displayBegin));
      applyUpdate();
    }
    showProgress(/*force=*/false);

    // A signal that comes during the iteration acts here, after its update.
    const SolverAction request = nextAction ? nextAction() : SolverAction::None;
    if ((solver.snapshot() && currentIteration % solver.snapshot() == 0) ||
        request == SolverAction::Snapshot)
      snapshot();
    if (request == SolverAction::Stop) {
      stopRequested = true;
      break;
    }
  }
  settle(0);
  showProgress(/*force=*/true);
  reportStarvation();
}

void Trainer::solve() {
  log::info(log::site::solving, "Solving " + executor.manifest().net_name());
  log::info(log::site::ratePolicy,
            "Learning Rate Policy: " + solver.lr_policy());
  stopRequested = false;
  step(solver.max_iter() - currentIteration);

  if (solver.snapshot_after_train() &&
      (!solver.snapshot() || currentIteration % solver.snapshot() != 0))
    snapshot();
  if (stopRequested) {
    log::status("");
    log::info(log::site::stoppedEarly, "Optimization stopped early.");
    return;
  }
  // One more pass, only to show where the last update led.
  if (solver.display() && currentIteration % solver.display() == 0) {
    smooth(forwardBackward());
    // Caffe's net goes on showing its values if the last iteration showed them.
    if (debug && lastDisplayed == currentIteration - 1)
      debug->forward();
    log::info(log::site::finalLoss, "Iteration " + text(currentIteration) +
                                        ", loss = " + log::number(smoothed));
  }
  if (solver.test_interval() && currentIteration % solver.test_interval() == 0)
    testAll();
  log::status("");
  log::info(log::site::optimizationDone, "Optimization Done.");
}

double Trainer::forwardBackward() {
  feeder->feed();
  executor.start({trainProgram});
  trainResults = executor.finish();
  return totalLoss(executor, trainProgram, trainResults);
}

/// Whether nothing stands between the two halves of an iteration: gradients are
/// neither accumulated nor looked at.
bool Trainer::stepsTogether() const {
  return solver.iter_size() == 1 && solver.clip_gradients() < 0 && !debug &&
         executor.canRunTogether(trainProgram, updateProgram);
}

/// One iteration whose halves are started at once. Its loss is only waited for
/// when it is shown: a device computes while the next batch is brought.
void Trainer::stepTogether() {
  const bool shown =
      solver.display() && currentIteration % solver.display() == 0;
  feeder->feed();
  const int stepBefore = currentStep;
  const double learningRate = setScalars();
  scalars.set(plan::GRADIENT_SCALE, 1);
  executor.start({trainProgram, updateProgram});
  settle(shown ? 0 : 1);
  if (shown)
    displayIteration(secondsSince(displayBegin));
  logRate(learningRate, stepBefore);
  ++currentIteration;
}

/// Takes the losses of all iterations but the last `stillRunning`.
void Trainer::settle(std::size_t stillRunning) {
  while (executor.started() > stillRunning) {
    trainResults = executor.finish();
    smooth(totalLoss(executor, trainProgram, trainResults));
  }
}

/// Caffe shows the training net's values in iterations it displays.
bool Trainer::showsDebugInfo() const {
  return debug && solver.display() && currentIteration % solver.display() == 0;
}

void Trainer::smooth(double loss) {
  const auto window = static_cast<std::size_t>(solver.average_loss());
  if (recentLosses.size() < window) {
    recentLosses.push_back(loss);
    const double size = static_cast<double>(recentLosses.size());
    smoothed = (smoothed * (size - 1) + loss) / size;
  } else {
    smoothed += (loss - recentLosses.front()) / static_cast<double>(window);
    recentLosses.pop_front();
    recentLosses.push_back(loss);
  }
}

void Trainer::displayIteration(double seconds) {
  const double rateShown =
      (currentIteration - lastDisplayed) / (seconds > 0 ? seconds : 1);
  log::info(log::site::iteration,
            "Iteration " + text(currentIteration) + " (" +
                log::number(rateShown) + " iter/s, " + log::number(seconds) +
                "s/" + text(solver.display()) +
                " iters), loss = " + log::number(smoothed));
  displayBegin = Clock::now();
  lastDisplayed = currentIteration;
  int index = 0;
  for (const OutputValue &output :
       readOutputs(executor, trainProgram, trainResults))
    log::info(log::site::trainOutput,
              "    Train net output #" + text(index++) + ": " + output.blob +
                  " = " + log::number(output.value) +
                  lossSuffix(output.lossWeight, output.value));
}

/// Of the plan's own program where it was compiled for clipping; else, with
/// clip_gradients set only now, of the host.
double Trainer::gradientSumOfSquares() const {
  if (clipProgram < 0)
    return params->gradientSumOfSquares();
  executor.run(clipProgram);
  double sum = 0;
  for (const OutputValue &output : readOutputs(executor, clipProgram))
    sum += output.value;
  return sum;
}

double Trainer::clipFactor() const {
  if (solver.clip_gradients() < 0)
    return 1;
  // The norm is that of the accumulated gradients, before they are averaged
  // over iter_size: Caffe clips first.
  const double norm = std::sqrt(gradientSumOfSquares());
  if (!(norm > solver.clip_gradients()))
    return 1;
  const double factor = solver.clip_gradients() / norm;
  log::info(log::site::clipping,
            "Gradient clipping: scaling down gradients (L2 norm " +
                log::number(norm) + " > " +
                log::number(solver.clip_gradients()) + ") by scale factor " +
                log::number(factor));
  return factor;
}

/// Sets what an update reads but GRADIENT_SCALE; returns the learning rate.
double Trainer::setScalars() {
  const double learningRate = rate.at(currentIteration, currentStep);
  scalars.set(plan::LEARNING_RATE, learningRate);
  scalars.setFields(solver, currentIteration);
  return learningRate;
}

void Trainer::logRate(double learningRate, int stepBefore) const {
  if (currentStep != stepBefore && solver.lr_policy() == "multistep")
    log::info(log::site::multistep, "MultiStep Status: Iteration " +
                                        text(currentIteration) +
                                        ", step = " + text(currentStep));
  if (solver.display() && currentIteration % solver.display() == 0)
    log::info(log::site::learningRate,
              "Iteration " + text(currentIteration) +
                  ", lr = " + log::number(learningRate));
}

void Trainer::applyUpdate() {
  const int stepBefore = currentStep;
  const double learningRate = setScalars();
  logRate(learningRate, stepBefore);
  scalars.set(plan::GRADIENT_SCALE, clipFactor() / solver.iter_size());
  executor.run(updateProgram);
  ++currentIteration;
}

void Trainer::testAll() {
  settle(0);
  prepare(); // what test programs derive from weights is out of date
  for (std::size_t net = 0; net < testNets.size() && !stopRequested; ++net)
    test(static_cast<int>(net));
}

void Trainer::pollDuringTest() {
  while (nextAction) {
    switch (nextAction()) {
    case SolverAction::None:
      return;
    case SolverAction::Snapshot:
      snapshot();
      break;
    case SolverAction::Stop:
      stopRequested = true;
      break;
    }
  }
}

void Trainer::test(int index) {
  TestNet &net = testNets.at(static_cast<std::size_t>(index));
  log::info(log::site::testing, "Iteration " + text(currentIteration) +
                                    ", Testing net (#" + text(index) + ")");
  OutputMeans means;
  double loss = 0;
  for (int i = 0; i < net.iterations; ++i) {
    pollDuringTest();
    if (stopRequested) {
      log::info(log::site::testInterrupted, "Test interrupted.");
      return;
    }
    net.feeder->feed();
    executor.run(net.program);
    if (net.debug)
      net.debug->forward();
    if (solver.test_compute_loss())
      loss += totalLoss(executor, net.program);
    means.add(readOutputs(executor, net.program));
  }
  if (solver.test_compute_loss())
    log::info(log::site::testNetLoss,
              "Test loss: " + log::number(loss / net.iterations));
  int position = 0;
  for (const OutputValue &mean : means.means())
    log::info(log::site::testOutput,
              "    Test net output #" + text(position++) + ": " + mean.blob +
                  " = " + log::number(mean.value) +
                  lossSuffix(mean.lossWeight, mean.value));
}

void Trainer::showProgress(bool force) {
  if (!log::statusVisible() || currentIteration == stepBeginIteration)
    return;
  // Ten times a second is as much as an eye follows.
  if (!force && secondsSince(progressShown) < 0.1)
    return;
  progressShown = Clock::now();
  const double elapsed = secondsSince(stepBegin);
  const double perSecond =
      elapsed > 0 ? (currentIteration - stepBeginIteration) / elapsed : 0;
  std::string line = "iter " + text(currentIteration) + "/" +
                     text(solver.max_iter()) + "  loss " +
                     log::number(smoothed) + "  " +
                     log::number(std::round(perSecond * 10) / 10) + " it/s";
  if (perSecond > 0)
    line += "  ETA " +
            clockText((solver.max_iter() - currentIteration) / perSecond);
  log::status(line);
}

void Trainer::reportStarvation() const {
  for (const Feeder::Starvation &starved : feeder->starvation())
    log::info(log::site::waitingForData,
              "Waiting for data: layer '" + starved.layer +
                  "' kept training waiting " + std::to_string(starved.times) +
                  " times, " + log::number(starved.seconds) + " s in all");
}

} // namespace brew::runtime
