//===- CudaScalars.h - Scalar types and operations in CUDA C++ --*- C++ -*-===//
//
// How the operations of a nest's body read as C++ expressions. Operations on
// 16-bit floating-point types widen their operands to `float` and round their
// result. An `index` is an `int`, or a `long long` in kernels whose buffers
// need it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/cuda/CudaTree.h"

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
struct CudaPrelude {
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

class CudaScalars {
public:
  explicit CudaScalars(CudaPrelude &prelude) : prelude(prelude) {}

  /// Type of a variable.
  std::string type(mlir::Type type) const;
  CudaCode literal(mlir::TypedAttr value);
  CudaCode literal(mlir::Type type, double value);
  /// The expression for `op`, whose operands are `operands` (each a word or
  /// in parentheses); nothing if the operation has no translation.
  std::optional<CudaCode> expression(mlir::Operation &op,
                                     llvm::ArrayRef<CudaCode> operands);
  /// `code`, a value of type `type`, in the type that is computed in; and back.
  CudaCode loaded(mlir::Type type, const CudaCode &code);
  CudaCode stored(mlir::Type type, const CudaCode &code);
  /// The larger of two values; NaN if one is.
  CudaCode maximum(mlir::Type type, const CudaCode &a, const CudaCode &b);
  CudaCode sum(mlir::Type type, const CudaCode &a, const CudaCode &b);

private:
  CudaCode helper(const std::string &name, llvm::ArrayRef<CudaCode> arguments,
                  mlir::Type type = {});
  /// Type of the values that operations on `type` compute.
  std::string arithmeticType(mlir::Type type) const;
  CudaCode asSigned(mlir::Type type, const CudaCode &code) const;
  CudaCode asUnsigned(mlir::Type type, const CudaCode &code) const;
  CudaCode narrowed(mlir::Type type, const CudaCode &code) const;
  std::optional<CudaCode> floatOperation(mlir::Operation &op,
                                         llvm::ArrayRef<CudaCode> x);
  std::optional<CudaCode> integerOperation(mlir::Operation &op,
                                           llvm::ArrayRef<CudaCode> x);
  std::optional<CudaCode> conversion(mlir::Operation &op, const CudaCode &x);
  std::optional<CudaCode> comparison(mlir::Operation &op,
                                     llvm::ArrayRef<CudaCode> x);

  CudaPrelude &prelude;
};

} // namespace brew::compiler::cuda
