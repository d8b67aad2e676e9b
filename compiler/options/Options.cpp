//===- Options.cpp - Checks of option values ------------------------------===//
#include "compiler/options/Options.h"

#include "frontends/prototxt/check/LayerKinds.h"
#include "support/Suggest.h"

namespace brew::compiler {
namespace {

[[noreturn]] void throwUsage(const std::string &text) {
  throw Error(ExitStatus::Usage, text);
}

const OptionRow &findRow(const std::string &name) {
  std::vector<std::string> names;
  for (const OptionRow &row : optionTable()) {
    if (name == row.name)
      return row;
    names.push_back(row.name);
  }
  throwUsage("there is no option '" + name + "'" + didYouMean(name, names));
}

} // namespace

void OptionSet::set(const std::string &name, const char *value) {
  const OptionRow &row = findRow(name);
  const std::vector<std::string> values = row.checkedValues(value);
  std::vector<std::string> &storedValues = explicitValues[name];
  if (row.kind != OptionKind::List)
    storedValues.clear();
  storedValues.insert(storedValues.end(), values.begin(), values.end());
}

void addHostLayer(CompileOptions &options, dialects::HostLayerType type) {
  if (type.name.empty())
    throwUsage("a host layer's type has no name");
  if (prototxt::findLayerKind(type.name))
    throwUsage(
        "'" + type.name +
        (type.name == "Python"
             ? "' layers are identified by MODULE.LAYER of their python_param"
             : "' is a layer type of Brew's own, which the program cannot "
               "compute instead"));
  options.import.hostTypes.insert(type.name);
  for (dialects::HostLayerType &existing : options.hostLayers)
    if (existing.name == type.name) {
      existing = std::move(type);
      return;
    }
  options.hostLayers.push_back(std::move(type));
}

void OptionSet::addHostLayer(dialects::HostLayerType type) {
  CompileOptions checked;
  compiler::addHostLayer(checked, type);
  for (const dialects::HostLayerType &existing : hostLayers)
    if (existing.name == type.name)
      throwUsage("host layer type '" + type.name + "' was given twice");
  hostLayers.push_back(std::move(type));
}

CompileOptions OptionSet::resolve() const {
  CompileOptions options;
  for (const OptionRow &row : optionTable()) {
    auto found = explicitValues.find(row.name);
    if (found != explicitValues.end())
      for (const std::string &value : found->second)
        row.apply(options, value);
    else if (*row.defaultText)
      row.apply(options, row.defaultText);
  }
  // Types with a shape function replace types that have only a name.
  for (const dialects::HostLayerType &type : hostLayers)
    compiler::addHostLayer(options, type);
  options.paramCounts = paramCounts;
  PipelineOptions &pipeline = options.pipeline;
  const bool cuda = pipeline.cuda;
  const bool isHalf = pipeline.precision == dialects::target::Precision::F16;
  if (!cuda && (isSet("gpu-arch") || isSet("no-kernel-cache")))
    throwUsage("--gpu-arch and --no-kernel-cache are for --target cuda");
  if (cuda && isSet("cpu"))
    throwUsage("--cpu is for --target cpu");
  if (!cuda && pipeline.precision == dialects::target::Precision::TF32)
    throwUsage("--precision=tf32 is for --target cuda");
  if (!isHalf && (isSet("loss-scale") || isSet("loss-scale-window")))
    throwUsage("--loss-scale and --loss-scale-window are for --precision=f16");
  if (isSet("allow-missing-weights") && options.weights.empty())
    throwUsage("--allow-missing-weights is for --weights");
  if (isSet("bucket-mb") && !pipeline.distributed)
    throwUsage("--bucket-mb is for --distributed");
  if (isSet("reduce-precision") && !pipeline.distributed)
    throwUsage("--reduce-precision is for --distributed");
  if (pipeline.syncBatchNorm && !pipeline.distributed)
    throwUsage("--sync-batchnorm is for --distributed");
  if (pipeline.reduceInBf16 && options.import.f64)
    throwUsage("--reduce-precision=bf16 is not for --precision=f64");
  if (pipeline.reduceInBf16 && cuda)
    throwUsage("--reduce-precision=bf16 is for --target cpu: GPUs exchange "
               "gradients in their own precision");
  if (pipeline.distributed && !pipeline.outputGradients.empty())
    throwUsage("--distributed is for plans that train on their own; "
               "--output-gradient is for plans whose caller writes gradients");
  if (options.import.imageSizes == prototxt::ImageSizes::Any &&
      !pipeline.stepwise)
    throwUsage("--image-sizes=any is for --stepwise: the programs of other "
               "layers have one size");
  if (pipeline.stepwise) {
    if (!options.import.phase)
      throwUsage("--stepwise is for --phase");
    if (!pipeline.outputGradients.empty())
      throwUsage("--stepwise has output gradients for all blobs: "
                 "--output-gradient has no use there");
    if (isSet("keep"))
      throwUsage("--stepwise keeps all blobs: --keep has no use there");
    if (isSet("layout") &&
        pipeline.layout != dialects::target::BlobLayout::NCHW)
      throwUsage("--stepwise is for --layout=nchw, the layout of its caller");
    if (pipeline.precision != dialects::target::Precision::F32)
      throwUsage("--stepwise is for --precision=f32 or f64");
    if (options.memoryLimit)
      throwUsage(
          "--stepwise keeps all values: --memory-limit has no use there");
    pipeline.pin = {"all"};
    pipeline.layout = dialects::target::BlobLayout::NCHW;
  }
  if (!options.dumpDir.empty() && options.emit == Emit::None)
    throwUsage("--dump-dir is for --emit");
  if (!options.profile.empty() && options.report == ReportKind::None)
    throwUsage("--profile is for --report");
  if (options.emit == Emit::Prototxt && !options.import.deploy)
    throwUsage("--emit=prototxt prints the net that --deploy makes; brewc "
               "--upgrade prints a net in today's syntax");
  // --emit=import is allowed, though there is no module to print.
  if (options.import.solverOnly &&
      ((options.emit != Emit::None && options.emit != Emit::Import) ||
       options.report != ReportKind::None))
    throwUsage("--solver-only goes no further than --emit=import, and makes no "
               "--report");
  if (!isHalf) {
    pipeline.lossScale = 0;
    pipeline.lossScaleWindow = 0;
  }
  return options;
}

} // namespace brew::compiler
