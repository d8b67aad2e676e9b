//===- Compile.cpp - Phases of a compilation ------------------------------===//
#include "compiler/Compilation.h"
#include "compiler/cuda/GpuArchs.h"
#include "compiler/manifest/PlanConstants.h"
#include "compiler/manifest/PlanWeights.h"
#include "compiler/options/LlvmArguments.h"
#include "dialects/Brew/layers/loss/ElementLoss.h"
#include "formats/PathLookup.h"
#include "frontends/prototxt/upgrade/UpgradeText.h"
#include "support/AtomicFile.h"
#include "support/Error.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace brew;
using namespace brew::compiler;

void Compilation::importNet() {
  auto scope = timingScope.nest("import");
  prototxt::Diagnostics diagnostics;
  prototxt::ImportOptions import = options.import;
  import.inspectOnly = stopsAfter(Emit::Import);
  import.hasWeights = !options.weights.empty();
  imported = prototxt::importText(context, source, import, diagnostics);
  reporter.report(diagnostics);
  if (diagnostics.hasErrors())
    throw DiagnosedError{diagnostics.exitStatus()};
  if (options.emit == Emit::Prototxt)
    writeText("deploy.prototxt", imported.deployText);
}

/// Returns whether the caller provides a loss and its gradient.
bool Compilation::hasMemoryLoss() {
  return imported.module
      ->walk(
          [](dialects::MemoryLossOp) { return mlir::WalkResult::interrupt(); })
      .wasInterrupted();
}

PipelineOptions Compilation::pipelineOptions(Phase phase) {
  PipelineOptions pipeline = options.pipeline;
  pipeline.rematerializeBudget = rematerializeBudget.value_or(-1);
  pipeline.hasMemoryLimit = options.memoryLimit.has_value();
  if (withoutFusedProducts) {
    pipeline.without.push_back("fuse-weight-gradients");
    pipeline.without.push_back("fuse-sibling-convolutions");
  }
  if (phase == Phase::Fused)
    describeTarget(pipeline);
  if (isTraining()) {
    pipeline.solverType = imported.solver->type();
    pipeline.regularization = imported.solver->regularization_type();
    if (imported.solver->larc()) {
      pipeline.localRate = "larc_" + imported.solver->larc_policy();
      pipeline.localFactor = imported.solver->larc_eta();
    } else if (imported.solver->local_lr_auto()) {
      pipeline.localRate = "lars";
      pipeline.localFactor = imported.solver->local_gw_ratio();
    }
    pipeline.storeUpdates = imported.solver->snapshot_diff();
    // A caller that writes gradients may accumulate several backward passes.
    pipeline.accumulateGradients = imported.solver->iter_size() > 1 ||
                                   !pipeline.outputGradients.empty() ||
                                   hasMemoryLoss();
    pipeline.clipGradients |=
        imported.solver->clip_gradients() >= 0; // or --gradient-norm
    if (pipeline.distributed && hasMemoryLoss())
      throw Error(
          ExitStatus::Usage,
          "--distributed is for plans that train on their own; a "
          "MemoryLoss layer is for plans whose caller writes gradients");
  } else if (pipeline.clipGradients) {
    throw Error(ExitStatus::Usage,
                "--gradient-norm is for plans that are trained");
  } else if (pipeline.distributed) {
    throw Error(ExitStatus::Usage,
                "--distributed is for plans that train: a solver, or a net "
                "with a loss, without --phase");
  }
  return pipeline;
}

mlir::LogicalResult Compilation::runPasses(mlir::ModuleOp module, Phase phase,
                                           const PipelineOptions &pipeline,
                                           mlir::TimingScope &scope) {
  mlir::PassManager pm(&context, mlir::ModuleOp::getOperationName());
  if (hasLlvmArguments() && mlir::failed(mlir::applyPassManagerCLOptions(pm)))
    throw Error(ExitStatus::Usage, "wrong options for the pass manager");
  pm.enableTiming(scope);
  buildPhase(pm, phase, pipeline);
  return pm.run(module);
}

void Compilation::runPhase(Phase phase, Emit emit, llvm::StringRef name) {
  auto scope = timingScope.nest(name);
  if (mlir::failed(
          runPasses(*imported.module, phase, pipelineOptions(phase), scope))) {
    // Until phase graph the user's net may be at fault; later only Brew is.
    if (phase == Phase::Import || phase == Phase::Graph)
      throw DiagnosedError{passDiagnostics.exitStatus()};
    throw Error(ExitStatus::Bug,
                "phase " + name.str() +
                    " failed; this is a defect of Brew, please report it with "
                    "the prototxt and the lines above");
  }
  if (emits(emit))
    emitModule(*imported.module, name);
}

void Compilation::describeTarget(PipelineOptions &pipeline) {
  if (options.target == TargetKind::Cpu) {
    cpu::CpuTarget cpu = cpu::resolveCpuTarget(options.cpu);
    pipeline.vectorBits = cpu.vectorBits;
    // Without AVX512-BF16, oneDNN multiplies bf16 more slowly than f32.
    pipeline.bf16Products = cpu.has("avx512bf16");
    return;
  }
  try {
    gpuArchs = cuda::resolveGpuArchs(options.gpuArch);
  } catch (const Error &error) {
    // Only text is printed, which needs no GPU.
    if (!options.checkOnly || error.status() != ExitStatus::Unavailable)
      throw;
    gpuArchs = {"sm_90"};
  }
  pipeline.gpuArchs = gpuArchs;
}

void Compilation::writeText(llvm::StringRef name, llvm::StringRef text) {
  if (options.dumpDir.empty()) {
    result.artifacts.push_back({name.str(), text.str()});
    return;
  }
  if (llvm::sys::fs::create_directories(options.dumpDir))
    throw unavailable("cannot create folder '" + options.dumpDir + "'");
  llvm::SmallString<128> path(options.dumpDir);
  llvm::sys::path::append(path, name);
  writeFileAtomically(path.str().str(), text);
}

void Compilation::emitModule(mlir::ModuleOp module, llvm::StringRef name) {
  std::string text;
  llvm::raw_string_ostream os(text);
  mlir::OpPrintingFlags flags;
  module.print(os, flags);
  os << "\n";
  writeText((name + ".mlir").str(), text);
}

void Compilation::checkInlineBlobs() {
  prototxt::Diagnostics diagnostics;
  compiler::checkInlineBlobs(*imported.module, imported.inlineBlobs,
                             diagnostics);
  reporter.report(diagnostics);
  if (diagnostics.hasErrors())
    throw DiagnosedError();
}

/// Throws if a file of --weights is missing. A training plan, which may name
/// several files, opens them only when it runs.
void Compilation::requireWeights() {
  if (embedsWeights()) {
    formats::requirePath(options.weights, {}, "weights");
    return;
  }
  llvm::SmallVector<llvm::StringRef> files;
  llvm::StringRef(options.weights)
      .split(files, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef file : files)
    if (!file.trim().empty())
      formats::requirePath(file.trim().str(), {}, "weights");
}

void Compilation::run() {
  importNet();
  if (options.import.solverOnly)
    return;
  requireWeights();
  if (stopsAfter(Emit::Prototxt))
    return;
  runPhase(Phase::Import, Emit::Import, "import");
  if (stopsAfter(Emit::Import))
    return;
  mlir::OwningOpRef<mlir::ModuleOp> phaseImport;
  if (options.memoryLimit)
    phaseImport = imported.module->clone();
  runPhase(Phase::Graph, Emit::Graph, "graph");
  checkInlineBlobs();
  if (emitsDot(Emit::GraphDot))
    writeText("graph.dot", dotText(layerGraph(*imported.module), "graph"));
  if (options.report == ReportKind::Html)
    page.layers = layerGraph(*imported.module);
  if (stopsAfter(Emit::Graph) || stopsAfter(Emit::GraphDot))
    return;
  if (options.memoryLimit)
    fitMemory(*phaseImport);
  runPhase(Phase::Fused, Emit::Fused, "fused");
  if (emitsDot(Emit::FusedDot))
    writeText("fused.dot", dotText(stepGraph(*imported.module), "fused"));
  if (options.report == ReportKind::Html)
    page.steps = stepGraph(*imported.module);
  if (stopsAfter(Emit::Fused) || stopsAfter(Emit::FusedDot) ||
      stopsAfter(Emit::Dot))
    return;
  runPhase(Phase::Plan, Emit::Plan, "plan");
  if (stopsAfter(Emit::Plan))
    return;

  auto scope = timingScope.nest("kernels");
  if (options.target == TargetKind::Cuda)
    generateForCuda();
  else
    generateForCpu();
  addConstants(*imported.module, manifest, segments);
  if (embedsWeights()) {
    prototxt::Diagnostics diagnostics;
    embedWeights(options.weights, options.allowMissingWeights,
                 imported.inlineBlobs, manifest, segments, diagnostics);
    reporter.report(diagnostics);
  } else {
    addInlineBlobs(imported.inlineBlobs, manifest, segments);
  }
  if (options.checkOnly)
    return;
  result.plan = plan::serializePlan(manifest, segments);
}

CompileResult brew::compiler::compile(const prototxt::SourceText &source,
                                      const CompileOptions &options,
                                      const DiagnosticSink &sink) {
  return collectResult(sink, [&](CompileResult &result, Reporter &reporter) {
    Compilation(source, options, reporter, result).run();
  });
}

CompileResult brew::compiler::compileFile(const std::string &path,
                                          const CompileOptions &options,
                                          const DiagnosticSink &sink) {
  return collectResult(sink, [&](CompileResult &result, Reporter &reporter) {
    Compilation(prototxt::SourceText::ofFile(path), options, reporter, result)
        .run();
  });
}

static void upgradeInto(CompileResult &result, Reporter &reporter,
                        const prototxt::SourceText &source) {
  prototxt::Diagnostics diagnostics;
  std::optional<std::string> text = prototxt::upgradedText(source, diagnostics);
  reporter.report(diagnostics);
  if (!text)
    throw DiagnosedError();
  result.upgraded = std::move(*text);
}

CompileResult brew::compiler::upgrade(const prototxt::SourceText &source,
                                      const DiagnosticSink &sink) {
  return collectResult(sink, [&](CompileResult &result, Reporter &reporter) {
    upgradeInto(result, reporter, source);
  });
}

CompileResult brew::compiler::upgradeFile(const std::string &path,
                                          const DiagnosticSink &sink) {
  return collectResult(sink, [&](CompileResult &result, Reporter &reporter) {
    upgradeInto(result, reporter, prototxt::SourceText::ofFile(path));
  });
}
