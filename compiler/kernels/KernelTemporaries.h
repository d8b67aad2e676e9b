//===- KernelTemporaries.h - Temporary buffers of a sub-kernel --*- C++ -*-===//
#pragma once

#include "compiler/kernels/KernelModel.h"

namespace brew::compiler {

/// Decides which results need a temporary buffer if the first `outer` grid
/// loops enclose the whole sub-kernel. Rewrites the addresses of these results
/// to offsets in such a buffer, which contains one grid point of those loops.
void assignTemporaries(SubKernel &subKernel, unsigned outer);

} // namespace brew::compiler
