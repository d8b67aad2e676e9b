//===- NestInterpreter.h - Interpreter of plan.kernel bodies ----*- C++ -*-===//
//
// The reference for emitted kernels. It follows linalg's definition literally
// and ignores schedules and the order of elements in memory, except for the
// tensor type's layout.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "EmittedModule.h"

#include "dialects/Plan/PlanDialect.h"

namespace brew::test {

/// Runs `kernel` on the buffers of a launch. Throws std::logic_error for an
/// unknown operation.
void interpretKernel(dialects::plan::KernelOp kernel,
                     std::vector<LaunchBuffer> &buffers);

} // namespace brew::test
