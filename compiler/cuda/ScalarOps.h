//===- ScalarOps.h - Scalar types and operations in CUDA C++ ----*- C++ -*-===//
//
// Translates operations of a nest's body to C++ expressions. Operations on
// 16-bit floating-point types widen their operands to `float` and round their
// result. An `index` is an `int`, or a `long long` in kernels with large
// buffers.
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

/// Returns the type of an element in memory.
std::string storageType(mlir::Type type);
/// Returns the type of a buffer's units: the element type, or bytes for bits.
std::string bufferType(mlir::Type type);

/// Definitions that a kernel's function requires.
struct Prelude {
  bool wide = false; ///< `index` has 64 bits
  /// Names of the helper functions that the code calls.
  std::set<std::string> helpers;
  bool f16 = false, bf16 = false; ///< types of stored elements
  bool lastBlock = false;         ///< detects the last thread block
  bool stages = false;            ///< has barriers between stages
  unsigned residentThreads = 0;   ///< see ThreadOptions
  bool bits = false;              ///< stores single bits of a byte
  bool keepEqual = false;         ///< selects elements of packs by their codes

  /// Returns the includes and definitions.
  std::string text() const;
};

/// Translates scalar types, literals and operations, and notes in the prelude
/// which definitions the code needs.
class ScalarOps {
public:
  explicit ScalarOps(Prelude &prelude) : prelude(prelude) {}

  /// Returns the type of a variable.
  std::string type(mlir::Type type) const;
  Code literal(mlir::TypedAttr value);
  Code literal(mlir::Type type, double value);
  /// Returns the expression for `op` with operands `operands` (each a word or
  /// in parentheses); null if the operation has no translation.
  std::optional<Code> expression(mlir::Operation &op,
                                 llvm::ArrayRef<Code> operands);
  /// Convert `code`, a value of type `type`, from the storage type to the type
  /// for arithmetic, and back.
  Code loaded(mlir::Type type, const Code &code);
  Code stored(mlir::Type type, const Code &code);
  /// Returns the larger of two values; NaN if one is NaN.
  Code maximum(mlir::Type type, const Code &a, const Code &b);
  Code sum(mlir::Type type, const Code &a, const Code &b);

private:
  Code helper(const std::string &name, llvm::ArrayRef<Code> arguments,
              mlir::Type type = {});
  /// Returns the type that operations on `type` compute in.
  std::string arithmeticType(mlir::Type type) const;
  Code asSigned(mlir::Type type, const Code &code) const;
  Code asUnsigned(mlir::Type type, const Code &code) const;
  Code narrowed(mlir::Type type, const Code &code) const;
  std::optional<Code> floatOperation(mlir::Operation &op,
                                     llvm::ArrayRef<Code> x);
  std::optional<Code> integerOperation(mlir::Operation &op,
                                       llvm::ArrayRef<Code> x);
  std::optional<Code> conversion(mlir::Operation &op, const Code &x);
  std::optional<Code> comparison(mlir::Operation &op, llvm::ArrayRef<Code> x);

  Prelude &prelude;
};

} // namespace brew::compiler::cuda
