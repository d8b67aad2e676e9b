//===- NestInterpreter.h - Runs plan.kernel bodies one element at a time -===//
//
// The reference that emitted kernels are compared with: it follows linalg's
// definition literally and knows nothing of schedules or of the order of
// elements in memory but the tensor type's layout.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "EmittedModule.h"

#include "dialects/Plan/PlanDialect.h"

namespace brew::test {

/// Runs `kernel` on the buffers of a launch. Throws std::logic_error for an
/// operation that it does not know.
void interpretKernel(dialects::plan::KernelOp kernel,
                     std::vector<LaunchBuffer> &buffers);

} // namespace brew::test
