//===- Columns.h - Neighbouring points that a block takes ---*- C++ -*-===//
#pragma once

#include "compiler/cuda/KernelSchedule.h"

namespace brew::compiler::cuda {

/// Whether a block can take points of `subKernel` as columns, given the schedule of
/// its nests: a reduction, then what each point makes of it. How many.
unsigned columnsOf(const SubKernel &subKernel, const SubKernelSchedule &base);

/// The reduction loop of a nest whose iterations `shares` threads can share
/// with little waste, if any can.
std::optional<unsigned> loopToShare(const Nest &nest, const NestSchedule &inner,
                                    int64_t shares);

/// Whether everything that subKernel `last` reads of what `first`, scheduled in
/// columns, writes for a tile of points belongs to the same tile of its own.
bool readsOwnTile(const SubKernel &first, const SubKernelSchedule &chosen,
                  const SubKernel &last);

} // namespace brew::compiler::cuda
