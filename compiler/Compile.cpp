//===- Compile.cpp - From a prototxt to a plan ----------------------------===//
#include "compiler/Compile.h"

#include "compiler/LlvmArguments.h"
#include "compiler/PassDiagnostics.h"
#include "compiler/PlanWeights.h"
#include "compiler/WritePlan.h"
#include "compiler/cpu/CpuTarget.h"
#include "compiler/cpu/EmitKernels.h"
#include "compiler/cpu/ObjectCode.h"
#include "compiler/cuda/CudaImages.h"
#include "compiler/cuda/EmitCuda.h"
#include "compiler/cuda/GpuArchs.h"
#include "compiler/report/HtmlReport.h"
#include "dialects/Brew/BrewDialect.h"
#include "formats/AtomicFile.h"
#include "formats/Error.h"
#include "formats/PathLookup.h"
#include "frontends/prototxt/UpgradeText.h"
#include "runtime/plan/PlanWriter.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <filesystem>

using namespace brew;
using namespace brew::compiler;

namespace {

/// Runs one compilation through its phases.
class Compilation {
public:
  Compilation(const prototxt::SourceText &source, const CompileOptions &options,
              Reporter &reporter, CompileResult &result)
      : source(source), options(options), reporter(reporter), result(result),
        context(makeRegistry(), mlir::MLIRContext::Threading::DISABLED),
        passDiagnostics(reporter),
        handler(&context, [this](mlir::Diagnostic &diagnostic) {
          passDiagnostics(diagnostic);
        }) {
    // Users see their prototxt, not the module.
    context.printOpOnDiagnostic(false);
    context.loadAllAvailableDialects();
    context.getLoadedDialect<ir::BrewDialect>()->setHostLayers(
        options.hostLayers);
    mlir::applyDefaultTimingManagerCLOptions(timing);
    timingScope = timing.getRootScope();
  }

  void run();

private:
  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  void importNet();
  void runPhase(Phase phase, Emit emit, llvm::StringRef name);
  /// What the passes need to know of the machine.
  void describeTarget(PipelineOptions &pipeline);
  void emitModule(mlir::ModuleOp module, llvm::StringRef name);
  /// The last phase, for either target; builds the manifest.
  void generateForCpu();
  void generateForCuda();
  void emitKernelFiles(mlir::ModuleOp kernels, const CpuTarget &target);
  void writeText(llvm::StringRef name, llvm::StringRef text);
  void buildManifest(const std::vector<plan::Kernel> &kernels);
  void makeReport();
  void checkGivenBlobs();
  bool wants(Emit emit) const {
    return options.emit == emit || options.emit == Emit::All;
  }
  bool wantsDot(Emit emit) const {
    return options.emit == emit || options.emit == Emit::Dot;
  }
  /// Whether nothing but the module of that phase is asked for.
  bool stopsAfter(Emit emit) const {
    return options.checkOnly && options.report == ReportKind::None &&
           options.emit == emit;
  }
  bool isTraining() const { return imported.solver && !options.import.phase; }
  bool embedsWeights() const {
    return !options.weights.empty() && !isTraining();
  }

  const prototxt::SourceText &source;
  const CompileOptions &options;
  Reporter &reporter;
  CompileResult &result;
  mlir::MLIRContext context;
  PassDiagnostics passDiagnostics;
  mlir::ScopedDiagnosticHandler handler;
  mlir::DefaultTimingManager timing;
  mlir::TimingScope timingScope;
  prototxt::ImportedNet imported;
  plan::Manifest manifest;
  std::vector<std::string> segments;
  std::vector<std::string> gpuArchs; ///< from phase fused on
  PageContents page;                 ///< for an HTML report
};

void Compilation::importNet() {
  auto scope = timingScope.nest("import");
  prototxt::Diagnostics diagnostics;
  prototxt::ImportOptions import = options.import;
  import.lookOnly = stopsAfter(Emit::Import);
  imported = prototxt::importText(context, source, import, diagnostics);
  reporter.report(diagnostics);
  if (diagnostics.hasErrors())
    throw Reported();
}

void Compilation::runPhase(Phase phase, Emit emit, llvm::StringRef name) {
  mlir::PassManager pm(&context);
  if (hasLlvmArguments() && mlir::failed(mlir::applyPassManagerCLOptions(pm)))
    throw Error(ExitStatus::Usage, "wrong options for the pass manager");
  auto scope = timingScope.nest(name);
  pm.enableTiming(scope);
  PipelineOptions pipeline = options.pipeline;
  if (phase == Phase::Fused)
    describeTarget(pipeline);
  if (isTraining()) {
    pipeline.solverType = imported.solver->type();
    pipeline.regularization = imported.solver->regularization_type();
    pipeline.keepUpdate = imported.solver->snapshot_diff();
    // Who writes gradients may sum those of several passes.
    pipeline.accumulate =
        imported.solver->iter_size() > 1 || !pipeline.seeds.empty();
    pipeline.clip = imported.solver->clip_gradients() >= 0;
  }
  buildPhase(pm, phase, pipeline);
  if (mlir::failed(pm.run(*imported.module))) {
    // Up to the graph the user's net can be at fault; later only Brew.
    if (phase == Phase::Import || phase == Phase::Graph)
      throw Reported{passDiagnostics.exitStatus()};
    throw Error(ExitStatus::Bug,
                "phase " + name.str() +
                    " failed; this is a defect of Brew, please report it with "
                    "the prototxt and the lines above");
  }
  if (wants(emit))
    emitModule(*imported.module, name);
}

void Compilation::describeTarget(PipelineOptions &pipeline) {
  if (options.target == TargetKind::Cpu) {
    CpuTarget cpu = resolveCpuTarget(options.cpu);
    pipeline.vectorBits = cpu.vectorBits;
    // Elsewhere oneDNN would take longer over bf16 than over f32.
    pipeline.bf16Products = cpu.has("avx512bf16");
    return;
  }
  try {
    gpuArchs = resolveGpuArchs(options.gpuArch);
  } catch (const Error &error) {
    // Without a plan nothing is compiled: no GPU is needed to look at text.
    if (!options.checkOnly || error.status() != ExitStatus::MachineLacks)
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
    throw machineLacks("cannot create folder '" + options.dumpDir + "'");
  llvm::SmallString<128> path(options.dumpDir);
  llvm::sys::path::append(path, name);
  formats::writeFileAtomically(path.str().str(), text);
}

void Compilation::emitModule(mlir::ModuleOp module, llvm::StringRef name) {
  std::string text;
  llvm::raw_string_ostream os(text);
  mlir::OpPrintingFlags flags;
  module.print(os, flags);
  os << "\n";
  writeText((name + ".mlir").str(), text);
}

void Compilation::emitKernelFiles(mlir::ModuleOp kernels,
                                  const CpuTarget &target) {
  emitModule(kernels, "kernels");
  writeText("kernels.ll", emitLLVMIR(kernels, target));
  writeText("kernels.s", emitAssembly(kernels, target));
}

void Compilation::makeReport() {
  if (options.report == ReportKind::None)
    return;
  llvm::raw_string_ostream os(result.report.emplace());
  const ReportSubject subject = {
      *imported.module, manifest, options.pipeline.precision,
      options.target == TargetKind::Cuda, options.import.phase.has_value()};
  switch (options.report) {
  case ReportKind::None:
    return;
  case ReportKind::Text:
    return printTextReport(subject, os);
  case ReportKind::Html:
    return printHtmlReport(subject, page, source, os);
  case ReportKind::Json:
    return printJsonReport(subject, os);
  }
}

void Compilation::checkGivenBlobs() {
  prototxt::Diagnostics diagnostics;
  compiler::checkGivenBlobs(*imported.module, imported.blobs, diagnostics);
  reporter.report(diagnostics);
  if (diagnostics.hasErrors())
    throw Reported();
}

void Compilation::run() {
  importNet();
  if (options.import.solverOnly)
    return;
  // A training plan's are looked for when it runs.
  if (embedsWeights())
    formats::requirePath(options.weights, {}, "weights");
  runPhase(Phase::Import, Emit::Import, "import");
  if (stopsAfter(Emit::Import))
    return;
  runPhase(Phase::Graph, Emit::Graph, "graph");
  checkGivenBlobs();
  if (wantsDot(Emit::GraphDot))
    writeText("graph.dot", dotText(graphOfLayers(*imported.module), "graph"));
  if (options.report == ReportKind::Html)
    page.layers = graphOfLayers(*imported.module);
  if (stopsAfter(Emit::Graph) || stopsAfter(Emit::GraphDot))
    return;
  runPhase(Phase::Fused, Emit::Fused, "fused");
  if (wantsDot(Emit::FusedDot))
    writeText("fused.dot", dotText(graphOfSteps(*imported.module), "fused"));
  if (options.report == ReportKind::Html)
    page.steps = graphOfSteps(*imported.module);
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
  if (embedsWeights()) {
    prototxt::Diagnostics diagnostics;
    embedWeights(options.weights, imported.blobs, manifest, segments,
                 diagnostics);
    reporter.report(diagnostics);
  } else {
    addGivenBlobs(imported.blobs, manifest, segments);
  }
  if (options.checkOnly)
    return;
  result.plan = plan::serializePlan(manifest, segments);
}

void Compilation::buildManifest(const std::vector<plan::Kernel> &kernels) {
  PlanInfo info;
  info.netName = imported.netName;
  info.input = source.name;
  info.records = imported.records;
  info.f64 = options.import.f64;
  if (isTraining()) {
    info.solver = imported.solver;
    info.solverFolder = imported.solverFolder;
    info.initialWeights = options.weights;
    // Where a relative name was meant, as the plan may run from elsewhere.
    info.initialWeightsFolder = std::filesystem::current_path().string();
  }
  manifest = compiler::buildManifest(*imported.module, kernels, info);
  makeReport();
}

void Compilation::generateForCpu() {
  CpuTarget target = resolveCpuTarget(options.cpu);
  if (options.pipeline.precision == targetir::Precision::F16 &&
      !target.has("f16c"))
    throw Error(ExitStatus::Usage,
                "--precision=f16 needs a processor that converts f16 (F16C), "
                "which " +
                    options.cpu +
                    " does not; --cpu=x86-64-v3 and later do, "
                    "and bf16 works everywhere");
  std::vector<EmittedKernel> emitted;
  auto kernels = emitKernels(*imported.module, emitted);
  if (wants(Emit::Kernels))
    emitKernelFiles(*kernels, target);
  if (options.report == ReportKind::Html)
    for (const EmittedKernel &kernel : emitted)
      page.kernelTexts.push_back(functionText(*kernels, kernel.symbol));
  std::vector<plan::Kernel> described;
  for (const EmittedKernel &kernel : emitted) {
    plan::Kernel &out = described.emplace_back();
    out.set_symbol(kernel.symbol);
    out.set_image_segment_index(0);
    out.set_domain(kernel.domain);
    out.set_grain(kernel.grain);
    out.set_argument_count(kernel.argumentCount);
    out.set_flops(kernel.flops);
    out.set_bytes(kernel.bytes);
  }
  buildManifest(described);
  if (options.checkOnly)
    return;
  plan::Target *out = manifest.mutable_target();
  out->set_kind(plan::Target::CPU);
  out->set_triple(target.triple);
  out->set_cpu(target.cpu);
  for (const std::string &feature : target.features)
    out->add_cpu_features(feature);
  segments.push_back(compileToSharedObject(*kernels, target));
  manifest.add_segments()->set_kind(plan::Segment::KERNEL_IMAGE);
}

void Compilation::generateForCuda() {
  std::vector<CudaKernel> kernels = emitCuda(*imported.module);
  if (wants(Emit::Kernels))
    for (const CudaKernel &kernel : kernels)
      writeText(kernel.symbol + ".cu", kernel.text);
  std::vector<plan::Kernel> described;
  for (const CudaKernel &kernel : kernels) {
    described.push_back(describeCuda(kernel));
    if (options.report == ReportKind::Html)
      page.kernelTexts.push_back(kernel.text);
  }
  buildManifest(described);
  if (options.checkOnly)
    return;
  plan::Target *target = manifest.mutable_target();
  target->set_kind(plan::Target::CUDA);
  if (options.pipeline.precision == targetir::Precision::TF32)
    target->set_math(plan::Target::TF32);
  if (options.deterministic)
    target->set_deterministic(true);
  CudaImageOptions images;
  images.archs = gpuArchs;
  images.cache = options.kernelCache;
  if (wants(Emit::Kernels))
    images.textFolder = options.dumpDir;
  described.assign(manifest.kernels().begin(), manifest.kernels().end());
  compileCuda(kernels, images, described, *target, segments);
  manifest.mutable_kernels()->Assign(described.begin(), described.end());
  for (size_t i = 0; i < segments.size(); ++i)
    manifest.add_segments()->set_kind(plan::Segment::KERNEL_IMAGE);
}

} // namespace

/// Runs `work` with a result to fill in; what it throws is told there.
template <typename Work>
static CompileResult collect(const DiagnosticSink &sink, Work work) {
  CompileResult result;
  Reporter reporter(result, sink);
  try {
    work(result, reporter);
  } catch (...) {
    reporter.reportException();
  }
  return result;
}

CompileResult brew::compiler::compile(const prototxt::SourceText &source,
                                      const CompileOptions &options,
                                      const DiagnosticSink &sink) {
  return collect(sink, [&](CompileResult &result, Reporter &reporter) {
    Compilation(source, options, reporter, result).run();
  });
}

CompileResult brew::compiler::compileFile(const std::string &path,
                                          const CompileOptions &options,
                                          const DiagnosticSink &sink) {
  return collect(sink, [&](CompileResult &result, Reporter &reporter) {
    Compilation(prototxt::SourceText::ofFile(path), options, reporter, result)
        .run();
  });
}

static void upgradeTo(CompileResult &result, Reporter &reporter,
                      const prototxt::SourceText &source) {
  prototxt::Diagnostics diagnostics;
  std::optional<std::string> text = prototxt::upgradedText(source, diagnostics);
  reporter.report(diagnostics);
  if (!text)
    throw Reported();
  result.upgraded = std::move(*text);
}

CompileResult brew::compiler::upgrade(const prototxt::SourceText &source,
                                      const DiagnosticSink &sink) {
  return collect(sink, [&](CompileResult &result, Reporter &reporter) {
    upgradeTo(result, reporter, source);
  });
}

CompileResult brew::compiler::upgradeFile(const std::string &path,
                                          const DiagnosticSink &sink) {
  return collect(sink, [&](CompileResult &result, Reporter &reporter) {
    upgradeTo(result, reporter, prototxt::SourceText::ofFile(path));
  });
}
