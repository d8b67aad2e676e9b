//===- TrainingState.h - State of a training run ----------------*- C++ -*-===//
#pragma once

#include "caffe/LearningRate.h"
#include "formats/caffe.pb.h"
#include "runtime/train/metrics/LossWindow.h"

#include <string>
#include <vector>

namespace brew::runtime {

/// Returns whether something with an interval of iterations (0: never) is due.
inline bool isDue(int interval, int iteration) {
  return interval && iteration % interval == 0;
}

/// The numbers of a training run that snapshots contain, besides those of the
/// session: parameters, solver history, seed, persistent state and the
/// positions of readers.
struct TrainingState {
  int iteration = 0; ///< number of updates started
  caffe::LearningRateState rate;
  LossWindow losses;            ///< of the last average_loss iterations
  std::vector<double> attached; ///< numbers of the caller (setCallerState())

  /// Adds the numbers to a solver state.
  void save(caffe::SolverState &state) const;
  /// Restores iteration, learning rate and the caller's numbers. Throws Error
  /// (1) that names `path` if the state is damaged.
  void restore(const caffe::SolverState &state, const std::string &path);
  /// Restores the last `size` losses.
  void restoreLosses(const caffe::SolverState &state, int size);
};

} // namespace brew::runtime
