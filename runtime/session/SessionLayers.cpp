//===- SessionLayers.cpp - Runs of a range of a program's layers ----------===//

#include "runtime/session/Session.h"

#include "support/Error.h"
#include "support/Suggest.h"

#include <algorithm>
#include <map>

namespace brew::runtime {
namespace {

/// Returns the layers that a step computes. A step of fused layers may list
/// several of them in one entry, as "conv1+relu1".
std::vector<std::string>
layersOf(const plan::Step &step,
         const std::map<std::string, std::size_t> &positions) {
  std::vector<std::string> result;
  for (const std::string &entry : step.layers()) {
    if (positions.count(entry)) { // a layer's own name may have a plus
      result.push_back(entry);
      continue;
    }
    for (std::size_t begin = 0; begin <= entry.size();) {
      const std::size_t end = std::min(entry.find('+', begin), entry.size());
      result.push_back(entry.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return result;
}

} // namespace

std::vector<std::string> Session::layers(int program) const {
  const plan::Program &description = requireProgram(program);
  std::vector<std::string> names;
  auto add = [&](const std::string &name) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  };
  for (const plan::Layer &layer : description.layers())
    add(layer.name());
  // Without this metadata use the layers that the steps name.
  if (names.empty())
    for (const plan::Step &step : description.steps())
      for (const std::string &layer : layersOf(step, {}))
        if (!layer.empty())
          add(layer);
  return names;
}

void Session::runLayers(int program, const std::string &first,
                        const std::string &last, Pass pass) {
  const plan::Program &description = requireProgram(program);
  const std::vector<std::string> names = layers(program);
  std::map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < names.size(); ++i)
    positions.emplace(names[i], i);
  auto positionOf = [&](const std::string &name, std::size_t defaultPosition) {
    if (name.empty())
      return defaultPosition;
    const auto found = positions.find(name);
    if (found == positions.end())
      throw usageError("the program '" + description.name() +
                       "' has no layer '" + name + "'" +
                       didYouMean(name, names));
    return found->second;
  };
  const std::size_t begin = positionOf(first, 0);
  const std::size_t end =
      positionOf(last, names.empty() ? 0 : names.size() - 1) + 1;
  if (begin >= end)
    throw usageError("layer '" + first + "' comes after layer '" + last +
                     "' in the program '" + description.name() + "'");

  const int firstBackwardStep =
      std::min<int>(static_cast<int>(description.first_backward_step()),
                    description.steps_size());
  const int from = pass == Pass::Backward ? firstBackwardStep : 0;
  const int to =
      pass == Pass::Forward ? firstBackwardStep : description.steps_size();
  // A step without a layer prepares the next step of a layer, so it belongs to
  // the same range.
  std::vector<std::pair<int, int>> stepRanges;
  int pendingBegin = -1;
  for (int i = from; i < to; ++i) {
    const std::vector<std::string> stepLayers =
        layersOf(description.steps(i), positions);
    if (pendingBegin < 0)
      pendingBegin = i;
    std::size_t layersInRange = 0, knownLayers = 0;
    std::string text;
    for (const std::string &layer : stepLayers) {
      const auto found = positions.find(layer);
      if (found == positions.end())
        continue;
      ++knownLayers;
      layersInRange += found->second >= begin && found->second < end;
      text += (text.empty() ? "'" : ", '") + layer + "'";
    }
    if (knownLayers == 0) {
      if (i + 1 < to || end < names.size())
        continue;
      layersInRange = 1; // trailing steps belong to the last layer
    } else if (layersInRange && layersInRange < knownLayers) {
      throw usageError("layers " + text + " of the program '" +
                       description.name() +
                       "' are fused into one step: a range must contain all of "
                       "them or none");
    }
    if (layersInRange) {
      if (!stepRanges.empty() && stepRanges.back().second == pendingBegin)
        stepRanges.back().second = i + 1;
      else
        stepRanges.emplace_back(pendingBegin, i + 1);
    }
    pendingBegin = -1;
  }
  for (const auto &[rangeBegin, rangeEnd] : stepRanges)
    exec.run(program, static_cast<std::size_t>(rangeBegin),
             static_cast<std::size_t>(rangeEnd));
}

} // namespace brew::runtime
