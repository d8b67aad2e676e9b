//===- BodyEmitter.h - Emission of nest bodies ------------------*- C++ -*-===//
#pragma once

#include "compiler/kernels/KernelModel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <optional>

namespace brew::compiler::cpu {

/// The MLIR values that represent a sub-kernel's values during emission. All
/// memrefs are one-dimensional, regardless of the tensor's layout.
struct EmittedValues {
  llvm::SmallVector<mlir::Value> arguments;
  /// [nest][result]: buffer, or null.
  std::vector<llvm::SmallVector<mlir::Value>> temporaries;
  /// [nest][result]: the value at the current grid point, or null.
  std::vector<llvm::SmallVector<mlir::Value>> scalars;
};

/// Temporary buffers of a kernel: small ones on the stack, others on the heap.
/// Each is allocated once per kernel call.
class ScratchBuffers {
public:
  explicit ScratchBuffers(mlir::Block &entry) : entry(entry) {}
  /// Allocates a one-dimensional buffer, aligned for any vector.
  mlir::Value allocate(mlir::Location loc, mlir::Type element, int64_t size);
  /// Emits the deallocation of the heap buffers, at the end of the function.
  void release(mlir::OpBuilder &b, mlir::Location loc);

private:
  mlir::Block &entry;
  llvm::SmallVector<mlir::Value> heap;
};

/// One of the equal pieces into which bodies divide a loop (see commonDivisor).
/// Inside it, divisions of the loop's index have the results `quotient` and
/// `remainder`.
struct LoopPiece {
  unsigned loop;
  mlir::Value quotient, remainder;
};

/// Emits loops and bodies of a sub-kernel's nests at the builder's insertion
/// point.
class BodyEmitter {
public:
  BodyEmitter(mlir::OpBuilder &builder, mlir::Location loc,
              SubKernel &subKernel, EmittedValues &storage)
      : b(builder), loc(loc), subKernel(subKernel), storage(storage) {}

  /// Emits an index constant.
  mlir::Value index(int64_t value);
  /// Emits a loop from `begin` to `end`, with the content that `emitInside`
  /// emits. `innermost` makes LLVM vectorise the loop before it unrolls it.
  void loop(mlir::Value begin, mlir::Value end, int64_t step,
            llvm::function_ref<void(mlir::Value)> emitInside,
            bool innermost = false);
  /// Emits nested loops for the loops `loopNumbers` of a nest, and sets their
  /// indices in `indices`.
  void loops(const Nest &nest, llvm::ArrayRef<unsigned> loopNumbers,
             llvm::SmallVectorImpl<mlir::Value> &indices,
             llvm::function_ref<void()> emitInside);
  /// Emits the address for the loop indices `loops`, which may be null where
  /// the coefficient is 0.
  mlir::Value address(const LinearExpr &linear, mlir::ValueRange loops);
  /// Unrolls the loops `loopNumbers`: calls emitInside() for every iteration,
  /// in order.
  void unroll(llvm::ArrayRef<unsigned> loopNumbers, const Nest &nest,
              llvm::SmallVectorImpl<mlir::Value> &indices,
              llvm::function_ref<void()> emitInside);
  mlir::Value load(const Source &source, mlir::Value address);
  /// Emits the value of an output before the first iteration.
  mlir::Value initial(const Output &output, mlir::ValueRange loops);
  /// Emits the initial values of all outputs; null for outputs that the body
  /// does not read.
  llvm::SmallVector<mlir::Value> initials(const Nest &nest,
                                          mlir::ValueRange loops);
  /// Emits one iteration. `accumulated` are the current values of the outputs
  /// (null if the body does not read them); returns their next values. With
  /// `vectorMaximum`, an accumulating maximum becomes an operation that LLVM
  /// vectorises as a reduction.
  llvm::SmallVector<mlir::Value> iterate(Nest &nest, mlir::ValueRange loops,
                                         mlir::ValueRange accumulated,
                                         bool vectorMaximum = false);
  /// Narrows [begin, end) (index values) to the iterations of `loop` in which
  /// all of `boundaries` (see boundaryOperations and guardOperations) have no
  /// effect. `loops` are the indices of the other loops. The result may be
  /// empty: end < begin.
  void narrowRange(Nest &nest, unsigned loop,
                   llvm::ArrayRef<mlir::Operation *> boundaries,
                   llvm::ArrayRef<mlir::Value> loops, mlir::Value &begin,
                   mlir::Value &end);
  /// Emits the conjunction of `guards`, which must not depend on loops that
  /// have no index yet. Returns null if there are no guards.
  mlir::Value guardCondition(Nest &nest,
                             llvm::ArrayRef<mlir::Operation *> guards,
                             llvm::ArrayRef<mlir::Value> loops);
  /// Boundary operations that are known to have no effect in the code being
  /// emitted.
  llvm::SmallPtrSet<mlir::Operation *, 8> elidedBoundaries;
  /// The loop piece being emitted, if the loop is divided.
  std::optional<LoopPiece> piece;

  /// Stores result `result` of `nest` where later readers find it.
  void store(Nest &nest, unsigned nestNumber, unsigned result,
             mlir::ValueRange loops, mlir::Value value);

private:
  mlir::Value constant(mlir::TypedAttr value);
  /// Emits one operation of a body whose operands are in `map`.
  void emitOperation(mlir::Operation &op, Nest &nest, mlir::ValueRange loops,
                     mlir::IRMapping &map);
  /// Emits the operations on which `value` of a body depends. Returns the
  /// emitted value.
  mlir::Value emitSlice(mlir::Value value, Nest &nest, mlir::ValueRange loops,
                        mlir::IRMapping &map);

  mlir::OpBuilder &b;
  mlir::Location loc;
  SubKernel &subKernel;
  EmittedValues &storage;
};

} // namespace brew::compiler::cpu
