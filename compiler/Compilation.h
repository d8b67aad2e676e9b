//===- Compilation.h - One compilation through its phases -------*- C++ -*-===//
#pragma once

#include "compiler/Compile.h"
#include "compiler/PassDiagnostics.h"
#include "compiler/cpu/CpuTarget.h"
#include "compiler/report/HtmlReport.h"
#include "dialects/Brew/BrewDialect.h"
#include "plan/PlanWriter.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/Timing.h"

namespace brew::compiler {

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
    context.getLoadedDialect<dialects::BrewDialect>()->setHostLayers(
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
  /// What the passes of a phase need to know of the net and of the machine.
  PipelineOptions pipelineOptions(Phase phase);
  void describeTarget(PipelineOptions &pipeline);
  mlir::LogicalResult runPasses(mlir::ModuleOp module, Phase phase,
                                const PipelineOptions &pipeline,
                                mlir::TimingScope &scope);
  /// Finds what must be computed again for options.memoryLimit (FitMemory.cpp).
  /// `phaseImport` is the net as it was imported; its graph is there.
  void fitMemory(mlir::ModuleOp phaseImport);
  /// Sets rematerializeBudget so that the plan of `graph` holds the limit; if
  /// nothing does, returns the smallest plan.
  mlir::OwningOpRef<mlir::ModuleOp> fitToMemoryLimit(mlir::ModuleOp graph);
  /// The plan of a graph, with that asked of brew-rematerialize.
  mlir::OwningOpRef<mlir::ModuleOp> lowerToPlan(mlir::ModuleOp graph,
                                            std::optional<int64_t> bytes);
  /// Whether the runtime may take Winograd's algorithms.
  bool usesWinograd() const;
  /// Bytes of the arena and of the scratch that is known.
  int64_t requiredBytes(mlir::ModuleOp plan) const;
  /// 0: none fits.
  int64_t largestBatch(mlir::ModuleOp phaseImport, int64_t limit);
  [[noreturn]] void throwMemoryLimit(mlir::ModuleOp smallest,
                              mlir::ModuleOp phaseImport);
  void emitModule(mlir::ModuleOp module, llvm::StringRef name);
  /// The last phase, for either target; builds the manifest.
  void generateForCpu();
  void generateForCuda();
  void emitKernelFiles(mlir::ModuleOp kernels, const cpu::CpuTarget &target);
  void writeText(llvm::StringRef name, llvm::StringRef text);
  void buildManifest(const std::vector<plan::Kernel> &kernels);
  void makeReport();
  void checkInlineBlobs();
  bool emits(Emit emit) const {
    return options.emit == emit || options.emit == Emit::All;
  }
  bool emitsDot(Emit emit) const {
    return options.emit == emit || options.emit == Emit::Dot;
  }
  /// Whether nothing but the module of that phase is asked for.
  bool stopsAfter(Emit emit) const {
    return options.checkOnly && options.report == ReportKind::None &&
           options.emit == emit;
  }
  bool isTraining() const { return imported.solver && !options.import.phase; }
  bool hasMemoryLoss();
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
  std::vector<std::string> gpuArchs;     ///< from phase fused on
  std::optional<int64_t> rematerializeBudget; ///< for phase fused
  bool withoutFusedProducts = false;        ///< leave out what joins operands
  PageContents page;                     ///< for an HTML report
  KernelAccesses accesses;               ///< for a report
};

} // namespace brew::compiler
