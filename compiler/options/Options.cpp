//===- Options.cpp - Checks of option values ------------------------------===//
#include "compiler/options/Options.h"

#include "frontends/prototxt/check/LayerKinds.h"
#include "support/Suggest.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

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

/// Throws Error (Usage) unless `value` is valid for this row.
void checkValue(const OptionRow &row, const std::string &value) {
  const std::string prefix = "for the --" + std::string(row.name) + " option: ";
  auto invalid = [&](const char *kind) {
    throwUsage(prefix + "'" + value + "' value invalid for " + kind +
               " argument!");
  };
  std::int64_t integer;
  double real;
  switch (row.kind) {
  case OptionKind::Flag:
    if (value != "true" && value != "false" && value != "1" && value != "0")
      throwUsage(prefix + "'" + value +
                 "' is invalid value for boolean argument! Try 0 or 1");
    break;
  case OptionKind::Integer:
    if (llvm::StringRef(value).getAsInteger(0, integer))
      invalid("integer");
    break;
  case OptionKind::Real:
    if (llvm::StringRef(value).getAsDouble(real))
      invalid("floating point");
    break;
  case OptionKind::Text:
  case OptionKind::Choice:
  case OptionKind::List:
    break;
  }
  if (row.constraint && !row.meetsConstraint(value))
    throwUsage("--" + std::string(row.name) + " must " + row.constraint);
  if (row.values.empty())
    return;
  std::string allowedNames;
  for (const OptionValue &allowed : row.values) {
    if (value == allowed.name)
      return;
    allowedNames +=
        (allowedNames.empty() ? "" : ", ") + std::string(allowed.name);
  }
  if (row.noun)
    throwUsage("--" + std::string(row.name) + ": unknown " + row.noun + " '" +
               value + "' (" + allowedNames + ")");
  throwUsage(prefix + "Cannot find option named '" + value + "'! (" +
             allowedNames + ")");
}

} // namespace

void OptionSet::set(const std::string &name, const char *value) {
  const OptionRow &row = findRow(name);
  if (!value && !row.impliedText)
    throwUsage("for the --" + name + " option: requires a value!");
  std::vector<std::string> values;
  if (row.isCommaSeparated && value) {
    for (llvm::StringRef item : llvm::split(value, ','))
      values.push_back(item.str());
  } else {
    values.push_back(value ? value : "");
  }
  for (std::string &text : values) {
    if (text.empty() && row.impliedText)
      text = row.impliedText;
    checkValue(row, text);
  }
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
  if (!options.dumpDir.empty() && options.emit == Emit::None)
    throwUsage("--dump-dir is for --emit");
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
