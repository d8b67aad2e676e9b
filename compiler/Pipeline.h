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

#include <optional>
#include <string>
#include <vector>

namespace brew::compiler {

enum class Phase {
  Import, ///< one brew operation per prototxt layer, unknown shapes
  Graph,  ///< static shapes, gradients and solver updates
  Fused,  ///< library calls and kernels of loop nests, one layout
  Plan,   ///< ordered steps over buffers with offsets
};

/// Options of the passes.
struct PipelineOptions {
  std::vector<std::string> pin;         ///< blobs to pin, or "all"
  std::vector<std::string> noLibrary;   ///< groups of library calls to generate
                                        ///< instead, or "all"
  std::vector<std::string> without;     ///< optional passes to skip
  std::vector<std::string> inputShapes; ///< BLOB=d,d,...
  /// Blobs whose gradient the caller writes.
  std::vector<std::string> outputGradients;
  int64_t batch = 0; ///< 0: the prototxt's
  /// Propagate gradients of recurrent layers' exposed states, which Caffe
  /// drops.
  bool exactHiddenGradients = false;
  dialects::target::BlobLayout layout = dialects::target::BlobLayout::Auto;
  bool cuda = false; ///< target a GPU instead of the CPU
  /// CUDA: the architectures; kernels are optimised for the first (see
  /// brew-attach-target). CPU: vector width, and whether the library multiplies
  /// bf16 faster than f32.
  std::vector<std::string> gpuArchs;
  int64_t vectorBits = dialects::target::kDefaultVectorBits;
  bool bf16Products = dialects::target::kDefaultBf16;
  /// Type of activations, their gradients and products. TF32 (CUDA) rounds
  /// products only. Parameters always stay f32 or f64.
  dialects::target::Precision precision = dialects::target::Precision::F32;
  /// Limit for the bytes live at any time, as brew-rematerialize counts them.
  /// Without a limit, CPU plans rematerialize only values that cost almost
  /// nothing, and GPU plans rematerialize no values.
  std::optional<int64_t> rematerializeBudget;
  bool hasMemoryLimit = false; ///< a memory limit is set: passes must not
                               ///< increase memory
  /// Initial loss scale (0: no scaling), and iterations after which it doubles
  /// (0: never).
  double lossScale = 0;
  int64_t lossScaleWindow = 0;
  /// Solver type of the `update` program; empty: build no update.
  std::string solverType;
  std::string regularization = "L2";
  /// Store the updates for snapshots (snapshot_diff).
  bool storeUpdates = false;
  bool accumulateGradients = false; ///< accumulate gradients of batches
                                    ///< (iter_size)
  /// All-reduce gradients over the ranks of a run, in buckets of this many
  /// bytes (0: chosen by the cost model; see brew-insert-all-reduces).
  bool distributed = false;
  int64_t bucketBytes = 0;
  bool reduceInBf16 = false;  ///< all-reduce gradients in bf16
  bool syncBatchNorm = false; ///< compute batch statistics over all ranks
  bool clipGradients = false; ///< compute the gradients' norm (clip_gradients)
};

/// Registers the dialects and interfaces that Brew uses.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers the passes with MLIR, once per process.
void registerPasses();

/// Adds to `pm` the passes from the previous phase to `phase`, followed by its
/// verifier.
void buildPhase(mlir::OpPassManager &pm, Phase phase,
                const PipelineOptions &options);

} // namespace brew::compiler
