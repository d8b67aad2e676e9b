//===- TrainingPrograms.h - Programs of training ----------------*- C++ -*-===//
#pragma once

#include "runtime/executor/Executor.h"

namespace brew::runtime {

/// The programs of a plan that train.
struct TrainingPrograms {
  /// Throws Error (1) if the plan cannot be trained.
  explicit TrainingPrograms(const Executor &executor);

  int train; ///< forward_backward
  int update;
  int clip; ///< -1: not in the plan
};

} // namespace brew::runtime
