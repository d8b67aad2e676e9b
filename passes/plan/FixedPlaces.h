//===- FixedPlaces.h - Places outside the transient arena -------*- C++ -*-===//
#pragma once

#include "passes/analysis/ParameterPlaces.h"

#include <optional>
#include <string>

namespace brew::passes {

/// A place in one of the arenas that outlive programs.
struct Fixed {
  dialects::plan::ArenaKind arena;
  int64_t offset = 0; ///< in bytes
  std::string name;   ///< of a buffer there

  bool isAt(const Fixed &other) const {
    return arena == other.arena && offset == other.offset;
  }
};

/// Where operations read and store parameters, their gradients, solver state
/// and scalars.
class FixedPlaces {
public:
  explicit FixedPlaces(const ParameterPlaces &places) : places(places) {}

  /// The place whose content is an operation's result, if there is one.
  std::optional<Fixed> read(mlir::Operation *op) const;
  /// The place that an operation stores its first operand to, if it does.
  std::optional<Fixed> stored(mlir::Operation *op) const;

private:
  Fixed allGradients(bool sums) const;

  const ParameterPlaces &places;
};

} // namespace brew::passes
