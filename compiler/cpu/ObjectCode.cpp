//===- ObjectCode.cpp - Machine code of CPU kernels -----------------------===//

#include "compiler/cpu/ObjectCode.h"

#include "compiler/Parallel.h"
#include "compiler/cpu/CpuTarget.h"
#include "compiler/cpu/FunctionDeduplicator.h"
#include "compiler/cpu/LinkObjects.h"
#include "compiler/cpu/LowerToLLVM.h"
#include "support/Error.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

#include <memory>
#include <mutex>
#include <vector>

namespace brew::compiler::cpu {
namespace {

/// Kernels per LLVM module. Small modules balance well over threads; each costs
/// about a millisecond of setup. The number is fixed, so that the output does
/// not depend on the machine.
constexpr std::size_t kernelsPerModule = 4;

/// One LLVM module with its own context, so that a thread can compile it.
struct Shard {
  std::unique_ptr<llvm::LLVMContext> context =
      std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
  /// LLVM's errors; by default LLVM would print them and exit.
  std::unique_ptr<std::string> errors = std::make_unique<std::string>();

  Shard() {
    context->setDiagnosticHandlerCallBack(
        [](const llvm::DiagnosticInfo *info, void *errors) {
          if (info->getSeverity() != llvm::DS_Error)
            return;
          llvm::raw_string_ostream stream(*static_cast<std::string *>(errors));
          llvm::DiagnosticPrinterRawOStream printer(stream);
          info->print(printer);
        },
        errors.get());
  }
};

Error internalError(const std::string &text) {
  return Error(ExitStatus::Bug, "CPU code generation: " + text);
}

void throwIfErrors(const Shard &shard) {
  if (!shard.errors->empty())
    throw internalError(*shard.errors);
}

std::unique_ptr<llvm::TargetMachine> createMachine(const CpuTarget &target) {
  // Initialise every target, as the linker does, before any lookup: a lookup
  // must not run while another compilation grows the list.
  static std::once_flag initialised;
  std::call_once(initialised, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    llvm::InitializeAllAsmParsers();
  });
  std::string reason;
  llvm::Triple triple(target.triple);
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, reason);
  if (!backend)
    throw internalError(reason);
  llvm::TargetOptions options;
  // Fuse multiplications and additions only where the operations' flags allow
  // it.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, "x86-64", target.featureString(), options, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    throw internalError("no code generator for " + target.triple);
  return machine;
}

/// Lowers a copy of `module` and translates it to LLVM IR.
Shard translate(mlir::ModuleOp module, const CpuTarget &target) {
  mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
  lowerToLLVMDialect(*copy, target);
  Shard shard;
  shard.module = mlir::translateModuleToLLVMIR(*copy, *shard.context, "brew");
  if (!shard.module)
    throw internalError("the LLVM dialect does not translate to LLVM IR");
  std::string width = std::to_string(target.vectorBits);
  shard.module->setTargetTriple(llvm::Triple(target.triple));
  shard.module->setPICLevel(llvm::PICLevel::BigPIC);
  for (llvm::Function &function : *shard.module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", "x86-64");
    function.addFnAttr("tune-cpu", target.cpu);
    function.addFnAttr("target-features", target.featureString());
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("no-trapping-math", "true");
    function.addFnAttr("frame-pointer", "none");
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  return shard;
}

void optimiseModule(Shard &shard, llvm::TargetMachine &machine) {
  llvm::Module &module = *shard.module;
  module.setDataLayout(machine.createDataLayout());
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  tuning.LoopInterleaving = true;
  tuning.LoopUnrolling = true;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
  throwIfErrors(shard);
}

std::string generateCode(Shard &shard, llvm::TargetMachine &machine,
                         llvm::CodeGenFileType kind) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind))
    throw internalError("the target cannot emit such a file");
  passes.run(*shard.module);
  throwIfErrors(shard);
  return std::string(bytes.data(), bytes.size());
}

/// A few kernels and the functions they call.
struct KernelModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Additional kernel names, and the equivalent kernel of each.
  std::vector<std::pair<std::string, std::string>> aliases;
};

/// Splits the kernels into modules of a few kernels each. A kernel that is
/// equivalent to an earlier one becomes an alias. Copies helpers and constants
/// into every module, and sub-kernel functions into the modules that call them.
class Splitter {
public:
  std::vector<KernelModule> run(mlir::ModuleOp module) {
    for (mlir::Operation &op : *module.getBody())
      if (op.hasAttr(subKernelFunctionAttr))
        subKernelFunctions[mlir::SymbolTable::getSymbolName(&op)] = &op;
      else if (!op.hasAttr(kernelEntryAttr))
        helpers.push_back(&op);
    for (auto kernel : module.getOps<mlir::func::FuncOp>())
      if (kernel->hasAttr(kernelEntryAttr))
        addKernel(kernel);
    // A plan has a kernel image even if its net needs library calls only.
    if (modules.empty())
      modules.push_back({mlir::ModuleOp::create(module.getLoc()), {}});
    return std::move(modules);
  }

private:
  void addKernel(mlir::func::FuncOp kernel) {
    mlir::func::FuncOp equivalent = deduplicator.canonical(kernel);
    if (equivalent != kernel) {
      modules[moduleOf[equivalent]].aliases.emplace_back(kernel.getName(),
                                                         equivalent.getName());
      return;
    }
    if (moduleOf.size() % kernelsPerModule == 0)
      beginModule(kernel.getLoc());
    moduleOf[kernel] = modules.size() - 1;
    kernel.walk([&](mlir::func::CallOp call) {
      auto callee = subKernelFunctions.find(call.getCalleeAttr().getAttr());
      if (callee != subKernelFunctions.end() &&
          copiedFunctions.insert(callee->second).second)
        modules.back().module->push_back(callee->second->clone());
    });
    modules.back().module->push_back(kernel->clone());
  }

  void beginModule(mlir::Location loc) {
    modules.push_back({mlir::ModuleOp::create(loc), {}});
    copiedFunctions.clear();
    for (mlir::Operation *op : helpers)
      modules.back().module->push_back(op->clone());
  }

  std::vector<mlir::Operation *> helpers;
  llvm::DenseMap<mlir::StringAttr, mlir::Operation *> subKernelFunctions;
  FunctionDeduplicator deduplicator;
  llvm::DenseMap<mlir::Operation *, std::size_t> moduleOf;
  std::vector<KernelModule> modules;
  llvm::DenseSet<mlir::Operation *> copiedFunctions; ///< in the last module
};

} // namespace

std::string compileToSharedObject(mlir::ModuleOp module,
                                  const CpuTarget &target) {
  std::vector<Shard> shards;
  // MLIR contexts may have threading disabled, so only LLVM's share, three
  // quarters of the time, runs in parallel.
  for (KernelModule &kernels : Splitter().run(module)) {
    shards.push_back(translate(*kernels.module, target));
    for (const auto &[name, kernel] : kernels.aliases)
      llvm::GlobalAlias::create(name,
                                shards.back().module->getFunction(kernel));
  }
  std::vector<std::string> objects(shards.size());
  runParallel(shards.size(), [&](std::size_t i) {
    std::unique_ptr<llvm::TargetMachine> machine = createMachine(target);
    optimiseModule(shards[i], *machine);
    objects[i] =
        generateCode(shards[i], *machine, llvm::CodeGenFileType::ObjectFile);
  });
  return linkSharedObject(objects);
}

std::string emitLLVMIR(mlir::ModuleOp module, const CpuTarget &target) {
  Shard shard = translate(module, target);
  optimiseModule(shard, *createMachine(target));
  std::string text;
  llvm::raw_string_ostream stream(text);
  shard.module->print(stream, nullptr);
  return text;
}

std::string emitAssembly(mlir::ModuleOp module, const CpuTarget &target) {
  Shard shard = translate(module, target);
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(target);
  optimiseModule(shard, *machine);
  return generateCode(shard, *machine, llvm::CodeGenFileType::AssemblyFile);
}

} // namespace brew::compiler::cpu
