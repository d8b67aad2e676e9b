//===- EmitKernelsLoops.h - Rearranging the loops of a part ------*- C++ -*-===//
#pragma once

#include "compiler/cpu/EmitKernelsModel.h"

namespace brew::compiler {

/// Brings a part's loops into the form that schedules expect: no loop of extent
/// 1, non-grid parallel loops and reorderable reductions in memory order, and
/// neighbouring loops that no access tells apart collapsed into one.
void normaliseLoops(Part &part);

/// Splits grid loop `loop` into an outer one and an inner one of `inner`
/// iterations, which must divide its extent.
void splitGridLoop(Part &part, unsigned loop, int64_t inner);

/// Decides which results need a buffer of their own when the first `outer` grid
/// loops enclose the whole part, and rewrites the addresses of those that do
/// to count from the start of such a buffer, which holds one grid point of
/// those loops.
void placeTemporaries(Part &part, unsigned outer);

} // namespace brew::compiler
