//===- KernelTemporaries.h - Results that stay in a subKernel --------*- C++ -*-===//
#pragma once

#include "compiler/kernels/KernelModel.h"

namespace brew::compiler {

/// Decides which results need a buffer of their own when the first `outer` grid
/// loops enclose the whole subKernel, and rewrites the addresses of those that do
/// to count from the start of such a buffer, which holds one grid point of
/// those loops.
void assignTemporaries(SubKernel &subKernel, unsigned outer);

} // namespace brew::compiler
