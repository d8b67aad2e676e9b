//===- SolverScalars.h - The numbers an update reads ------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "runtime/executor/Executor.h"

#include <cstdint>

namespace brew::runtime {

/// Writes the slots of the SCALARS arena, which kernels of the program
/// `update` read.
class SolverScalars {
public:
  /// Throws Error (1) if the plan's arena is too small for its slots. A plan
  /// without the arena is accepted; set() then does nothing, as no kernel can
  /// read it.
  explicit SolverScalars(Executor &executor);

  /// Programs that were started before keep the value they had.
  void set(plan::SolverScalar slot, double value);
  /// Sets the slots that depend on the solver's fields alone; `iteration` is
  /// that of the update to come, from 0 on.
  void setFields(const caffe::SolverParameter &solver, int iteration);

private:
  Executor *executor = nullptr; ///< null without the arena
  std::uint32_t arena = 0;
  plan::DataType type = plan::F32;
};

} // namespace brew::runtime
