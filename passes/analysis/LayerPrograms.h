//===- LayerPrograms.h - Programs of single layers --------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

namespace brew::passes {

/// Attribute of a program of one layer, which brew-outline-layers creates. The
/// caller of the plan provides all bottoms and the gradients of all tops.
/// Values of the program stay in memory until its next run, whatever other
/// programs of the plan run in between.
inline constexpr llvm::StringLiteral kLayerProgramAttr = "brew.layer_program";

inline bool isLayerProgram(dialects::ProgramOp program) {
  return program->hasAttr(kLayerProgramAttr);
}

/// Attribute of a program of one layer without a backward pass, although it
/// should have one: the reason, as a text.
inline constexpr llvm::StringLiteral kNoBackwardAttr = "brew.no_backward";

} // namespace brew::passes
