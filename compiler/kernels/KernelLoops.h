//===- KernelLoops.h - Loops of a subKernel --------------------------*- C++ -*-===//
#pragma once

#include "compiler/kernels/KernelModel.h"

namespace brew::compiler {

/// Brings a subKernel's loops into the form that schedules expect: no loop of extent
/// 1, parallel loops and reorderable reductions in memory order, and
/// neighbouring loops that no access tells apart collapsed into one.
void normaliseLoops(SubKernel &subKernel);

/// Splits grid loop `loop` into an outer one and an inner one of `inner`
/// iterations, which must divide its extent.
void splitGridLoop(SubKernel &subKernel, unsigned loop, int64_t inner);

/// Moves grid loop `from` inwards, to position `to` of the grid.
void moveGridLoop(SubKernel &subKernel, unsigned from, unsigned to);

} // namespace brew::compiler
