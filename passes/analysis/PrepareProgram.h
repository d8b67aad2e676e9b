//===- PrepareProgram.h - What weights alone decide -------------*- C++ -*-===//
//
// A program `prepare` runs once after weights have been loaded. It computes
// derived parameters, which no weight file has and `deploy` reads.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#include "mlir/IR/SymbolTable.h"

namespace brew::passes {

/// Marks a parameter that `prepare` computes.
inline constexpr llvm::StringLiteral kDerivedAttr = "brew.derived";

/// Adds to the program `prepare` of a module, which is made when it is needed.
class PrepareProgram {
public:
  /// `user`: the program that reads what is prepared.
  PrepareProgram(mlir::ModuleOp module, dialects::ProgramOp user);

  /// Makes the program unless it is there. `body()` counts from then on.
  void start();
  explicit operator bool() const { return program; }
  dialects::ProgramOp operator*() const { return program; }
  /// Builds at the program's end.
  mlir::OpBuilder &body() { return b; }

  /// What `param`, a parameter's value in another program, is in this one.
  mlir::Value read(dialects::ParamValueOp param);
  /// Stores `value` to a new parameter @LAYER.INDEX.SUFFIX and reads it where
  /// `at` stands.
  mlir::Value derive(mlir::Value value, llvm::StringRef layer, int64_t index,
                     llvm::StringRef suffix, mlir::OpBuilder &at);
  /// Erases derived parameters that no program reads, with what computes them.
  void eraseUnused();

private:
  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  dialects::ProgramOp user, program;
  mlir::OpBuilder b;
};

} // namespace brew::passes
