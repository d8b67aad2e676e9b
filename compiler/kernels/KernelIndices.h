//===- KernelIndices.h - Analysis of a body's indices -----------*- C++ -*-===//
#pragma once

#include "compiler/kernels/KernelModel.h"

#include <optional>

namespace brew::compiler {

/// Returns the step of an index value of a body between iterations of `loop`,
/// or null if the step is not constant. If the value is clamped by constants,
/// returns its step inside the clamps.
std::optional<int64_t> indexStep(const Nest &nest, mlir::Value index,
                                 unsigned loop);

/// Returns the step of the address of extract `op` between iterations of
/// `loop`, or null if the step is not constant.
std::optional<int64_t> extractStep(const Nest &nest, mlir::Operation *op,
                                   const Extract &access, unsigned loop);

/// Returns an index as a linear function of the loops: a loop's index, or the
/// quotient (arith.divui) or remainder (arith.remui) of such a function and a
/// constant, if some loops change the function by multiples of the constant,
/// and the others together by less than it. Null for other values.
std::optional<LinearExpr> linearIndex(const Nest &nest, mlir::Value index);

/// Return an upper bound for the number of elements that an access touches: one
/// per iteration of the loops that move it.
int64_t elementsAccessed(const Nest &nest, const LinearExpr &address);
int64_t elementsAccessed(const Nest &nest, mlir::Operation *op,
                         const Extract &access);

/// Returns the constant divisor if `op` is the quotient (arith.divui) or the
/// remainder (arith.remui) of the index of `loop` (see linearIndex).
std::optional<int64_t> divisorOf(const Nest &nest, mlir::Operation *op,
                                 unsigned loop);

/// Returns the length of the equal pieces into which the bodies of a sub-kernel
/// divide `loop`. Null if they do not divide its index, divide it by different
/// numbers, or by a number that does not divide the extent.
std::optional<int64_t> commonDivisor(const SubKernel &subKernel, unsigned loop);

/// Returns the operations that compare an index with a constant or clamp it to
/// one, and that have no effect in all but the first and last iterations of
/// `loop`: max and min return their first operand, comparisons (< and >=) are
/// true.
llvm::SmallVector<mlir::Operation *> boundaryOperations(const Nest &nest,
                                                        unsigned loop);

/// Returns comparisons (< or >=) of an index with a constant that guard all
/// effects of an iteration: if one is false, accumulators stay unchanged,
/// because a selected zero is added or the new value is not selected. Empty if
/// the boundary operations along `loop` do not all follow from them.
llvm::SmallVector<mlir::Operation *> guardOperations(const Nest &nest,
                                                     unsigned loop);

} // namespace brew::compiler
