//===- KernelLoops.h - Loop transformations of a sub-kernel -----*- C++ -*-===//
#pragma once

#include "compiler/kernels/KernelModel.h"

namespace brew::compiler {

/// Normalises the loops of a sub-kernel for scheduling: removes loops of extent
/// 1, sorts parallel loops and reorderable reductions in memory order, and
/// collapses adjacent loops that every access treats as one.
void normaliseLoops(SubKernel &subKernel);

/// Returns the number of iterations of the first `loops` grid loops.
int64_t gridPoints(const SubKernel &subKernel, unsigned loops);

/// Returns the number of the nest with the most iterations.
unsigned mainNestOf(const SubKernel &subKernel);

/// Splits grid loop `loop` into an outer loop and an inner loop of `inner`
/// iterations; `inner` must divide the extent.
void splitGridLoop(SubKernel &subKernel, unsigned loop, int64_t inner);

/// Moves grid loop `from` inwards, to position `to` of the grid.
void moveGridLoop(SubKernel &subKernel, unsigned from, unsigned to);

} // namespace brew::compiler
