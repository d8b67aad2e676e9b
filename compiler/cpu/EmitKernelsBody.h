//===- EmitKernelsBody.h - The scalar work of a nest -------------*- C++ -*-===//
#pragma once

#include "compiler/cpu/EmitKernelsModel.h"

#include "mlir/IR/Builders.h"

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
  /// Stores result `result` of `nest` where later readers find it.
  void store(Nest &nest, unsigned nestNumber, unsigned result,
             mlir::ValueRange loops, mlir::Value value);

private:
  mlir::Value constant(mlir::TypedAttr value);

  mlir::OpBuilder &b;
  mlir::Location loc;
  Part &part;
  Storage &storage;
};

} // namespace brew::compiler
