//===- SolverScalars.h - Scalars read by parameter updates ------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "runtime/executor/Executor.h"

#include <cstdint>

namespace brew::runtime {

/// Writes the slots of the SCALARS arena, which kernels of the program `update`
/// read.
class SolverScalars {
public:
  /// Throws Error (1) if the plan's arena is too small for its slots. Without
  /// the arena, set() does nothing, since no kernel can read it.
  explicit SolverScalars(Executor &executor);

  /// Sets a slot. Programs already started keep the previous value.
  void set(plan::SolverScalar slot, double value);
  /// Sets the slots that depend only on the solver's fields; `iteration` is
  /// that of the next update, counted from 0.
  void setFields(const caffe::SolverParameter &solver, int iteration);

private:
  Executor *executor = nullptr; ///< null without the arena
  std::uint32_t arena = 0;
  plan::DataType type = plan::F32;
};

} // namespace brew::runtime
