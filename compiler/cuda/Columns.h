//===- Columns.h - Schedules in columns -------------------------*- C++ -*-===//
#pragma once

#include "compiler/cuda/KernelSchedule.h"

namespace brew::compiler::cuda {

/// Returns the number of columns per block, given the schedule of the nests; 1
/// if the sub-kernel is not a reduction followed by nests on its result per
/// point.
unsigned columnsOf(const SubKernel &subKernel, const SubKernelSchedule &base);

/// Returns a reduction loop of a nest whose iterations `shares` threads can
/// share with little waste; null if there is none.
std::optional<unsigned> loopToShare(const Nest &nest, const NestSchedule &inner,
                                    int64_t shares);

/// Interleaves the rows of the chunks of a split reduction, in tiles of
/// adjacent rows: all blocks then read adjacent rows at the same time, and the
/// rows that they read last are the last rows. `shares` threads share a chunk.
/// Rewrites addresses for the loop that openShares() emits. Returns the rows of
/// a tile, which divide `shares`, or 0 if the chunks stay contiguous.
int64_t interleaveChunks(SubKernel &subKernel, int64_t shares);

/// Returns whether `last` reads, for each tile of points, only results of
/// `first` (scheduled in columns) from the same tile.
bool readsOwnTile(const SubKernel &first, const SubKernelSchedule &chosen,
                  const SubKernel &last);

} // namespace brew::compiler::cuda
