//===- FixedBuffers.h - Buffers outside the transient arena -----*- C++ -*-===//
#pragma once

#include "passes/analysis/ParameterOffsets.h"

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

/// The buffers of parameters, gradients, solver state and scalars that
/// operations read and store.
class FixedBuffers {
public:
  explicit FixedBuffers(const ParameterOffsets &offsets) : offsets(offsets) {}

  /// Returns the buffer that contains the result of `op`, if any.
  std::optional<FixedBuffer> readBy(mlir::Operation *op) const;
  /// Returns the buffer that `op` stores its first operand to, if any.
  std::optional<FixedBuffer> storedBy(mlir::Operation *op) const;

private:
  FixedBuffer allGradients(bool sums) const;

  const ParameterOffsets &offsets;
};

} // namespace brew::passes
