//===- LearningRate.h - Learning-rate policies ------------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace brew::caffe {

/// Returns the names of all policies.
const std::vector<std::string> &learningRatePolicies();

/// The state that policies carry from iteration to iteration. Snapshots contain
/// it, in the fields of SSD's Caffe.
struct LearningRateState {
  int step = 0;
  float minimumLoss = std::numeric_limits<float>::max();
  bool hasMinimumLoss() const {
    return minimumLoss < std::numeric_limits<float>::max();
  }
  int lastEvent = 0; ///< iteration of the last new minimum, step or restart

  /// Sets the fields that BVLC Caffe lacks only if a policy has set them.
  void save(caffe::SolverState &state) const;
  void restore(const caffe::SolverState &state);
};

/// Computes the learning rate of each iteration by a policy of Caffe or one of
/// its forks:
///   fixed       base_lr
///   step        base_lr * gamma ^ floor(iter / stepsize)
///   exp         base_lr * gamma ^ iter
///   inv         base_lr * (1 + gamma * iter) ^ -power
///   multistep   base_lr * gamma ^ (number of stepvalues reached)
///   poly        min_lr + (base_lr - min_lr) * (1 - iter / max_iter) ^ power
///   sigmoid     base_lr / (1 + exp(-gamma * (iter - stepsize)))
///   plateau     base_lr * gamma ^ step, where `step` rises once the displayed
///               loss has had no minimum for plateau_winsize[step] iterations
///   sgdr        min_lr + (maximum - min_lr) * (1 + cos(pi * t / T)) / 2 in
///               iteration t of a period of T iterations; at each restart,
///               maximum *= lr_mult and T *= p_mult, from base_lr and period
///   multifixed  stagelr of the first stageiter that is not exceeded
///
/// Before iteration warmup_iter (or rampup_interval), the rate rises linearly
/// from warmup_start_lr (rampup_lr) to base_lr. Except with sgdr, it is at
/// least min_lr.
class LearningRate {
public:
  /// Throws Error (1) if the policy is unknown, or a field it needs is missing
  /// or out of range. Copies the fields it needs.
  explicit LearningRate(const caffe::SolverParameter &parameter);

  /// Returns the learning rate of iteration `iteration`, and updates `state`.
  /// As in Caffe, `step` sets the step, and `multistep` increments it by at
  /// most one per call. Only if readsLoss(), `loss` matters: the displayed loss
  /// of this iteration.
  double at(int iteration, LearningRateState &state, double loss = 0) const;

  bool readsLoss() const { return dependsOnLoss; }

private:
  std::function<double(int, LearningRateState &, double)> policy;
  double base = 0;
  double minimum = -std::numeric_limits<double>::infinity();
  int warmupIterations = 0;
  double warmupStart = 0;
  bool dependsOnLoss = false;
};

} // namespace brew::caffe
