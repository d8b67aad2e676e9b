//===- KernelIndices.h - How a body's indices move --------------*- C++ -*-===//
#pragma once

#include "compiler/kernels/KernelModel.h"

#include <optional>

namespace brew::compiler {

/// How an index value of a nest's body moves from one iteration of `loop` to
/// the next; null if not by a constant. Where it is clamped by constants, its
/// step while the clamps let it pass.
std::optional<int64_t> indexStep(const Nest &nest, mlir::Value index,
                                 unsigned loop);

/// The same for the address of an extract, which operation `op` does.
std::optional<int64_t> extractStep(const Nest &nest, mlir::Operation *op,
                                   const Extract &access, unsigned loop);

/// Elements that an access of a nest reaches at most: one for each iteration of
/// the loops that move it.
int64_t elementsAccessed(const Nest &nest, const LinearExpr &address);
int64_t elementsAccessed(const Nest &nest, mlir::Operation *op,
                        const Extract &access);

/// The constant by which `op` of a body divides the index of `loop`, if it does
/// so, for the quotient (arith.divui) or the remainder (arith.remui).
std::optional<int64_t> divisorOf(const Nest &nest, mlir::Operation *op,
                                 unsigned loop);

/// The length of the equal pieces of `loop` that the bodies of a subKernel's nests
/// tell apart: they divide its index by that alone. Null if they do not divide
/// it, by different numbers, or by one that does not divide the extent.
std::optional<int64_t> pieceLength(const SubKernel &subKernel, unsigned loop);

/// Operations of the body that compare an index with a constant, or clamp it to
/// one, and that all iterations of `loop` but some first and last ones pass
/// unchanged: max and min give back their first operand, comparisons (< and
/// >=) are true.
llvm::SmallVector<mlir::Operation *> boundaryOperations(const Nest &nest,
                                                    unsigned loop);

/// Comparisons of the body without which an iteration leaves all accumulators
/// as they are: sums to which it adds a selected zero, or values it does not
/// select. They are comparisons (< or >=) of an index with a constant. Empty if
/// the boundary operations along `loop` do not all follow from them.
llvm::SmallVector<mlir::Operation *> guardOperations(const Nest &nest,
                                                     unsigned loop);

} // namespace brew::compiler
