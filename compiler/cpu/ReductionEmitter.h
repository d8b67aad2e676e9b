//===- ReductionEmitter.h - Reduction loops of a nest -----------*- C++ -*-===//
#pragma once

#include "compiler/cpu/InnermostLoop.h"
#include "compiler/cpu/Schedule.h"

namespace brew::compiler::cpu {

/// Emits the loops of nests that reduce values. Long sums (see hasLongSums) are
/// sums of blocks.
class ReductionEmitter {
public:
  ReductionEmitter(mlir::OpBuilder &builder, mlir::Location loc,
                   BodyEmitter &body, ScratchBuffers &scratch)
      : b(builder), loc(loc), body(body), innermostLoop(builder, loc, body),
        scratch(scratch) {}

  using Indices = llvm::SmallVector<mlir::Value>;

  /// Emits bodies inside the reduction loops `loopNumbers`, which carry the
  /// accumulators: one body for each of `points`, the indices of the other
  /// loops. `values` are the initial values, point by point; returns the final
  /// values.
  llvm::SmallVector<mlir::Value>
  emitCarried(Nest &nest, llvm::ArrayRef<unsigned> loopNumbers,
              llvm::MutableArrayRef<Indices> points,
              llvm::SmallVector<mlir::Value> values);
  /// Emits a nest as RowAccumulation describes; `parallel` are its parallel
  /// loops. `nestNumber` is the nest's position in the sub-kernel.
  void emitRows(Nest &nest, unsigned nestNumber,
                const RowAccumulation &accumulation,
                llvm::SmallVector<unsigned> parallel,
                llvm::SmallVectorImpl<mlir::Value> &indices);

private:
  /// The buffers of a row that a nest accumulates, one per output. `sums` is
  /// what the iterations add to: `totals`, or the sums of a block.
  struct Row {
    llvm::SmallVector<mlir::Value> totals, sums;
    /// The row's index of the jammed loop, if there is one.
    mlir::Value jammedIndex;
    /// Position of the row's first element in `totals`; null for 0.
    mlir::Value firstTotal;
  };
  struct RowGroup;

  /// Emits loops over the unit's groups of rows that share the reduction loops.
  /// `parallel` are the loops around the rows and the jammed loop.
  void forEachGroup(Nest &nest, const RowAccumulation &accumulation,
                    llvm::ArrayRef<unsigned> parallel, llvm::ArrayRef<Row> rows,
                    llvm::SmallVectorImpl<mlir::Value> &indices,
                    llvm::function_ref<void(RowGroup &)> emitInside);
  /// Emits the position of the row's first element among the unit's totals.
  mlir::Value firstTotal(const Nest &nest, const RowAccumulation &accumulation,
                         llvm::ArrayRef<unsigned> parallel, const Row &row,
                         mlir::ValueRange indices);
  void emitGroup(RowGroup &group, unsigned nestNumber);

  /// Emits a vectorised loop over elements [from, to) of the rows, or over all.
  void
  forEachElement(RowGroup &group, mlir::Value from, mlir::Value to,
                 llvm::function_ref<void(const Row &, mlir::Value)> emitInside);
  void
  forEachElement(RowGroup &group,
                 llvm::function_ref<void(const Row &, mlir::Value)> emitInside);
  void emitInitials(RowGroup &group);
  /// Emits the iterations of the loops `reductions` and the innermost loop.
  void emitIterations(RowGroup &group, llvm::ArrayRef<unsigned> reductions);
  /// Emits the block of a sum that consists of the iterations [first, end) of
  /// loop `divided`, and adds its sums to the totals.
  void emitBlock(RowGroup &group, unsigned divided, mlir::Value first,
                 mlir::Value end);
  void emitResults(RowGroup &group, unsigned nestNumber);
  /// Emits `start` plus the sum of the row's totals of output `output`.
  mlir::Value sumOfRow(const Row &row, unsigned output, int64_t length,
                       mlir::Value start);
  /// Emits the innermost of the loops that carry accumulators, for [from, to).
  llvm::SmallVector<mlir::Value> carryInnermost(
      Nest &nest, unsigned number, llvm::MutableArrayRef<Indices> points,
      llvm::SmallVector<mlir::Value> values, mlir::Value from, mlir::Value to);
  /// Emits a loop with the accumulators `values`. emitInside(i, values) returns
  /// their next values. Returns the final values.
  llvm::SmallVector<mlir::Value>
  carry(mlir::Value from, mlir::Value to, int64_t step, mlir::ValueRange values,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(
            mlir::Value, llvm::SmallVector<mlir::Value>)>
            emitInside);
  /// Emits the loops over the blocks of a sum. Calls emitBlock(divided, first,
  /// end), where [first, end) are the block's iterations of loop `divided`.
  void forEachBlock(
      const Nest &nest, const RowAccumulation &accumulation,
      llvm::SmallVectorImpl<mlir::Value> &indices,
      llvm::function_ref<void(unsigned, mlir::Value, mlir::Value)> emitBlock);
  /// Emits the end of the block that begins at `first`.
  mlir::Value blockEnd(mlir::Value first, int64_t length, mlir::Value last);
  /// Emits one iteration at each point; returns the next values.
  llvm::SmallVector<mlir::Value> iterate(Nest &nest,
                                         llvm::MutableArrayRef<Indices> points,
                                         mlir::ValueRange values);
  llvm::SmallVector<mlir::Value> zeros(const Nest &nest, unsigned points = 1);
  llvm::SmallVector<mlir::Value> added(mlir::ValueRange left,
                                       mlir::ValueRange right);
  llvm::SmallVector<mlir::Value> load(llvm::ArrayRef<mlir::Value> buffers,
                                      mlir::Value i);
  void store(mlir::ValueRange values, llvm::ArrayRef<mlir::Value> buffers,
             mlir::Value i);
  /// Emits the position of element `i` of the row in its totals.
  mlir::Value totalOf(const Row &row, mlir::Value i);

  mlir::OpBuilder &b;
  mlir::Location loc;
  BodyEmitter &body;
  InnermostLoop innermostLoop;
  ScratchBuffers &scratch;
};

} // namespace brew::compiler::cpu
