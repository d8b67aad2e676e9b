//===- StepBuffers.h - Buffers that a step accesses -------------*- C++ -*-===//
#pragma once

#include "plan/plan.pb.h"

#include <cstdint>
#include <vector>

namespace brew::plan {

/// Returns the indices of the buffers that `step` reads or writes. Operands of
/// library calls come in the order x, w, b, y.
std::vector<std::uint32_t> buffersOf(const Step &step);

} // namespace brew::plan
