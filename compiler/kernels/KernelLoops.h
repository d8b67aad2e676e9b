//===- KernelLoops.h - Loops of a part --------------------------*- C++ -*-===//
#pragma once

#include "compiler/kernels/KernelModel.h"

namespace brew::compiler {

/// Brings a part's loops into the form that schedules expect: no loop of extent
/// 1, parallel loops and reorderable reductions in memory order, and
/// neighbouring loops that no access tells apart collapsed into one.
void normaliseLoops(Part &part);

/// Splits grid loop `loop` into an outer one and an inner one of `inner`
/// iterations, which must divide its extent.
void splitGridLoop(Part &part, unsigned loop, int64_t inner);

/// Moves grid loop `from` inwards, to position `to` of the grid.
void moveGridLoop(Part &part, unsigned from, unsigned to);

} // namespace brew::compiler
