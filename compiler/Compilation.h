//===- Compilation.h - State of one compilation -----------------*- C++ -*-===//
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
    // Diagnostics show locations in the prototxt, not operations of the module.
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
  /// Returns the options of the passes of `phase`.
  PipelineOptions pipelineOptions(Phase phase);
  void describeTarget(PipelineOptions &pipeline);
  mlir::LogicalResult runPasses(mlir::ModuleOp module, Phase phase,
                                const PipelineOptions &pipeline,
                                mlir::TimingScope &scope);
  /// Finds the values to rematerialize for options.memoryLimit (FitMemory.cpp).
  /// `phaseImport` is the module after phase import; imported.module is in
  /// phase graph.
  void fitMemory(mlir::ModuleOp phaseImport);
  /// Sets rematerializeBudget so that the plan of `graph` fits the memory
  /// limit. Returns null on success, otherwise the smallest plan found.
  mlir::OwningOpRef<mlir::ModuleOp> fitToMemoryLimit(mlir::ModuleOp graph);
  /// Lowers a copy of `graph` to phase plan with the given budget for
  /// rematerialization.
  mlir::OwningOpRef<mlir::ModuleOp> lowerToPlan(mlir::ModuleOp graph,
                                                std::optional<int64_t> bytes);
  /// Returns whether the runtime may use Winograd's algorithms.
  bool usesWinograd() const;
  /// Returns the total size in bytes of the transient arena and of the scratch
  /// memory that the compiler can predict.
  int64_t requiredBytes(mlir::ModuleOp plan) const;
  /// Returns the largest batch size whose plan fits `limit` bytes; 0 if no
  /// batch fits.
  int64_t largestBatch(int64_t limit);
  [[noreturn]] void throwMemoryLimit(mlir::ModuleOp smallest);
  void emitModule(mlir::ModuleOp module, llvm::StringRef name);
  /// Generate machine code and build the manifest.
  void generateForCpu();
  void generateForCuda();
  void emitKernelFiles(mlir::ModuleOp kernels, const cpu::CpuTarget &target);
  void writeText(llvm::StringRef name, llvm::StringRef text);
  void buildManifest(const std::vector<plan::Kernel> &kernels);
  void makeReport();
  void checkInlineBlobs();
  void requireWeights();
  bool emits(Emit emit) const {
    return options.emit == emit || options.emit == Emit::All;
  }
  bool emitsDot(Emit emit) const {
    return options.emit == emit || options.emit == Emit::Dot;
  }
  /// Returns whether the compilation ends after the phase that `emit` prints.
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
  std::vector<std::string> gpuArchs;          ///< set in phase fused
  std::optional<int64_t> rematerializeBudget; ///< bytes; null: no limit
  bool withoutFusedProducts = false;          ///< skip passes that fuse
                                              ///< products
  PageContents page;                          ///< for the HTML report
  KernelAccesses accesses;                    ///< for reports
};

} // namespace brew::compiler
