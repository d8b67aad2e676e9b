//===- EmitKernelsBody.h - The scalar work of a nest -------------*- C++
//-*-===//
#pragma once

#include "compiler/cpu/EmitKernelsModel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace brew::compiler {

/// Where the values of a part are while its code is built. All memrefs are
/// one-dimensional, whatever the layout of the tensor.
struct Storage {
  llvm::SmallVector<mlir::Value> arguments;
  /// [nest][result]: buffer, or null.
  std::vector<llvm::SmallVector<mlir::Value>> temporaries;
  /// [nest][result]: the value at the present grid point, or null.
  std::vector<llvm::SmallVector<mlir::Value>> scalars;
};

/// Writes bodies of a part's nests at the builder's insertion point.
class BodyEmitter {
public:
  BodyEmitter(mlir::OpBuilder &builder, mlir::Location loc, Part &part,
              Storage &storage)
      : b(builder), loc(loc), part(part), storage(storage) {}

  mlir::Value index(int64_t value);
  /// The address for the given values of the nest's loops (null where the
  /// coefficient is 0).
  mlir::Value address(const Linear &linear, mlir::ValueRange loops);
  mlir::Value load(const Source &source, mlir::Value address);
  /// What an output holds before the first iteration.
  mlir::Value initial(const Output &output, mlir::ValueRange loops);
  /// One iteration. `accumulated` are the present values of the outputs (null
  /// where the body does not read them). Returns their next ones. With
  /// `vectorMaximum`, a maximum that accumulates becomes an operation that
  /// LLVM vectorises as a reduction.
  llvm::SmallVector<mlir::Value> iterate(Nest &nest, mlir::ValueRange loops,
                                         mlir::ValueRange accumulated,
                                         bool vectorMaximum = false);
  /// Narrows [begin, end) (index values) to the iterations of `loop` in which
  /// all of `edges` (see edgeOperations and guardOperations) pass; `loops`
  /// are the values of the other loops. The result may be empty, end < begin.
  void narrow(Nest &nest, unsigned loop,
              llvm::ArrayRef<mlir::Operation *> edges,
              llvm::ArrayRef<mlir::Value> loops, mlir::Value &begin,
              mlir::Value &end);
  /// Edge operations that are known to pass their operand unchanged in the code
  /// that is being written.
  llvm::SmallPtrSet<mlir::Operation *, 8> passed;

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
  Part &part;
  Storage &storage;
};

} // namespace brew::compiler
