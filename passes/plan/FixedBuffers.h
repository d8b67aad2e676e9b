//===- FixedBuffers.h - Places outside the transient arena -------*- C++ -*-===//
#pragma once

#include "passes/analysis/ParameterOffsets.h"

#include <optional>
#include <string>

namespace brew::passes {

/// A place in one of the arenas that outlive programs.
struct FixedBuffer {
  dialects::plan::ArenaKind arena;
  int64_t offset = 0; ///< in bytes
  std::string name;   ///< of a buffer there

  bool isAt(const FixedBuffer &other) const {
    return arena == other.arena && offset == other.offset;
  }
};

/// Where operations read and store parameters, their gradients, solver state
/// and scalars.
class FixedBuffers {
public:
  explicit FixedBuffers(const ParameterOffsets &places) : places(places) {}

  /// The place whose content is an operation's result, if there is one.
  std::optional<FixedBuffer> read(mlir::Operation *op) const;
  /// The place that an operation stores its first operand to, if it does.
  std::optional<FixedBuffer> stored(mlir::Operation *op) const;

private:
  FixedBuffer allGradients(bool sums) const;

  const ParameterOffsets &places;
};

} // namespace brew::passes
