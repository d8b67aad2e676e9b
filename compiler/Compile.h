//===- Compile.h - From a prototxt to a plan, with all that can be seen ---===//
#pragma once

#include "compiler/Pipeline.h"
#include "compiler/Result.h"
#include "dialects/Brew/HostLayers.h"
#include "frontends/prototxt/import/Import.h"

#include <string>

namespace brew::compiler {

/// What `--emit` can print: modules, and pictures of two of them for Graphviz
/// (Dot: of both). All are all modules.
enum class Emit {
  None,
  Import,
  Graph,
  Fused,
  Plan,
  Kernels,
  All,
  GraphDot,
  FusedDot,
  Dot
};

enum class ReportKind { None, Text, Json, Html };

enum class TargetKind { Cpu, Cuda };

struct CompileOptions {
  TargetKind target = TargetKind::Cpu;
  std::string cpu;                ///< see resolveCpuTarget
  std::string gpuArch;            ///< see resolveGpuArchs
  bool deterministic = false;     ///< CUDA: only vendor engines that repeat
  bool exactConvolutions = false; ///< CPU: Winograd's algorithms are not taken
  /// Bytes that the arena of activations and their gradients may take.
  std::optional<int64_t> memoryLimit;
  bool kernelCache = true; ///< keep compiled CUDA kernels between runs
  std::string weights;     ///< recorded in a training plan, embedded otherwise
  bool allowMissingWeights = false; ///< embedded weights may lack layers
  bool checkOnly = false;           ///< no plan is built
  Emit emit = Emit::None;
  std::string dumpDir; ///< files instead of artifacts of the result
  ReportKind report = ReportKind::None;
  /// Types that the program which runs the plan computes itself; those that
  /// import.hostTypes lacks are of Python layers.
  dialects::HostLayerTypes hostLayers;
  prototxt::ImportOptions import;
  PipelineOptions pipeline;
};

/// Runs a compilation. Whatever goes wrong is a diagnostic and the status of
/// the result: nothing is thrown but for want of memory, nothing printed but
/// what LLVM's own options ask for, and no file written but those in `dumpDir`,
/// KernelCache's, and the text of a CUDA kernel that does not compile. Several
/// may run at once in a process.
CompileResult compile(const prototxt::SourceText &source,
                      const CompileOptions &options,
                      const DiagnosticSink &sink = {});

/// The same for a file.
CompileResult compileFile(const std::string &path,
                          const CompileOptions &options,
                          const DiagnosticSink &sink = {});

/// The net or solver in today's syntax (prototxt::upgradedText), instead of a
/// compilation.
CompileResult upgrade(const prototxt::SourceText &source,
                      const DiagnosticSink &sink = {});

/// The same for a file.
CompileResult upgradeFile(const std::string &path,
                          const DiagnosticSink &sink = {});

} // namespace brew::compiler
