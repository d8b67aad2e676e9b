//===- Pipeline.h - Pass pipelines of the phases ----------------*- C++ -*-===//
//
// A net passes through these phases in order. After each phase a verifier
// checks its invariants, and `--emit` can print the module.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Target/DefaultCpu.h"
#include "dialects/Target/TargetEnums.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

#include <string>
#include <vector>

namespace brew::compiler {

enum class Phase {
  Import, ///< one brew operation per prototxt layer, unknown shapes
  Graph,  ///< static shapes, gradients and solver updates
  Fused,  ///< library calls and kernels of loop nests, one layout
  Plan,   ///< ordered steps over buffers with offsets
};

/// Options of the passes. PipelineOptions.def describes the fields.
struct PipelineOptions {
#define PIPELINE_OPTION(type, field, option, defaultValue, description)        \
  type field = defaultValue;
#define PIPELINE_ENUM(type, field, option, defaultValue, description)          \
  dialects::target::type field = dialects::target::type::defaultValue;
#define PIPELINE_LIST(field, option, description)                              \
  std::vector<std::string> field;
#include "compiler/PipelineOptions.def"
};

/// Registers the dialects and interfaces that Brew uses.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers the passes and the phases (brew-phase-graph, ...) with MLIR, once
/// per process.
void registerPasses();

/// Adds to `pm` the passes from the previous phase to `phase`, followed by its
/// verifier.
void buildPhase(mlir::OpPassManager &pm, Phase phase,
                const PipelineOptions &options);

} // namespace brew::compiler
