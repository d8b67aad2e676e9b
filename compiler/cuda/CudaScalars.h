//===- CudaScalars.h - Scalar types and operations in CUDA C++ ---*- C++
//-*-===//
//
// How the operations of a nest's body read as C++ expressions. Operations on
// 16-bit floating-point types widen their operands to `float` and round their
// result. An `index` is an `int`, or a `long long` in kernels whose buffers
// need it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <optional>
#include <set>
#include <string>

namespace brew::compiler {

/// Type of an element in memory.
std::string storageType(mlir::Type type);

/// What a kernel's text needs before its function.
struct CudaPrelude {
  bool wide = false; ///< `index` has 64 bits
  /// Names of the helper functions that the text calls.
  std::set<std::string> helpers;
  bool f16 = false, bf16 = false; ///< types that it stores

  /// The definitions, with what they include.
  std::string text() const;
};

class CudaScalars {
public:
  explicit CudaScalars(CudaPrelude &prelude) : prelude(prelude) {}

  /// Type of a variable.
  std::string type(mlir::Type type) const;
  std::string literal(mlir::TypedAttr value);
  std::string literal(mlir::Type type, double value);
  /// The expression for `op`, whose operands read `operands` (each atomic or
  /// in parentheses); nothing if the operation has no translation.
  std::optional<std::string> expression(mlir::Operation &op,
                                        llvm::ArrayRef<std::string> operands);
  /// `text`, a value of type `type`, in the type that is computed in; and back.
  std::string loaded(mlir::Type type, const std::string &text);
  std::string stored(mlir::Type type, const std::string &text);
  /// The larger of two values; NaN if one is.
  std::string maximum(mlir::Type type, const std::string &a,
                      const std::string &b);
  std::string sum(mlir::Type type, const std::string &a, const std::string &b);

private:
  std::string helper(const std::string &name, const std::string &arguments,
                     mlir::Type type = {});
  /// Type of the values that operations on `type` compute.
  std::string arithmeticType(mlir::Type type) const;
  std::string asSigned(mlir::Type type, const std::string &text) const;
  std::string asUnsigned(mlir::Type type, const std::string &text) const;
  std::string narrowed(mlir::Type type, const std::string &text) const;
  std::optional<std::string> floatOperation(mlir::Operation &op,
                                            llvm::ArrayRef<std::string> x);
  std::optional<std::string> integerOperation(mlir::Operation &op,
                                              llvm::ArrayRef<std::string> x);
  std::optional<std::string> conversion(mlir::Operation &op,
                                        const std::string &x);
  std::optional<std::string> comparison(mlir::Operation &op,
                                        llvm::ArrayRef<std::string> x);

  CudaPrelude &prelude;
};

} // namespace brew::compiler
