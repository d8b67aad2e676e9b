//===- ScalarOps.h - Scalar types and operations in CUDA C++ --*- C++ -*-===//
//
// How the operations of a nest's body read as C++ expressions. Operations on
// 16-bit floating-point types widen their operands to `float` and round their
// result. An `index` is an `int`, or a `long long` in kernels whose buffers
// need it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/cuda/SourceTree.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <optional>
#include <set>
#include <string>

namespace brew::compiler::cuda {

/// Type of an element in memory.
std::string storageType(mlir::Type type);
/// The type of what a buffer of such elements is made of: bytes, of bits.
std::string bufferType(mlir::Type type);

/// What a kernel's text needs before its function.
struct Prelude {
  bool wide = false; ///< `index` has 64 bits
  /// Names of the helper functions that the text calls.
  std::set<std::string> helpers;
  bool f16 = false, bf16 = false; ///< types that it stores
  bool lastBlock = false;         ///< blocks find out which of them ends last
  bool stages = false;            ///< blocks wait for each other
  bool bits = false;              ///< a thread stores one bit of a byte

  /// The definitions, with what they include.
  std::string text() const;
};

class ScalarOps {
public:
  explicit ScalarOps(Prelude &prelude) : prelude(prelude) {}

  /// Type of a variable.
  std::string type(mlir::Type type) const;
  Code literal(mlir::TypedAttr value);
  Code literal(mlir::Type type, double value);
  /// The expression for `op`, whose operands are `operands` (each a word or
  /// in parentheses); nothing if the operation has no translation.
  std::optional<Code> expression(mlir::Operation &op,
                                     llvm::ArrayRef<Code> operands);
  /// `code`, a value of type `type`, in the type that is computed in; and back.
  Code loaded(mlir::Type type, const Code &code);
  Code stored(mlir::Type type, const Code &code);
  /// The larger of two values; NaN if one is.
  Code maximum(mlir::Type type, const Code &a, const Code &b);
  Code sum(mlir::Type type, const Code &a, const Code &b);

private:
  Code helper(const std::string &name, llvm::ArrayRef<Code> arguments,
                  mlir::Type type = {});
  /// Type of the values that operations on `type` compute.
  std::string arithmeticType(mlir::Type type) const;
  Code asSigned(mlir::Type type, const Code &code) const;
  Code asUnsigned(mlir::Type type, const Code &code) const;
  Code narrowed(mlir::Type type, const Code &code) const;
  std::optional<Code> floatOperation(mlir::Operation &op,
                                         llvm::ArrayRef<Code> x);
  std::optional<Code> integerOperation(mlir::Operation &op,
                                           llvm::ArrayRef<Code> x);
  std::optional<Code> conversion(mlir::Operation &op, const Code &x);
  std::optional<Code> comparison(mlir::Operation &op,
                                     llvm::ArrayRef<Code> x);

  Prelude &prelude;
};

} // namespace brew::compiler::cuda
