//===- BodyEmitter.h - The scalar work of a nest ------------*- C++ -*-===//
#pragma once

#include "compiler/kernels/KernelModel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <optional>

namespace brew::compiler::cpu {

/// Where the values of a subKernel are while its code is built. All memrefs are
/// one-dimensional, whatever the layout of the tensor.
struct EmittedValues {
  llvm::SmallVector<mlir::Value> arguments;
  /// [nest][result]: buffer, or null.
  std::vector<llvm::SmallVector<mlir::Value>> temporaries;
  /// [nest][result]: the value at the present grid point, or null.
  std::vector<llvm::SmallVector<mlir::Value>> scalars;
};

/// Memory that a kernel needs while it runs: on the stack if small, else on
/// the heap, and once per call either way.
class ScratchBuffers {
public:
  explicit ScratchBuffers(mlir::Block &entry) : entry(entry) {}
  /// A one-dimensional buffer, aligned for any vector.
  mlir::Value allocate(mlir::Location loc, mlir::Type element, int64_t size);
  /// Frees what lies on the heap; called at the end of the function.
  void release(mlir::OpBuilder &b, mlir::Location loc);

private:
  mlir::Block &entry;
  llvm::SmallVector<mlir::Value> heap;
};

/// One of the equal pieces that bodies divide a loop into (see pieceLength):
/// in it the quotients of the loop's index are `number`, the remainders
/// `place`.
struct LoopPiece {
  unsigned loop;
  mlir::Value quotient, remainder;
};

/// Writes bodies of a subKernel's nests, and loops, at the builder's insertion
/// point.
class BodyEmitter {
public:
  BodyEmitter(mlir::OpBuilder &builder, mlir::Location loc, SubKernel &subKernel,
              EmittedValues &storage)
      : b(builder), loc(loc), subKernel(subKernel), storage(storage) {}

  mlir::Value index(int64_t value);
  /// A loop from `begin` to `end`. An `innermost` one is for LLVM to vectorise.
  void loop(mlir::Value begin, mlir::Value end, int64_t step,
            llvm::function_ref<void(mlir::Value)> inside,
            bool innermost = false);
  /// Nested loops over `which` of a nest's loops; sets their values in `at`.
  void loops(const Nest &nest, llvm::ArrayRef<unsigned> which,
             llvm::SmallVectorImpl<mlir::Value> &at,
             llvm::function_ref<void()> inside);
  /// The address for the given values of the nest's loops (null where the
  /// coefficient is 0).
  mlir::Value address(const LinearExpr &linear, mlir::ValueRange loops);
  /// Calls inside() for all iterations of loops `which`, in order.
  void unroll(llvm::ArrayRef<unsigned> which, const Nest &nest,
              llvm::SmallVectorImpl<mlir::Value> &at,
              llvm::function_ref<void()> inside);
  mlir::Value load(const Source &source, mlir::Value address);
  /// What an output holds before the first iteration.
  mlir::Value initial(const Output &output, mlir::ValueRange loops);
  /// The same for all outputs; null for those that the body does not read.
  llvm::SmallVector<mlir::Value> initials(const Nest &nest,
                                          mlir::ValueRange loops);
  /// `start` plus the `size` elements of a buffer.
  mlir::Value sumOf(mlir::Value buffer, int64_t size, mlir::Value start);
  /// One iteration. `accumulated` are the present values of the outputs (null
  /// where the body does not read them). Returns their next ones. With
  /// `vectorMaximum`, a maximum that accumulates becomes an operation that
  /// LLVM vectorises as a reduction.
  llvm::SmallVector<mlir::Value> iterate(Nest &nest, mlir::ValueRange loops,
                                         mlir::ValueRange accumulated,
                                         bool vectorMaximum = false);
  /// Narrows [begin, end) (index values) to the iterations of `loop` in which
  /// all of `boundaries` (see boundaryOperations and guardOperations) pass; `loops`
  /// are the values of the other loops. The result may be empty, end < begin.
  void narrowRange(Nest &nest, unsigned loop,
              llvm::ArrayRef<mlir::Operation *> boundaries,
              llvm::ArrayRef<mlir::Value> loops, mlir::Value &begin,
              mlir::Value &end);
  /// The condition that all of `guards`, which do not move along the loops that
  /// have no value yet, hold; null if there are none.
  mlir::Value guardCondition(Nest &nest, llvm::ArrayRef<mlir::Operation *> guards,
                    llvm::ArrayRef<mlir::Value> loops);
  /// Edge operations that are known to pass their operand unchanged in the code
  /// that is being written.
  llvm::SmallPtrSet<mlir::Operation *, 8> elidedBoundaries;
  /// The piece of a loop that is being written, if it is divided.
  std::optional<LoopPiece> piece;

  /// Stores result `result` of `nest` where later readers find it.
  void store(Nest &nest, unsigned nestNumber, unsigned result,
             mlir::ValueRange loops, mlir::Value value);

private:
  mlir::Value constant(mlir::TypedAttr value);
  /// Writes one operation of a body whose operands are in `map`.
  void emitOperation(mlir::Operation &op, Nest &nest, mlir::ValueRange loops,
                     mlir::IRMapping &map);
  /// Writes what `value` of a body depends on; returns its counterpart.
  mlir::Value emitSlice(mlir::Value value, Nest &nest, mlir::ValueRange loops,
                        mlir::IRMapping &map);

  mlir::OpBuilder &b;
  mlir::Location loc;
  SubKernel &subKernel;
  EmittedValues &storage;
};

} // namespace brew::compiler::cpu
