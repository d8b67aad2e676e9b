//===- NetOutputs.cpp - Outputs and losses of a program -------------------===//

#include "runtime/session/NetOutputs.h"

#include "caffe/weights/BufferLayout.h"
#include "runtime/executor/ItemCounts.h"
#include "runtime/log/Log.h"

#include <algorithm>

namespace brew::runtime {
namespace {

/// Returns the values of all valid items of an output. `source` is an Executor
/// or RunResults.
template <typename Source>
std::vector<double> readValues(const plan::Manifest &manifest, int program,
                               const Source &source,
                               const plan::Output &output) {
  const plan::Buffer &buffer =
      manifest.buffers(static_cast<int>(output.buffer_index()));
  std::vector<double> result(
      static_cast<std::size_t>(plan::elementCount(buffer)));
  source.read(output.buffer_index(), [&](const std::byte *bytes) {
    caffe::load(buffer, bytes, result.data());
  });
  result.resize(static_cast<std::size_t>(
      caffe::product(dimsAfterRun(manifest, manifest.programs(program), source,
                                  output.blob(), output.buffer_index()))));
  return result;
}

template <typename Source>
std::vector<OutputValue> outputsOf(const plan::Manifest &manifest, int program,
                                   const Source &source) {
  std::vector<OutputValue> result;
  for (const plan::Output &output : manifest.programs(program).outputs())
    for (double value : readValues(manifest, program, source, output))
      result.push_back({output.blob(), value, output.loss_weight()});
  return result;
}

template <typename Source>
double lossOf(const plan::Manifest &manifest, int program,
              const Source &source) {
  auto weightedSum = [&](const plan::Output &output) {
    double sum = 0;
    if (output.loss_weight() != 0)
      for (double value : readValues(manifest, program, source, output))
        sum += value;
    return output.loss_weight() * sum;
  };
  const plan::Program &description = manifest.programs(program);
  double loss = 0;
  for (const plan::Output &output : description.outputs())
    loss += weightedSum(output);
  for (const plan::Output &output : description.unreported_losses())
    loss += weightedSum(output);
  return loss;
}

} // namespace

std::vector<OutputValue> readOutputs(const Executor &executor, int program) {
  return outputsOf(executor.manifest(), program, executor);
}
std::vector<OutputValue> readOutputs(const Executor &executor, int program,
                                     const RunResults &results) {
  return outputsOf(executor.manifest(), program, results);
}

double totalLoss(const Executor &executor, int program) {
  return lossOf(executor.manifest(), program, executor);
}
double totalLoss(const Executor &executor, int program,
                 const RunResults &results) {
  return lossOf(executor.manifest(), program, results);
}

void OutputMeans::add(const std::vector<OutputValue> &outputs) {
  std::size_t element = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i, ++element) {
    const OutputValue &output = outputs[i];
    if (i == 0 || outputs[i - 1].blob != output.blob)
      element = 0;
    auto sums =
        std::find_if(blobs.begin(), blobs.end(), [&](const Sums &known) {
          return known.blob == output.blob;
        });
    if (sums == blobs.end())
      sums =
          blobs.insert(blobs.end(), {output.blob, output.lossWeight, {}, {}});
    if (element == sums->totals.size()) {
      sums->totals.push_back(0);
      sums->batches.push_back(0);
    }
    sums->totals[element] += output.value;
    ++sums->batches[element];
  }
}

std::vector<OutputValue> OutputMeans::means() const {
  std::vector<OutputValue> result;
  for (const Sums &sums : blobs)
    for (std::size_t i = 0; i < sums.totals.size(); ++i)
      result.push_back(
          {sums.blob, sums.totals[i] / sums.batches[i], sums.lossWeight});
  return result;
}

std::string lossSuffix(double lossWeight, double value) {
  if (lossWeight == 0)
    return "";
  return " (* " + log::number(lossWeight) + " = " +
         log::number(lossWeight * value) + " loss)";
}

} // namespace brew::runtime
