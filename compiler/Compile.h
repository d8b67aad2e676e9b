//===- Compile.h - Compilation of a prototxt to a plan ----------*- C++ -*-===//
#pragma once

#include "compiler/Pipeline.h"
#include "compiler/Result.h"
#include "dialects/Brew/HostLayers.h"
#include "frontends/prototxt/import/Import.h"

#include <map>
#include <string>

namespace brew::compiler {

/// Output of `--emit`: the net for inference as prototxt, the module after a
/// phase, or a Graphviz graph. `All` means all modules, `Dot` both graphs.
enum class Emit {
  None,
  Prototxt,
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
  bool deterministic = false;     ///< CUDA: use only deterministic library
                                  ///< engines
  bool exactConvolutions = false; ///< CPU: do not use Winograd's algorithms
  /// Limit in bytes for activations and their gradients.
  std::optional<int64_t> memoryLimit;
  bool kernelCache = true; ///< cache compiled CUDA kernels on disk
  std::string weights;     ///< initial weights of a training plan; embedded in
                           ///< other plans
  bool allowMissingWeights = false; ///< the weight file may lack layers
  bool checkOnly = false;           ///< do not build a plan
  Emit emit = Emit::None;
  std::string dumpDir; ///< write emitted files here instead of returning them
                       ///< as artifacts
  ReportKind report = ReportKind::None;
  std::string profile; ///< trace with measured times, for the report
  /// Host layer types: computed by the program that runs the plan. Types that
  /// import.hostTypes lacks belong to Python layers.
  dialects::HostLayerTypes hostLayers;
  /// The numbers of parameters of Python layers, by layer; see describeNet().
  std::map<std::string, int> paramCounts;
  prototxt::ImportOptions import;
  PipelineOptions pipeline;
};

/// Compiles `source`. Every error becomes a diagnostic and the status of the
/// result; throws only std::bad_alloc. Prints nothing unless LLVM's own options
/// request it. Writes no files except in `dumpDir` and KernelCache's folder,
/// and the source of a CUDA kernel that does not compile. Thread-safe.
CompileResult compile(const prototxt::SourceText &source,
                      const CompileOptions &options,
                      const DiagnosticSink &sink = {});

CompileResult compileFile(const std::string &path,
                          const CompileOptions &options,
                          const DiagnosticSink &sink = {});

/// Converts a net or solver to current syntax (prototxt::upgradedText) instead
/// of compiling it.
CompileResult upgrade(const prototxt::SourceText &source,
                      const DiagnosticSink &sink = {});

CompileResult upgradeFile(const std::string &path,
                          const DiagnosticSink &sink = {});

/// Describes a net in current syntax as Caffe sets it up, instead of compiling
/// it: sets CompileResult::net, and splitNet and report unless the net has
/// errors. `net` is an encoded NetParameter, `name` its name in diagnostics.
/// Uses the phase, the level, the stages, the host layers and `paramCounts` of
/// the options; a Python layer without a count has as many parameters as it has
/// `param`, and a loss without tops gets the top "(automatic) NAME". Reads no
/// files and checks no settings of single layers.
CompileResult describeNet(const std::string &net, const std::string &name,
                          const CompileOptions &options,
                          const DiagnosticSink &sink = {});

} // namespace brew::compiler
