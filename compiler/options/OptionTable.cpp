//===- OptionTable.cpp - Table of compiler options ------------------------===//
#include "compiler/options/Options.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

namespace brew::compiler {

namespace {

using Options = CompileOptions;
using Text = const std::string &;

/// Parses a positive number of bytes: 4096, 16k, 1.5Gi. Returns null if
/// malformed.
std::optional<std::int64_t> parseBytes(Text value) {
  llvm::StringRef number(value);
  double unit = 1;
  const double step = number.consume_back("i") ? 1024 : 1000;
  if (number.consume_back("k") || number.consume_back("K"))
    unit = step;
  else if (number.consume_back("M"))
    unit = step * step;
  else if (number.consume_back("G"))
    unit = step * step * step;
  else if (step == 1024)
    return std::nullopt;
  double bytes = 0;
  if (number.empty() || number.getAsDouble(bytes) || !(bytes * unit >= 1) ||
      bytes * unit > 9e18)
    return std::nullopt;
  return static_cast<std::int64_t>(bytes * unit);
}

/// Limit of --bucket-mb; larger buckets have no benefit.
constexpr double kMaxBucketMegabytes = 4096;

/// Returns whether `value` is a power of two, so that scaling does not round.
bool isLossScale(Text value) {
  const double scale = optionReal(value);
  int exponent = 0;
  return std::frexp(scale, &exponent) == 0.5 && scale >= 1 && scale <= 16777216;
}

bool isNotEmpty(Text value) { return !value.empty(); }

void applyPrecision(Options &options, Text value) {
  options.import.f64 = value == "f64";
  options.pipeline.precision =
      dialects::target::symbolizePrecision(value).value_or(
          dialects::target::Precision::F32);
}

/// Creates a row, to be completed with its setters.
OptionRow row(const char *name, OptionKind kind, const char *help) {
  OptionRow result;
  result.name = name;
  result.kind = kind;
  result.help = help;
  if (kind == OptionKind::Flag)
    result.impliedText = "true";
  return result;
}

} // namespace

const std::vector<OptionRow> &optionTable() {
  using Kind = OptionKind;
  static const std::vector<OptionRow> table = {
      row("allow-missing-weights", Kind::Flag,
          "Inference: fill layers that the file of --weights lacks with their "
          "fillers")
          .withAction([](Options &o, Text v) {
            o.allowMissingWeights = optionFlag(v);
          }),
      row("bucket-mb", Kind::Real,
          "Megabytes of gradients per all-reduce (default: by a cost model)")
          .withValueName("N")
          .withConstraint("be positive and at most 4096",
                          [](Text v) {
                            return optionReal(v) > 0 &&
                                   optionReal(v) <= kMaxBucketMegabytes;
                          })
          .withAction([](Options &o, Text v) {
            o.pipeline.bucketBytes =
                std::max<int64_t>(1, std::llround(optionReal(v) * 1e6));
          }),
      row("batch", Kind::Integer, "Batch size that replaces the net's")
          .withValueName("N")
          .withRange(1, INT32_MAX)
          .withAction(
              [](Options &o, Text v) { o.import.batch = optionInteger(v); }),
      row("check-only", Kind::Flag,
          "Only check, emit and report: build no plan")
          .withAction([](Options &o, Text v) { o.checkOnly = optionFlag(v); }),
      row("cpu", Kind::Text,
          "CPU to generate code for: native, x86-64-v3 or another of "
          "LLVM's names")
          .withValueName("name")
          .withDefault("native")
          .withAction([](Options &o, Text v) { o.cpu = v; }),
      row("deploy", Kind::Flag,
          "Compile a training net for inference: without data layers, losses "
          "and accuracies")
          .withAction(
              [](Options &o, Text v) { o.import.deploy = optionFlag(v); }),
      row("deterministic", Kind::Flag,
          "Only deterministic library algorithms (CPU plans are always "
          "deterministic)")
          .withAction(
              [](Options &o, Text v) { o.deterministic = optionFlag(v); }),
      row("distributed", Kind::Flag,
          "Training plan for data-parallel runs on any number of ranks")
          .withAction([](Options &o, Text v) {
            o.pipeline.distributed = optionFlag(v);
          }),
      row("dump-dir", Kind::Text,
          "Folder for the files of --emit (default: print texts)")
          .withValueName("folder")
          .withConstraint("name a folder", isNotEmpty)
          .withAction([](Options &o, Text v) { o.dumpDir = v; }),
      row("emit", Kind::Choice, "Print the module after a phase, or its graph")
          .withValueName("phase")
          .withChoices({{"prototxt", "the net that --deploy makes"},
                        {"import", "layers as in the prototxt"},
                        {"graph", "static shapes and gradients"},
                        {"fused", "library calls and kernels"},
                        {"plan", "steps over buffers with offsets"},
                        {"kernels", "generated code"},
                        {"all", "all of them"},
                        {"graph-dot", "layers and shapes, for Graphviz"},
                        {"fused-dot", "kernels and calls, for Graphviz"},
                        {"dot", "both of these"}})
          .withAction([](Options &o, Text v) {
            o.emit = llvm::StringSwitch<Emit>(v)
                         .Case("prototxt", Emit::Prototxt)
                         .Case("import", Emit::Import)
                         .Case("graph", Emit::Graph)
                         .Case("fused", Emit::Fused)
                         .Case("plan", Emit::Plan)
                         .Case("kernels", Emit::Kernels)
                         .Case("all", Emit::All)
                         .Case("graph-dot", Emit::GraphDot)
                         .Case("fused-dot", Emit::FusedDot)
                         .Case("dot", Emit::Dot);
          }),
      row("exact-convolutions", Kind::Flag,
          "CPU: no Winograd algorithms, which have larger f32 rounding errors")
          .withAction(
              [](Options &o, Text v) { o.exactConvolutions = optionFlag(v); }),
      row("exact-hidden-gradients", Kind::Flag,
          "Propagate gradients of the exposed states of LSTM and RNN (Caffe "
          "does not)")
          .withAction([](Options &o, Text v) {
            o.pipeline.exactHiddenGradients = optionFlag(v);
          }),
      row("gpu-arch", Kind::Text,
          "GPUs to generate code for: native, or a list such as sm_80,sm_90; "
          "kernels are optimised for the first")
          .withValueName("list")
          .withDefault("native")
          .withAction([](Options &o, Text v) { o.gpuArch = v; }),
      row("gradient-norm", Kind::Flag,
          "Training: compute the gradients' norm on the device regardless of "
          "the solver, for brew-run train --check-nan and --clip-gradients")
          .withAction([](Options &o, Text v) {
            o.pipeline.clipGradients = optionFlag(v);
          }),
      row("gradients", Kind::Flag, "With --phase: include the backward pass")
          .withAction(
              [](Options &o, Text v) { o.import.gradients = optionFlag(v); }),
      row("host-layer", Kind::List,
          "Layer types computed by the program that runs the plan")
          .withValueName("TYPE,...")
          .withCommaLists()
          .withAction([](Options &o, Text v) { addHostLayer(o, {v}); }),
      row("image-sizes", Kind::Choice,
          "Sizes of images in batches of one without a crop")
          .withValueName("sizes")
          .withDefault("equal")
          .withChoices({{"equal", "one size; several are an error"},
                        {"first", "that of the first image, without a check"},
                        {"any", "each its own, for the program of a data layer "
                                "alone (--stepwise)"}})
          .withAction([](Options &o, Text v) {
            o.import.imageSizes =
                llvm::StringSwitch<prototxt::ImageSizes>(v)
                    .Case("equal", prototxt::ImageSizes::Equal)
                    .Case("first", prototxt::ImageSizes::First)
                    .Case("any", prototxt::ImageSizes::Any);
          }),
      row("input-shape", Kind::List,
          "Shape of an input blob, or of a host layer's top")
          .withValueName("BLOB=d,d,...")
          .withAction(
              [](Options &o, Text v) { o.import.inputShapes.push_back(v); }),
      row("keep", Kind::List, "Blobs that stay readable after a run, or all")
          .withValueName("BLOB,...")
          .withCommaLists()
          .withAction([](Options &o, Text v) { o.pipeline.pin.push_back(v); }),
      row("layout", Kind::Choice, "Memory layout of activations")
          .withValueName("layout")
          .withDefault("auto")
          .withChoices({{"auto", "channels last if library calls prefer it"},
                        {"nchw", "channels before pixels"},
                        {"nhwc", "channels last"}})
          .withNoun("layout")
          .withAction([](Options &o, Text v) {
            o.pipeline.layout = *dialects::target::symbolizeBlobLayout(v);
          }),
      row("level", Kind::Integer, "NetState level")
          .withValueName("N")
          .withConstraint("be a number of 32 bits",
                          [](Text v) {
                            return optionInteger(v) ==
                                   static_cast<std::int32_t>(optionInteger(v));
                          })
          .withAction([](Options &o, Text v) {
            o.import.level = static_cast<std::int32_t>(optionInteger(v));
          }),
      row("loss-scale", Kind::Real, "f16: initial loss scale, a power of two")
          .withValueName("S")
          .withDefault("1024")
          .withConstraint("be a power of two from 1 to 16777216", isLossScale)
          .withAction(
              [](Options &o, Text v) { o.pipeline.lossScale = optionReal(v); }),
      row("loss-scale-window", Kind::Integer,
          "f16: iterations with finite gradients after which the scale "
          "doubles; 0: never")
          .withValueName("N")
          .withDefault("2000")
          .withConstraint("not be negative",
                          [](Text v) { return optionInteger(v) >= 0; })
          .withAction([](Options &o, Text v) {
            o.pipeline.lossScaleWindow = optionInteger(v);
          }),
      row("memory-limit", Kind::Text,
          "Memory limit for activations and their gradients: the backward pass "
          "recomputes values that do not fit")
          .withValueName("bytes[k|M|G|Ki|Mi|Gi]")
          .withConstraint("be a number of bytes, optionally followed by k, M, "
                          "G, Ki, Mi or Gi",
                          [](Text v) { return parseBytes(v).has_value(); })
          .withAction(
              [](Options &o, Text v) { o.memoryLimit = parseBytes(v); }),
      row("no-kernel-cache", Kind::Flag,
          "Compile all CUDA kernels instead of using cached ones")
          .withAction(
              [](Options &o, Text v) { o.kernelCache = !optionFlag(v); }),
      row("no-library", Kind::List, "Generate code instead of library calls")
          .withValueName("GROUP,...")
          .withImpliedValue("all")
          .withChoices({{"conv", "convolutions"},
                        {"ip", "inner products"},
                        {"all", "all of them"}})
          .withCommaLists()
          .withNoun("group")
          .withAction(
              [](Options &o, Text v) { o.pipeline.noLibrary.push_back(v); }),
      row("phase", Kind::Choice, "Compile one phase as a single program")
          .withValueName("phase")
          .withChoices({{"train", "TRAIN phase"}, {"test", "TEST phase"}})
          .withAction([](Options &o, Text v) {
            o.import.phase = v == "train" ? caffe::TRAIN : caffe::TEST;
          }),
      row("precision", Kind::Choice, "Precision of arithmetic")
          .withValueName("type")
          .withDefault("f32")
          .withChoices({{"f32", "32 bits"},
                        {"f64", "64 bits, generated code only"},
                        {"tf32", "GPU tensor cores"},
                        {"bf16", "activations and products in bfloat16"},
                        {"f16", "activations and products in IEEE half"}})
          .withAction(applyPrecision),
      row("profile", Kind::Text,
          "Add measured times to the report: a trace that brew-run time "
          "--profile wrote")
          .withValueName("file")
          .withConstraint("name a file", isNotEmpty)
          .withAction([](Options &o, Text v) { o.profile = v; }),
      row("reduce-precision", Kind::Choice, "Type of gradients in all-reduces")
          .withValueName("type")
          .withDefault("f32")
          .withChoices({{"f32", "the gradients' own type (f64 in f64 plans)"},
                        {"bf16", "rounded, half the bytes; added in f32"}})
          .withAction([](Options &o, Text v) {
            o.pipeline.reduceInBf16 = v == "bf16";
          }),
      row("report", Kind::Choice,
          "Print a report of kernels, operations and memory")
          .withValueName("form")
          .withImpliedValue("text")
          .withChoices(
              {{"text", "text"}, {"json", "JSON"}, {"html", "HTML page"}})
          .withAction([](Options &o, Text v) {
            o.report = llvm::StringSwitch<ReportKind>(v)
                           .Case("text", ReportKind::Text)
                           .Case("json", ReportKind::Json)
                           .Case("html", ReportKind::Html);
          }),
      row("output-gradient", Kind::List,
          "Blobs whose gradient the caller writes before the backward pass")
          .withValueName("BLOB,...")
          .withCommaLists()
          .withAction([](Options &o, Text v) {
            if (llvm::is_contained(o.pipeline.outputGradients, v))
              return;
            o.pipeline.outputGradients.push_back(v);
            o.import.outputGradients.push_back(v);
          }),
      row("solver", Kind::Text, "Solver for a net file")
          .withValueName("file")
          .withConstraint("name a file", isNotEmpty)
          .withAction([](Options &o, Text v) { o.import.solverFile = v; }),
      row("solver-only", Kind::Flag, "Check a solver without opening its net")
          .withAction(
              [](Options &o, Text v) { o.import.solverOnly = optionFlag(v); }),
      row("stepwise", Kind::Flag,
          "Compile each layer as a program of its own, on blobs that the "
          "caller owns")
          .withAction(
              [](Options &o, Text v) { o.pipeline.stepwise = optionFlag(v); }),
      row("stage", Kind::List, "NetState stages")
          .withValueName("NAME,...")
          .withCommaLists()
          .withAction([](Options &o, Text v) { o.import.stages.push_back(v); }),
      row("sync-batchnorm", Kind::Flag,
          "Compute BatchNorm statistics over the batches of all ranks")
          .withAction([](Options &o, Text v) {
            o.pipeline.syncBatchNorm = optionFlag(v);
          }),
      row("target", Kind::Choice, "Device that runs the plan")
          .withValueName("target")
          .withDefault("cpu")
          .withChoices({{"cpu", "CPU"}, {"cuda", "NVIDIA GPU"}})
          .withAction([](Options &o, Text v) {
            o.target = v == "cuda" ? TargetKind::Cuda : TargetKind::Cpu;
            o.pipeline.cuda = o.target == TargetKind::Cuda;
          }),
      row("weights", Kind::Text,
          "Weights to embed; for a training plan, its initial weights")
          .withValueName("file")
          .withConstraint("name a file", isNotEmpty)
          .withAction([](Options &o, Text v) { o.weights = v; }),
      row("without", Kind::List,
          "Disable optimisations, to measure their effect")
          .withValueName("PASS,...")
          .withChoices(
              {{"elide-roundings",
                "round bf16 values that are not stored, too"},
               {"fold-coefficients",
                "on GPUs, compute with a channel's numbers for every element"},
               {"fold-input-conversions",
                "on GPUs, images in f32, rounded by another kernel"},
               {"fold-normalization",
                "keep BatchNorm, Scale and Bias of nets for inference"},
               {"fuse-depthwise",
                "store the bottoms of depthwise convolutions"},
               {"fuse-epilogue", "keep ReLUs out of library calls"},
               {"fuse-final-reduction",
                "on GPUs, a separate launch for the final reduction"},
               {"fuse-launches", "on GPUs, a launch for each kernel"},
               {"fuse-pooling-backward",
                "on GPUs, store gradients of poolings that reductions read"},
               {"fuse-reductions",
                "on GPUs, read stored values again to sum them"},
               {"fuse-sibling-convolutions",
                "a call for each convolution of a blob"},
               {"fuse-sibling-reductions",
                "a kernel for each reduction over the same elements"},
               {"fuse-weight-gradients",
                "a product for each reader of shared weights"},
               {"generate-alternatives",
                "no generated alternatives to library calls"},
               {"order-steps", "steps in the order of the prototxt"},
               {"order-weights",
                "weights of inner products in the order of the files"},
               {"pack-convolution-operands",
                "on CPUs, generated convolutions of operands as they are"},
               {"pack-sign-masks", "on GPUs, masks from full values"},
               {"pad-channels",
                "on GPUs, first convolutions of three channels"},
               {"prepare-weights", "at inference, round weights in every run"},
               {"rematerialize",
                "save values that the backward pass could recompute"},
               {"rematerialize-producers", "store cheap values"},
               {"sink-relu-below-max-pool",
                "ReLUs before the max poolings that read them"},
               {"split-reductions", "reductions in one stage"}})
          .withCommaLists()
          .withNoun("pass")
          .withAction(
              [](Options &o, Text v) { o.pipeline.without.push_back(v); }),
  };
  return table;
}

} // namespace brew::compiler
