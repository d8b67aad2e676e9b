//===- ParameterUpdate.cpp - Update of the parameters ---------------------===//

#include "runtime/train/ParameterUpdate.h"

#include "plan/Contract.h"
#include "runtime/comm/Communicator.h"
#include "runtime/session/NetOutputs.h"

#include <cmath>

namespace brew::runtime {

ParameterUpdate::ParameterUpdate(Session &trainedSession,
                                 const caffe::SolverParameter &currentSolver,
                                 const TrainingPrograms &trainingPrograms,
                                 TrainingState &trainingState,
                                 Collectives &collectives)
    : session(trainedSession), executor(session.executor()),
      solver(currentSolver), programs(trainingPrograms), state(trainingState),
      ranks(collectives), rate(solver), scalars(executor) {}

double ParameterUpdate::learningRate() const {
  caffe::LearningRateState rateState = state.rate;
  return rate.at(state.iteration, rateState, state.losses.mean());
}

/// Returns the squared L2 norm of the gradients. A plan compiled for clipping
/// has a program that computes it. If clip_gradients was set only at run time,
/// the host computes it.
double ParameterUpdate::gradientSumOfSquares() {
  if (programs.clip < 0)
    return session.parameters().gradientSumOfSquares();
  executor.run(programs.clip);
  double sum = 0;
  for (const OutputValue &output : readOutputs(executor, programs.clip))
    sum += output.value;
  return sum;
}

double ParameterUpdate::clipFactor() {
  if (solver.clip_gradients() < 0)
    return 1;
  // Caffe averages the gradients over ranks, clips them, and then averages them
  // over iter_size. Here the gradients are sums over both, so divide only by
  // the number of ranks.
  const double norm = std::sqrt(gradientSumOfSquares()) / ranks.count();
  if (!(norm > solver.clip_gradients()))
    return 1;
  const double factor = solver.clip_gradients() / norm;
  session.events().emit(event::GradientsClipped{
      state.iteration, norm, solver.clip_gradients(), factor});
  return factor;
}

/// Returns the learning rate of this iteration, and updates the state of its
/// policy. A policy that reads the loss reads rank 0's, so that all ranks have
/// the same rate.
double ParameterUpdate::takeLearningRate() {
  double loss = state.losses.mean();
  if (rate.readsLoss())
    loss = ranks.broadcastFromRoot(loss);
  return rate.at(state.iteration, state.rate, loss);
}

/// Sets the update's scalars except GRADIENT_SCALE; returns the learning rate.
double ParameterUpdate::setRateScalars() {
  const double learningRate = takeLearningRate();
  scalars.set(plan::LEARNING_RATE, learningRate);
  scalars.setFields(solver, state.iteration);
  return learningRate;
}

double ParameterUpdate::setScalars() {
  const double learningRate = setRateScalars();
  scalars.set(plan::GRADIENT_SCALE, 1.0 / ranks.count());
  return learningRate;
}

double ParameterUpdate::apply() {
  const int stepBefore = state.rate.step;
  const double learningRate = setRateScalars();
  emitLearningRate(state.iteration, learningRate, stepBefore);
  scalars.set(plan::GRADIENT_SCALE,
              clipFactor() / (solver.iter_size() * ranks.count()));
  if (sharded)
    sharded->run();
  else
    executor.run(programs.update);
  ++state.iteration;
  return learningRate;
}

void ParameterUpdate::emitLearningRate(int iteration, double learningRate,
                                       int stepBefore) {
  const bool isPlateau = solver.lr_policy() == "plateau";
  event::LearningRateSet event{
      iteration, learningRate, isDue(solver.display(), iteration),
      {},        isPlateau,    {}};
  if (state.rate.step != stepBefore &&
      (isPlateau || solver.lr_policy() == "multistep"))
    event.newStep = state.rate.step;
  if (event.displayed && isPlateau && state.rate.hasMinimumLoss() &&
      state.rate.lastEvent > iteration - solver.display())
    event.minimumLoss = state.rate.minimumLoss;
  if (event.displayed || event.newStep)
    session.events().emit(event);
}

void ParameterUpdate::shard() {
  if (ranks.isAlone())
    return;
  sharded = std::make_unique<ShardedUpdate>(executor, programs.update,
                                            *session.communicator());
  sharded->releaseHistory();
}

void ParameterUpdate::gatherHistory(bool withUpdates) {
  if (sharded)
    sharded->gatherHistory(withUpdates);
}

void ParameterUpdate::releaseHistory() {
  if (sharded)
    sharded->releaseHistory();
}

} // namespace brew::runtime
