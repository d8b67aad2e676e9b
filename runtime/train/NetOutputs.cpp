//===- NetOutputs.cpp - What a program's run reports ----------------------===//

#include "runtime/train/NetOutputs.h"

#include "runtime/log/Log.h"
#include "runtime/weights/Layout.h"

namespace brew::runtime {
namespace {

std::vector<double> values(Executor &executor, const plan::Output &output) {
  const plan::Buffer &buffer =
      executor.manifest().buffers(static_cast<int>(output.buffer_index()));
  std::vector<double> result(
      static_cast<std::size_t>(plan::elementCount(buffer)));
  executor.read(output.buffer_index(), [&](const std::byte *bytes) {
    load(buffer, bytes, result.data());
  });
  return result;
}

double weightedSum(Executor &executor, const plan::Output &output) {
  if (output.loss_weight() == 0)
    return 0;
  double sum = 0;
  for (double value : values(executor, output))
    sum += value;
  return output.loss_weight() * sum;
}

} // namespace

std::vector<OutputValue> readOutputs(Executor &executor, int program) {
  std::vector<OutputValue> result;
  for (const plan::Output &output :
       executor.manifest().programs(program).outputs())
    for (double value : values(executor, output))
      result.push_back({output.blob(), value, output.loss_weight()});
  return result;
}

double totalLoss(Executor &executor, int program) {
  const plan::Program &description = executor.manifest().programs(program);
  double loss = 0;
  for (const plan::Output &output : description.outputs())
    loss += weightedSum(executor, output);
  for (const plan::Output &output : description.inner_losses())
    loss += weightedSum(executor, output);
  return loss;
}

std::string lossSuffix(double lossWeight, double value) {
  if (lossWeight == 0)
    return "";
  return " (* " + log::number(lossWeight) + " = " +
         log::number(lossWeight * value) + " loss)";
}

} // namespace brew::runtime
