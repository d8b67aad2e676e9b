//===- Pipeline.h - The phases of a compilation -----------------*- C++ -*-===//
//
// A net goes through these phases in this order; after each one a verifier
// checks what the phase promises, and `--emit` prints the module.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Target/TargetEnums.h"
#include "dialects/Target/DefaultCpu.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

#include <optional>
#include <string>
#include <vector>

namespace brew::compiler {

enum class Phase {
  Import, ///< brew operations 1:1 with the prototxt's layers, shapes unknown
  Graph,  ///< static shapes, gradients and solver updates
  Fused,  ///< vendor calls and kernels of loop nests, one layout
  Plan,   ///< ordered steps over buffers with offsets
};

/// What the passes need to know.
struct PipelineOptions {
  std::vector<std::string> pin;        ///< blobs to pin, or "all"
  std::vector<std::string> noLibrary;   ///< vendor call groups, or "all"
  std::vector<std::string> without;     ///< passes to leave out (see brewc)
  std::vector<std::string> inputShapes; ///< BLOB=d,d,...
  std::vector<std::string> outputGradients;       ///< blobs with gradients from outside
  int64_t batch = 0;                    ///< 0: as the prototxt says
  /// Gradients of recurrent layers' exposed states, which Caffe drops.
  bool exactHiddenGradients = false;
  dialects::target::BlobLayout layout = dialects::target::BlobLayout::Auto;
  bool cuda = false; ///< for a GPU instead of the CPU
  /// CUDA: the architectures, the one that decides first (see
  /// brew-attach-target); CPU: width of its vectors, and whether its library
  /// gains by multiplying bf16.
  std::vector<std::string> gpuArchs;
  int64_t vectorBits = dialects::target::kDefaultVectorBits;
  bool bf16Products = dialects::target::kDefaultBf16;
  /// Of activations, their gradients and products. With TF32 (CUDA) only
  /// products round; parameters are never narrow.
  dialects::target::Precision precision = dialects::target::Precision::F32;
  /// Most bytes that programs may need at a time, as brew-rematerialize counts
  /// them. Without a limit only values that cost next to nothing are
  /// recomputed, and none on GPUs.
  std::optional<int64_t> rematerializeBudget;
  bool hasMemoryLimit = false; ///< no byte more than needed, for a limit is given
  /// What losses are multiplied by at first (0: not at all), and iterations
  /// after which that is doubled (0: never).
  double lossScale = 0;
  int64_t lossScaleWindow = 0;
  /// Solver whose `update` program to build; empty for none.
  std::string solverType;
  std::string regularization = "L2";
  /// Snapshots hold the updates (snapshot_diff).
  bool storeUpdates = false;
  bool accumulateGradients = false; ///< it adds up gradients of batches (iter_size)
  /// Adds gradients up over the ranks of a run, in buckets of so many bytes
  /// (0: by the cost model; see brew-insert-all-reduces).
  bool distributed = false;
  int64_t bucketBytes = 0;
  bool reduceInBf16 = false;  ///< gradients travel as bf16
  bool syncBatchNorm = false; ///< a batch's statistics are those of all ranks
  bool clipGradients = false; ///< it bounds the gradients' norm (clip_gradients)
};

/// Registers dialects and interfaces that Brew uses.
void registerDialects(mlir::DialectRegistry &registry);

/// Makes the passes known by name, for this process.
void registerPasses();

/// Adds to `pm` the passes that lead from the phase before `phase` to it, its
/// verifier last.
void buildPhase(mlir::OpPassManager &pm, Phase phase,
                const PipelineOptions &options);

} // namespace brew::compiler
