//===- NestInterpreter.h - Interpreter of plan.kernel bodies ----*- C++ -*-===//
//
// Computes reference results for emitted kernels. Executes each linalg.generic
// in row-major loop order and ignores its schedule. The layouts of tensor types
// matter only for reading and writing the buffers.
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
