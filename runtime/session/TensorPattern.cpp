//===- TensorPattern.cpp - Tensors by patterns of names -------------------===//

#include "runtime/session/TensorPattern.h"

#include "caffe/weights/WeightBinding.h"
#include "support/Error.h"
#include "support/Suggest.h"

#include <array>
#include <set>

namespace brew::runtime {
namespace {

constexpr const char *kGradientSuffix = ".gradient";

std::string suffixOf(const std::string &layerType, std::size_t index) {
  constexpr std::array kStatistics = {"mean", "variance", "correction"};
  constexpr std::array kLearned = {"weights", "bias"};
  if (layerType == "BatchNorm" && index < kStatistics.size())
    return kStatistics[index];
  if (layerType != "BatchNorm" && index < kLearned.size())
    return kLearned[index];
  return std::to_string(index);
}

struct NamedParameter {
  std::string identifier, byNumber;
  TensorName tensor;
  const plan::Parameter *parameter;
};

std::vector<NamedParameter> namedParameters(const plan::Manifest &manifest) {
  std::vector<NamedParameter> result;
  for (const caffe::LayerBlobs &layer : caffe::layersWithParameters(manifest))
    for (std::size_t i = 0; i < layer.blobs.size(); ++i)
      if (const plan::Parameter *parameter = layer.blobs[i].parameter)
        result.push_back(
            {layer.name + "." + suffixOf(layer.type, i),
             layer.name + "." + std::to_string(i),
             {TensorKind::Parameter, layer.name, 0, static_cast<int>(i), 0},
             parameter});
  return result;
}

[[noreturn]] void throwNoMatch(const std::string &what,
                               const std::string &pattern,
                               const std::vector<std::string> &known) {
  throw usageError("there is no " + what + " '" + pattern + "'" +
                   didYouMean(pattern, known) +
                   (known.empty() ? "" : "; the first is '" + known[0] + "'"));
}

/// Returns the parameters of `all` that match, or their gradients.
std::vector<TensorName> select(const std::vector<NamedParameter> &all,
                               const std::string &pattern, TensorKind kind,
                               bool trainedOnly) {
  const std::string suffix =
      kind == TensorKind::ParameterGradient ? kGradientSuffix : "";
  std::vector<TensorName> result;
  std::set<std::uint32_t> buffers;
  for (const NamedParameter &candidate : all) {
    if (trainedOnly && !candidate.parameter->has_gradient_buffer_index())
      continue;
    if (!matchesPattern(pattern, candidate.identifier + suffix) &&
        !matchesPattern(pattern, candidate.byNumber + suffix))
      continue;
    if (!buffers.insert(candidate.parameter->buffer_index()).second)
      continue;
    result.push_back(candidate.tensor);
    result.back().kind = kind;
  }
  return result;
}

} // namespace

bool matchesPattern(std::string_view pattern, std::string_view text) {
  // Goes back to the last '*', which then matches one more character.
  std::size_t p = 0, t = 0, star = pattern.npos, starText = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      starText = t;
    } else if (p < pattern.size() &&
               (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++starText;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

std::string identifierOf(const plan::Manifest &manifest,
                         const TensorName &tensor) {
  if (tensor.kind != TensorKind::Parameter &&
      tensor.kind != TensorKind::ParameterGradient)
    return tensor.name;
  for (const NamedParameter &candidate : namedParameters(manifest))
    if (candidate.tensor.name == tensor.name &&
        candidate.tensor.index == tensor.index)
      return candidate.identifier +
             (tensor.kind == TensorKind::ParameterGradient ? kGradientSuffix
                                                           : "");
  return tensor.name + "." + std::to_string(tensor.index);
}

const plan::Parameter &parameterOf(const plan::Manifest &manifest,
                                   const TensorName &tensor) {
  for (const NamedParameter &candidate : namedParameters(manifest))
    if (candidate.tensor.name == tensor.name &&
        candidate.tensor.index == tensor.index)
      return *candidate.parameter;
  throw Error(ExitStatus::Bug, "there is no parameter of layer '" +
                                   tensor.name + "' in the plan");
}

std::vector<TensorName> parametersMatching(const plan::Manifest &manifest,
                                           const std::string &pattern,
                                           bool trainedOnly) {
  const std::vector<NamedParameter> all = namedParameters(manifest);
  std::vector<TensorName> result =
      select(all, pattern, TensorKind::Parameter, trainedOnly);
  if (!result.empty())
    return result;
  std::vector<std::string> known;
  for (const NamedParameter &candidate : all)
    if (!trainedOnly || candidate.parameter->has_gradient_buffer_index())
      known.push_back(candidate.identifier);
  throwNoMatch(trainedOnly ? "trained parameter" : "parameter", pattern, known);
}

std::vector<TensorName> tensorsMatching(const plan::Manifest &manifest,
                                        const std::string &pattern,
                                        int program) {
  const std::vector<NamedParameter> all = namedParameters(manifest);
  std::vector<TensorName> result =
      select(all, pattern, TensorKind::Parameter, /*trainedOnly=*/false);
  if (result.empty())
    result = select(all, pattern, TensorKind::ParameterGradient,
                    /*trainedOnly=*/true);
  if (!result.empty())
    return result;
  std::vector<std::string> known;
  for (const NamedParameter &candidate : all)
    known.push_back(candidate.identifier);
  if (program >= 0)
    for (const plan::NamedBuffer &blob : manifest.programs(program).blobs()) {
      if (matchesPattern(pattern, blob.name()))
        result.push_back({TensorKind::Blob, blob.name(), program, 0, 0});
      known.push_back(blob.name());
    }
  if (result.empty())
    throwNoMatch("parameter, gradient or readable blob", pattern, known);
  return result;
}

} // namespace brew::runtime
