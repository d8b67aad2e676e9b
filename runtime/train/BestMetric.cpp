//===- BestMetric.cpp - The test result that the best weights have --------===//

#include "runtime/train/BestMetric.h"

#include "formats/Error.h"
#include "formats/SolverStateFile.h"
#include "formats/Suggest.h"
#include "runtime/plan/Contract.h"
#include "runtime/weights/Layout.h"

#include <algorithm>
#include <cmath>

namespace brew::runtime {
namespace {

bool takeSuffix(std::string &text, const std::string &suffix) {
  if (text.size() <= suffix.size() ||
      text.compare(text.size() - suffix.size(), suffix.size(), suffix) != 0)
    return false;
  text.resize(text.size() - suffix.size());
  return true;
}

Error wrongMetric(const std::string &metric, const std::string &why) {
  return usageError("--snapshot-best " + metric + ": " + why);
}

/// Type of the layer that writes `blob` last.
std::string typeOfBlob(const plan::Program &program, const std::string &blob) {
  std::string type;
  for (const plan::Layer &layer : program.layers())
    for (const std::string &top : layer.tops())
      if (top == blob)
        type = layer.type();
  return type;
}

} // namespace

BestMetric::BestMetric(const std::string &text, const plan::Manifest &manifest,
                       int nets)
    : metric(text) {
  const bool lower = takeSuffix(metric, ":min");
  const bool higher = !lower && takeSuffix(metric, ":max");
  const std::size_t dot = metric.find('.');
  const std::string where = metric.substr(0, dot);
  const std::string digits =
      where.compare(0, 4, "test") == 0 ? where.substr(4) : "?";
  const bool isNumber = digits.size() < 6 &&
                        std::all_of(digits.begin(), digits.end(), [](char c) {
                          return c >= '0' && c <= '9';
                        });
  if (dot == metric.npos || !isNumber)
    throw wrongMetric(metric, "is not of the form test.BLOB or testN.BLOB");
  net = digits.empty() ? 0 : std::stoi(digits);
  blob = metric.substr(dot + 1);
  if (net >= nets)
    throw wrongMetric(metric,
                      "the solver has " + std::to_string(nets) + " test nets");

  const std::string wanted = plan::programs::test(net);
  const plan::Program *program = nullptr;
  for (const plan::Program &candidate : manifest.programs())
    if (candidate.name() == wanted)
      program = &candidate;
  if (!program)
    throw wrongMetric(metric, "the plan has no program '" + wanted + "'");
  const plan::Output *output = nullptr;
  std::vector<std::string> names;
  for (const plan::Output &candidate : program->outputs()) {
    names.push_back(candidate.blob());
    if (candidate.blob() == blob)
      output = &candidate;
  }
  if (!output) {
    std::string list;
    for (const std::string &name : names)
      list += (list.empty() ? "" : ", ") + name;
    throw wrongMetric(metric, "the test net has no output '" + blob +
                                  "', it has " + list +
                                  didYouMean(blob, names));
  }
  const std::int64_t count = plan::elementCount(
      manifest.buffers(static_cast<int>(output->buffer_index())));
  if (count != 1)
    throw wrongMetric(metric, "the output has " + std::to_string(count) +
                                  " values, and the best is sought of one");

  std::string type = typeOfBlob(*program, blob);
  const bool isAccuracy = type == "Accuracy";
  const bool isLoss = output->loss_weight() != 0 || takeSuffix(type, "Loss");
  if (!lower && !higher && !isAccuracy && !isLoss)
    throw wrongMetric(metric, "the output is neither a loss nor of an Accuracy "
                              "layer: say which values are better with " +
                                  metric + ":min or " + metric + ":max");
  lowerIsBetter = lower || (!higher && isLoss);
}

std::string BestMetric::fileTag() const {
  std::string tag = "best_" + metric;
  std::replace(tag.begin(), tag.end(), '/', '_');
  return tag;
}

std::string BestMetric::description() const {
  return metric + ", of which " + (lowerIsBetter ? "lower" : "higher") +
         " is better";
}

bool BestMetric::isBetter(double candidate) const {
  if (std::isnan(candidate))
    return false;
  return !value || (lowerIsBetter ? candidate < *value : candidate > *value);
}

bool BestMetric::improves(const event::TestDone &done) {
  if (done.net != net)
    return false;
  for (const OutputValue &output : done.outputs)
    if (output.blob == blob && isBetter(output.value)) {
      value = output.value;
      iteration = done.iteration;
      return true;
    }
  return false;
}

void BestMetric::save(caffe::SolverState &state) const {
  if (value)
    formats::setNamedValues(state, stateName(), {*value, double(iteration)});
}

void BestMetric::restore(const caffe::SolverState &state,
                         const std::string &path) {
  const std::vector<double> saved =
      formats::namedValues(state, stateName(), path);
  if (saved.size() != 2 || !isBetter(saved[0]))
    return;
  value = saved[0];
  iteration = static_cast<int>(saved[1]);
}

} // namespace brew::runtime
