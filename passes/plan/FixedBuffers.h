//===- FixedBuffers.h - Buffers outside the transient arena -----*- C++ -*-===//
#pragma once

#include "passes/analysis/ParameterOffsets.h"

#include "llvm/ADT/MapVector.h"

#include <optional>
#include <string>

namespace brew::passes {

/// A buffer in one of the arenas that outlive programs.
struct FixedBuffer {
  dialects::plan::ArenaKind arena;
  int64_t offset = 0; ///< in bytes
  std::string name;   ///< of the buffer

  bool isAt(const FixedBuffer &other) const {
    return arena == other.arena && offset == other.offset;
  }
};

/// Offsets of the values of `brew.constant`. Equal values share an offset.
struct ConstantOffsets {
  explicit ConstantOffsets(mlir::ModuleOp module);

  /// In bytes of the constant arena.
  llvm::MapVector<mlir::ElementsAttr, int64_t> byValue;
  /// Bytes of all values, including alignment.
  int64_t size = 0;
};

/// The buffers of parameters, gradients, solver state, scalars and constants
/// that operations read and store.
class FixedBuffers {
public:
  /// Refers to its arguments.
  FixedBuffers(const ParameterOffsets &offsets,
               const ConstantOffsets &constants)
      : offsets(offsets), constants(constants) {}

  /// Returns the buffer that contains the result of `op`, if any.
  std::optional<FixedBuffer> readBy(mlir::Operation *op) const;
  /// Returns the buffer that `op` stores its first operand to, if any.
  std::optional<FixedBuffer> storedBy(mlir::Operation *op) const;

private:
  FixedBuffer allGradients(bool sums) const;

  const ParameterOffsets &offsets;
  const ConstantOffsets &constants;
};

} // namespace brew::passes
