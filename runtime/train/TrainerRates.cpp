//===- TrainerRates.cpp - Learning rates of a training run ----------------===//

#include "runtime/train/Trainer.h"

#include "runtime/comm/Communicator.h"

namespace brew::runtime {

/// Returns the learning rate of this iteration. A policy that reads the loss
/// reads rank 0's, so that all ranks have the same rate.
double Trainer::takeLearningRate() {
  double loss = lossWindow.mean();
  if (rate.readsLoss() && rankCount() > 1)
    ranks->broadcast(&loss, sizeof loss);
  return rate.at(currentIteration, rateState, loss);
}

double Trainer::learningRate() const {
  caffe::LearningRateState state = rateState;
  return iterating ? rate.at(currentIteration, state, lossWindow.mean())
                   : caffe::LearningRate(requests.pendingSolver())
                         .at(currentIteration, state, lossWindow.mean());
}

void Trainer::emitLearningRate(int iteration, double learningRate,
                               int stepBefore) {
  const bool isPlateau = solver.lr_policy() == "plateau";
  event::LearningRateSet event{
      iteration, learningRate, isDue(solver.display(), iteration),
      {},        isPlateau,    {}};
  if (rateState.step != stepBefore &&
      (isPlateau || solver.lr_policy() == "multistep"))
    event.newStep = rateState.step;
  if (event.displayed && isPlateau && rateState.hasMinimumLoss() &&
      rateState.lastEvent > iteration - solver.display())
    event.minimumLoss = rateState.minimumLoss;
  if (event.displayed || event.newStep)
    events.emit(event);
}

} // namespace brew::runtime
