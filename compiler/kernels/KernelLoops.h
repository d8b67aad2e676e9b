//===- KernelLoops.h - Loops of a part, their indices ------------*- C++
//-*-===//
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

/// Decides which results need a buffer of their own when the first `outer` grid
/// loops enclose the whole part, and rewrites the addresses of those that do
/// to count from the start of such a buffer, which holds one grid point of
/// those loops.
void placeTemporaries(Part &part, unsigned outer);

/// How an index value of a nest's body moves from one iteration of `loop` to
/// the next; null if not by a constant. Where it is clamped by constants, its
/// step while the clamps let it pass.
std::optional<int64_t> indexStep(const Nest &nest, mlir::Value index,
                                 unsigned loop);

/// The same for the address of an extract, which operation `op` does.
std::optional<int64_t> extractStep(const Nest &nest, mlir::Operation *op,
                                   const Extract &access, unsigned loop);

/// Operations of the body that compare an index with a constant, or clamp it to
/// one, and that all iterations of `loop` but some first and last ones pass
/// unchanged: max and min give back their first operand, comparisons (< and
/// >=) are true.
llvm::SmallVector<mlir::Operation *> edgeOperations(const Nest &nest,
                                                    unsigned loop);

/// Comparisons of the body without which an iteration leaves all accumulators
/// as they are: sums to which it adds a selected zero, or values it does not
/// select. They are comparisons (< or >=) of an index with a constant. Empty if
/// the edge operations along `loop` do not all follow from them.
llvm::SmallVector<mlir::Operation *> guardOperations(const Nest &nest,
                                                     unsigned loop);

} // namespace brew::compiler
