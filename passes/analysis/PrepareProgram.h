//===- PrepareProgram.h - Builder of the program `prepare` ------*- C++ -*-===//
//
// The program `prepare` runs once after the weights are loaded. It computes
// derived parameters, which `deploy` reads and weight files do not contain.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#include "mlir/IR/SymbolTable.h"

namespace brew::passes {

/// Attribute of a parameter that `prepare` computes.
inline constexpr llvm::StringLiteral kDerivedAttr = "brew.derived";

/// Builder of a module's program `prepare`, which is created on demand.
class PrepareProgram {
public:
  /// `user` is the program that reads the derived parameters.
  PrepareProgram(mlir::ModuleOp module, dialects::ProgramOp user);

  /// Creates the program unless it exists. Call it before body().
  void create();
  explicit operator bool() const { return program; }
  dialects::ProgramOp operator*() const { return program; }
  /// Returns a builder at the end of the program.
  mlir::OpBuilder &body() { return b; }

  /// Returns the value in `prepare` of the parameter that `param` reads in
  /// another program.
  mlir::Value readParam(dialects::ParamValueOp param);
  /// Stores `value` to a new derived parameter @LAYER.INDEX.SUFFIX. Returns a
  /// read of it, built by `builder`.
  mlir::Value createDerivedParam(mlir::Value value, llvm::StringRef layer,
                                 int64_t index, llvm::StringRef suffix,
                                 mlir::OpBuilder &builder);
  /// Erases derived parameters that no program reads, with their computation.
  void eraseUnused();

private:
  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  dialects::ProgramOp user, program;
  mlir::OpBuilder b;
};

} // namespace brew::passes
