//===- SolverScalars.h - The numbers an update reads ------------*- C++ -*-===//
#pragma once

#include "runtime/Executor.h"

#include <cstddef>

namespace brew::runtime {

/// Writes the slots of the SCALARS arena, which kernels of the program
/// `update` read.
class SolverScalars {
public:
  /// Throws Error (1) if the plan's arena is too small for its slots. A plan
  /// without the arena is accepted; set() then does nothing, as no kernel can
  /// read it.
  explicit SolverScalars(Executor &executor);

  void set(plan::SolverScalar slot, double value);

private:
  std::byte *base = nullptr;
  plan::DataType type = plan::F32;
};

} // namespace brew::runtime
