//===- main.cpp - brewc: compiles prototxt nets to plans -------------------===//
#include "compiler/Compile.h"
#include "formats/AtomicFile.h"
#include "formats/Error.h"
#include "frontends/prototxt/UpgradeText.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace cl = llvm::cl;
using namespace brew;
using namespace brew::compiler;

namespace {

cl::OptionCategory category("brewc options");

cl::opt<std::string> input(cl::Positional, cl::desc("NET_OR_SOLVER.prototxt"),
                           cl::Required, cl::cat(category));
cl::opt<std::string> output("o", cl::desc("Plan to write (none without it)"),
                            cl::value_desc("file"), cl::cat(category));

cl::opt<bool> upgrade("upgrade",
                      cl::desc("Print the net or solver in today's syntax (to "
                               "the file of -o) and compile nothing"),
                      cl::cat(category));

cl::opt<TargetKind> target(
    "target", cl::desc("Where the plan will run"), cl::init(TargetKind::Cpu),
    cl::values(clEnumValN(TargetKind::Cpu, "cpu", "CPU"),
               clEnumValN(TargetKind::Cuda, "cuda", "NVIDIA GPU")),
    cl::cat(category));
cl::opt<std::string> cpu("cpu",
                         cl::desc("CPU to generate code for: native, "
                                  "x86-64-v3 or another of LLVM's names"),
                         cl::init("native"), cl::cat(category));
cl::opt<std::string>
    gpuArch("gpu-arch",
            cl::desc("GPUs to generate code for: native, or a list such as "
                     "sm_80,sm_90"),
            cl::init("native"), cl::value_desc("list"), cl::cat(category));
cl::opt<bool> noKernelCache("no-kernel-cache",
                            cl::desc("Compile CUDA kernels anew, even if they "
                                     "were compiled before"),
                            cl::cat(category));

cl::opt<caffe::Phase>
    phase("phase", cl::desc("Compile one phase, as one bare program"),
          cl::values(clEnumValN(caffe::TRAIN, "train", "TRAIN phase"),
                     clEnumValN(caffe::TEST, "test", "TEST phase")),
          cl::cat(category));
cl::opt<bool> gradients("gradients",
                        cl::desc("With --phase: include the backward pass"),
                        cl::cat(category));
cl::opt<bool> exactHiddenGradients(
    "exact-hidden-gradients",
    cl::desc("Propagate gradients of the exposed states of LSTM and RNN, which "
             "Caffe does not"),
    cl::cat(category));
cl::opt<int> level("level", cl::desc("NetState level"), cl::cat(category));
cl::list<std::string> stages("stage", cl::desc("NetState stages"),
                             cl::CommaSeparated, cl::cat(category));
cl::opt<std::string> solver("solver", cl::desc("Solver for a net file"),
                            cl::value_desc("file"), cl::cat(category));
cl::opt<bool> solverOnly("solver-only",
                         cl::desc("Check a solver without opening its net"),
                         cl::cat(category));
cl::opt<std::string>
    weights("weights",
            cl::desc("Weights to embed; for a training plan, its initial ones"),
            cl::value_desc("file"), cl::cat(category));
cl::list<std::string> keep("keep",
                           cl::desc("Blobs to keep readable after a run, or "
                                    "all"),
                           cl::CommaSeparated, cl::cat(category));
cl::opt<int64_t> batch("batch", cl::desc("Batch size instead of the net's"),
                       cl::init(0), cl::cat(category));
cl::list<std::string> inputShape("input-shape",
                                 cl::desc("Shape of a data blob"),
                                 cl::value_desc("BLOB=d,d,..."),
                                 cl::cat(category));

enum class Precision { F32, F64, TF32, BF16, F16 };
cl::opt<Precision> precision(
    "precision", cl::desc("Arithmetic"), cl::init(Precision::F32),
    cl::values(clEnumValN(Precision::F32, "f32", "32 bits"),
               clEnumValN(Precision::F64, "f64", "64 bits, generic code only"),
               clEnumValN(Precision::TF32, "tf32", "GPU tensor cores"),
               clEnumValN(Precision::BF16, "bf16",
                          "activations and products in bfloat16"),
               clEnumValN(Precision::F16, "f16",
                          "activations and products in IEEE half")),
    cl::cat(category));
cl::opt<double>
    lossScale("loss-scale",
              cl::desc("f16: what the loss is multiplied by at first, a power "
                       "of two (default 1024)"),
              cl::init(1024), cl::cat(category));
cl::opt<int64_t>
    lossScaleWindow("loss-scale-window",
                    cl::desc("f16: good iterations after which the scale is "
                             "doubled; 0 keeps it (default 2000)"),
                    cl::init(2000), cl::cat(category));

cl::opt<Emit> emitPhase(
    "emit", cl::desc("Print a phase's module"), cl::init(Emit::None),
    cl::values(clEnumValN(Emit::Import, "import", "layers as in the prototxt"),
               clEnumValN(Emit::Graph, "graph", "with shapes and gradients"),
               clEnumValN(Emit::Fused, "fused", "vendor calls and kernels"),
               clEnumValN(Emit::Plan, "plan", "steps over placed buffers"),
               clEnumValN(Emit::Kernels, "kernels", "generated code"),
               clEnumValN(Emit::All, "all", "all of them")),
    cl::cat(category));
cl::opt<std::string> dumpDir("dump-dir",
                             cl::desc("Folder for --emit (default: standard "
                                      "output; kernels need a folder)"),
                             cl::cat(category));
cl::opt<ReportKind> report(
    "report", cl::desc("Print kernels, operations and memory"),
    cl::init(ReportKind::None), cl::ValueOptional,
    cl::values(clEnumValN(ReportKind::Text, "", "text"),
               clEnumValN(ReportKind::Text, "text", "text"),
               clEnumValN(ReportKind::Json, "json", "JSON alone on stdout"),
               clEnumValN(ReportKind::Html, "html", "one page")),
    cl::cat(category));
cl::opt<bool> deterministic(
    "deterministic",
    cl::desc("Only engines whose bits repeat (every CPU plan's do)"),
    cl::cat(category));
cl::list<std::string> noLibrary(
    "no-library",
    cl::desc("Generate code instead of vendor calls: all, or conv, ip"),
    cl::ValueOptional, cl::CommaSeparated, cl::cat(category));
cl::opt<std::string> layout("layout",
                            cl::desc("Activations in memory: auto, nchw, nhwc"),
                            cl::init("auto"), cl::cat(category));

[[noreturn]] void usage(const std::string &text) {
  throw Error(ExitStatus::Usage, text);
}

CompileOptions readOptions() {
  CompileOptions options;
  bool cuda = target == TargetKind::Cuda;
  if (!cuda && (gpuArch.getNumOccurrences() || noKernelCache))
    usage("--gpu-arch and --no-kernel-cache are for --target cuda");
  if (cuda && cpu.getNumOccurrences())
    usage("--cpu is for --target cpu");
  if (!cuda && precision == Precision::TF32)
    usage("--precision=tf32 is for --target cuda");
  bool isHalf = precision == Precision::F16;
  bool isNarrow = isHalf || precision == Precision::BF16;
  if (!isHalf &&
      (lossScale.getNumOccurrences() || lossScaleWindow.getNumOccurrences()))
    usage("--loss-scale and --loss-scale-window are for --precision=f16");
  if (int exponent = 0; std::frexp(lossScale, &exponent) != 0.5 ||
                        lossScale < 1 || lossScale > 16777216)
    usage("--loss-scale must be a power of two from 1 to 16777216");
  if (lossScaleWindow < 0)
    usage("--loss-scale-window must not be negative");
  if (gradients && !phase.getNumOccurrences())
    usage("--gradients goes with --phase");
  if ((emitPhase == Emit::Kernels || emitPhase == Emit::All) && dumpDir.empty())
    usage("--emit=kernels writes several files: name a folder with --dump-dir");
  if (batch.getNumOccurrences() && batch <= 0)
    usage("--batch must be positive");
  options.input = input;
  options.output = output;
  options.target = target;
  options.cpu = cpu;
  options.gpuArch = gpuArch;
  options.tf32 = precision == Precision::TF32;
  options.deterministic = deterministic;
  options.kernelCache = !noKernelCache;
  options.pipeline.cuda = cuda;
  options.pipeline.tensorCores = options.tf32 || isNarrow;
  if (isNarrow)
    options.pipeline.activations = isHalf ? "f16" : "bf16";
  if (isHalf) {
    options.pipeline.lossScale = lossScale;
    options.pipeline.lossScaleWindow = lossScaleWindow;
  }
  options.weights = weights;
  options.emit = emitPhase;
  options.dumpDir = dumpDir;
  options.report = report;
  options.import.f64 = precision == Precision::F64;
  if (phase.getNumOccurrences())
    options.import.phase = phase;
  options.import.gradients = gradients;
  if (level.getNumOccurrences())
    options.import.level = level;
  options.import.stages.assign(stages.begin(), stages.end());
  options.import.solverFile = solver;
  options.import.solverOnly = solverOnly;
  options.pipeline.keep.assign(keep.begin(), keep.end());
  options.pipeline.inputShapes.assign(inputShape.begin(), inputShape.end());
  options.pipeline.batch = batch;
  options.pipeline.exactHiddenGradients = exactHiddenGradients;
  options.pipeline.layout = layout;
  for (const std::string &group : noLibrary) {
    if (!group.empty() && group != "all" && group != "conv" && group != "ip")
      usage("--no-library: unknown group '" + group + "' (conv, ip, all)");
    options.pipeline.noLibrary.push_back(group.empty() ? "all" : group);
  }
  if (layout != "auto" && layout != "nchw" && layout != "nhwc")
    usage("--layout: unknown layout '" + layout + "' (auto, nchw, nhwc)");
  return options;
}

/// `--upgrade`: the exit status.
int printUpgraded() {
  for (const auto &[name, option] : cl::getRegisteredOptions())
    if (option->getNumOccurrences() && option != &input && option != &output &&
        option != &upgrade && llvm::is_contained(option->Categories, &category))
      usage("--upgrade compiles nothing: --" + name.str() + " has no use there");
  prototxt::Diagnostics diagnostics;
  std::optional<std::string> text =
      prototxt::upgradedText(input, diagnostics);
  llvm::errs() << diagnostics.str();
  if (!text)
    return static_cast<int>(ExitStatus::BadInput);
  if (output.empty())
    llvm::outs() << *text;
  else
    formats::writeFileAtomically(output, *text);
  return 0;
}

void printVersion(llvm::raw_ostream &os) { os << "brewc " BREW_VERSION "\n"; }

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::setBugReportMsg(
      "This is a defect of Brew. Please report it with the prototxt, the "
      "command line and the lines below.\n");
  mlir::registerAsmPrinterCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter(printVersion);
  if (!cl::ParseCommandLineOptions(
          argc, argv, "Compiles Caffe nets to plans for brew-run\n",
          &llvm::errs()))
    return static_cast<int>(ExitStatus::Usage);
  try {
    return upgrade ? printUpgraded() : compile(readOptions());
  } catch (const Error &error) {
    // Errors with a place begin with it.
    std::string text = error.what();
    // Further lines may be a compiler's.
    bool placed =
        text.substr(0, text.find('\n')).find(": error: ") != std::string::npos;
    llvm::errs() << (placed ? "" : "brewc: error: ") << text << "\n";
    return static_cast<int>(error.status());
  } catch (const std::exception &error) {
    llvm::errs() << "brewc: internal error: " << error.what()
                 << "\nThis is a defect of Brew. Please report it with the "
                    "prototxt and the command line.\n";
    return static_cast<int>(ExitStatus::Bug);
  }
}
