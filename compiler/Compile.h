//===- Compile.h - From a prototxt to a plan, with all that can be seen -*- C++ -*-===//
#pragma once

#include "compiler/Pipeline.h"
#include "frontends/prototxt/Import.h"

#include <string>
#include <vector>

namespace brew::compiler {

/// What `--emit` can print.
enum class Emit { None, Import, Graph, Fused, Plan, Kernels, All };

enum class ReportKind { None, Text, Json, Html };

enum class TargetKind { Cpu, Cuda };

struct CompileOptions {
  std::string input;         ///< net or solver prototxt
  std::string output;        ///< plan to write; empty for none
  TargetKind target = TargetKind::Cpu;
  std::string cpu = "native";
  std::string gpuArch = "native"; ///< see resolveGpuArchs
  bool tf32 = false;              ///< CUDA: products may round to TF32
  bool deterministic = false;     ///< CUDA: only vendor engines that repeat
  bool kernelCache = true;        ///< keep compiled CUDA kernels between runs
  std::string weights;       ///< recorded in a training plan, embedded otherwise
  Emit emit = Emit::None;
  std::string dumpDir;       ///< empty: standard output
  ReportKind report = ReportKind::None;
  prototxt::ImportOptions import;
  PipelineOptions pipeline;
};

/// Runs the compilation. Diagnostics go to standard error in the form
/// FILE:LINE:COL: error: TEXT. Returns the exit status; throws brew::Error for
/// what has no place in a prototxt.
int compile(const CompileOptions &options);

} // namespace brew::compiler
