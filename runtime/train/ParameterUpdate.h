//===- ParameterUpdate.h - Update of the parameters -------------*- C++ -*-===//
#pragma once

#include "caffe/LearningRate.h"
#include "runtime/session/Session.h"
#include "runtime/train/Collectives.h"
#include "runtime/train/ShardedUpdate.h"
#include "runtime/train/SolverScalars.h"
#include "runtime/train/TrainingPrograms.h"
#include "runtime/train/TrainingState.h"

#include <memory>

namespace brew::runtime {

/// Updates the parameters with the gradients of an iteration, at the solver's
/// learning rate and with its clipping.
class ParameterUpdate {
public:
  /// `solver` is the one of the current iteration. The arguments must outlive
  /// this object. Throws Error (1) for an invalid learning rate policy or a
  /// damaged plan.
  ParameterUpdate(Session &session, const caffe::SolverParameter &solver,
                  const TrainingPrograms &programs, TrainingState &state,
                  Collectives &ranks);

  /// Call this when fields of the solver have changed.
  void solverChanged() { rate = caffe::LearningRate(solver); }
  /// Returns the learning rate of the current iteration.
  double learningRate() const;

  /// Updates the parameters with sums of gradients and increments the
  /// iteration. Returns the learning rate.
  double apply();

  // In place of apply(), if the program `update` is started together with the
  // passes (Iteration.h):

  /// Returns whether the update neither reads the gradients before it, to clip
  /// them, nor the loss, for its learning rate, nor exchanges parameters after
  /// it.
  bool canOverlap() const {
    return solver.clip_gradients() < 0 && !sharded && !rate.readsLoss();
  }
  /// Sets the scalars that the program reads; returns the learning rate.
  double setScalars();
  /// Emits the learning rate of an iteration. `stepBefore`: the step of its
  /// policy before setScalars().
  void emitLearningRate(int iteration, double learningRate, int stepBefore);

  /// From now on, this rank updates its shard of the parameters and keeps its
  /// solver history. No-op on one rank.
  void shard();
  bool isSharded() const { return sharded != nullptr; }
  /// Gathers the solver history of all shards on every rank, and with
  /// `withUpdates` the updates in the gradient buffers. Call releaseHistory()
  /// afterwards. Both are no-ops unless the update is sharded.
  void gatherHistory(bool withUpdates);
  void releaseHistory();

private:
  double takeLearningRate();
  double setRateScalars();
  double gradientSumOfSquares();
  double clipFactor();

  Session &session;
  Executor &executor;
  const caffe::SolverParameter &solver;
  const TrainingPrograms &programs;
  TrainingState &state;
  Collectives &ranks;
  caffe::LearningRate rate;
  SolverScalars scalars;
  /// Null: each rank updates all parameters.
  std::unique_ptr<ShardedUpdate> sharded;
};

} // namespace brew::runtime
