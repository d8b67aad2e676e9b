//===- TensorAccesses.h - Access widths of a CUDA kernel --------*- C++ -*-===//
#pragma once

#include "compiler/cuda/KernelSchedule.h"
#include "compiler/kernels/AccessBytes.h"

namespace brew::compiler::cuda {

/// Returns the widths of the reads and writes of each argument of the scheduled
/// `kernel`. The total number of bytes equals bytesOf(); an argument's
/// bytes are divided among its accesses in proportion to the elements that each
/// touches.
std::vector<TensorAccess> tensorAccesses(const Kernel &kernel,
                                         const KernelSchedule &schedule);

} // namespace brew::compiler::cuda
