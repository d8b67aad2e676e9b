//===- TensorAccesses.h - Bytes per access of a CUDA kernel -------*- C++ -*-===//
#pragma once

#include "compiler/cuda/KernelSchedule.h"
#include "compiler/kernels/AccessBytes.h"

namespace brew::compiler::cuda {

/// What each argument of `kernel`, with its loops as scheduled, is read and
/// written in. The bytes are those of bytesOf, an argument's divided among the
/// accesses that reach it by the elements that each of them reaches.
std::vector<TensorAccess> tensorAccesses(const Kernel &kernel,
                                     const KernelSchedule &schedule);

} // namespace brew::compiler::cuda
