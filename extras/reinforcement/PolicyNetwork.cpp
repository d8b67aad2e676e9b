//===- PolicyNetwork.cpp - Policy nets ------------------------------------===//

#include "extras/reinforcement/PolicyNetwork.h"

#include "plan/Contract.h"
#include "support/Error.h"

#include <algorithm>
#include <cmath>

namespace brew::reinforcement {
namespace {

std::int64_t countOf(const plan::Buffer &buffer) {
  std::int64_t count = 1;
  for (std::int64_t dim : buffer.dims())
    count *= dim;
  return count;
}

std::int64_t rowsOf(const plan::Buffer &buffer) {
  return buffer.dims_size() ? buffer.dims(0) : 1;
}

runtime::TensorName makeTensorName(runtime::TensorKind kind, int program,
                                   const std::string &blob) {
  runtime::TensorName name;
  name.kind = kind;
  name.program = program;
  name.name = blob;
  return name;
}

std::int64_t rowLength(const runtime::Tensor &tensor) {
  std::int64_t count = 1;
  for (std::size_t i = 1; i < tensor.shape.size(); ++i)
    count *= tensor.shape[i];
  return count;
}

/// Returns the blob whose gradient the caller provides.
std::string outputGradientBlob(const runtime::Session &session, int program) {
  const auto &outputGradients =
      session.manifest().programs(program).output_gradients();
  if (outputGradients.size() != 1)
    throw badInput("the training net of a policy needs exactly one output "
                   "gradient, of the bottom of its MemoryLoss; the plan has " +
                   std::to_string(outputGradients.size()));
  return outputGradients.Get(0).name();
}

} // namespace

Distribution distributionOf(const float *logits, std::int64_t count) {
  if (count == 1) {
    const double probability = 1 / (1 + std::exp(-double(logits[0])));
    return {probability, 1 - probability};
  }
  const float maxLogit = *std::max_element(logits, logits + count);
  Distribution probabilities;
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    probabilities.push_back(std::exp(double(logits[i]) - double(maxLogit)));
    sum += probabilities.back();
  }
  for (double &probability : probabilities)
    probability /= sum;
  return probabilities;
}

int sample(const Distribution &probabilities, double draw) {
  double sum = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    sum += probabilities[i];
    if (draw < sum)
      return static_cast<int>(i);
  }
  return static_cast<int>(probabilities.size()) - 1;
}

double entropyOf(const Distribution &probabilities) {
  double entropy = 0;
  for (double probability : probabilities)
    if (probability > 0)
      entropy -= probability * std::log(probability);
  return entropy;
}

void policyGradient(const Distribution &probabilities, int action,
                    double advantage, float *gradient, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    gradient[i] = static_cast<float>(
        (probabilities[static_cast<std::size_t>(i)] - (i == action)) *
        advantage);
}

std::string observationInput(runtime::Session &session, int program,
                             std::int64_t observationCount) {
  runtime::DataPipeline &pipeline = session.dataPipeline(program);
  std::string others;
  for (const std::string &top : pipeline.tops()) {
    const plan::Buffer *buffer = pipeline.find(top);
    if (buffer->dims_size() > 1 &&
        countOf(*buffer) == rowsOf(*buffer) * observationCount)
      return top;
    others += (others.empty() ? "; it has: " : ", ") + top;
  }
  throw badInput("program '" + session.manifest().programs(program).name() +
                 "' has no input of rows of " +
                 std::to_string(observationCount) +
                 " numbers for the environment's observations" + others);
}

//===----------------------------------------------------------------------===//
// Acting
//===----------------------------------------------------------------------===//

InferenceProgram::InferenceProgram(runtime::Session &planSession,
                                   std::int64_t observationCount)
    : session(planSession), index(session.executor().findProgram(
                                plan::programs::testName(0).c_str())),
      usesTestNet(index >= 0) {
  if (!usesTestNet)
    index = session.program(plan::programs::kForwardBackward);
  inputName = observationInput(session, index, observationCount);
  rowCount = rowsOf(*session.dataPipeline(index).find(inputName));
}

void InferenceProgram::run(const std::vector<float> &observations) {
  runtime::DataPipeline &pipeline = session.dataPipeline(index);
  pipeline.set(inputName, observations.data(),
               static_cast<std::int64_t>(observations.size()));
  session.inputs(index).feed();
  session.run(index, runtime::Pass::Forward);
}

std::vector<float> InferenceProgram::read(const std::string &blob) const {
  const runtime::TensorName name =
      makeTensorName(runtime::TensorKind::Blob, index, blob);
  const runtime::Tensor tensor = session.find(name);
  std::vector<float> values(static_cast<std::size_t>(
      rowLength(tensor) * (tensor.shape.empty() ? 1 : tensor.shape[0])));
  session.read(name, values.data(), static_cast<std::int64_t>(values.size()));
  return values;
}

Policy::Policy(runtime::Session &session, std::int64_t observationCount,
               int actions)
    : inference(session, observationCount) {
  const int trainProgram = session.program(plan::programs::kForwardBackward);
  const std::string logits = outputGradientBlob(session, trainProgram);
  logitsPerState = rowLength(session.find(
      makeTensorName(runtime::TensorKind::Blob, trainProgram, logits)));
  if (logitsPerState != actions && !(logitsPerState == 1 && actions == 2))
    throw badInput("'" + logits + "' has " + std::to_string(logitsPerState) +
                   " logits for each state, but the environment has " +
                   std::to_string(actions) + " actions");
  // Prefer the logits; if they cannot be read, use the net's probabilities.
  const auto &outputs =
      session.manifest().programs(inference.program()).outputs();
  for (const runtime::TensorName &name :
       session.names(runtime::TensorKind::Blob, inference.program()))
    if (name.name == logits)
      blob = logits;
  isLogits = !blob.empty();
  for (const auto &output : outputs) {
    if (!blob.empty())
      break;
    const runtime::Tensor tensor = session.find(makeTensorName(
        runtime::TensorKind::Blob, inference.program(), output.blob()));
    if (output.loss_weight() == 0 && rowLength(tensor) == logitsPerState)
      blob = output.blob();
  }
  if (blob.empty())
    throw badInput(
        "the test net has no output of " + std::to_string(logitsPerState) +
        " probabilities or logits ('" + logits + "') for each state");
  rows.resize(static_cast<std::size_t>(inference.rows() * observationCount));
}

Distribution Policy::probabilities(const std::vector<float> &observation) {
  std::copy(observation.begin(), observation.end(), rows.begin());
  inference.run(rows);
  const std::vector<float> values = inference.read(blob);
  for (std::int64_t i = 0; i < logitsPerState; ++i)
    if (!std::isfinite(values[static_cast<std::size_t>(i)]))
      throw badInput("the policy has diverged: '" + blob +
                     "' is not finite; a smaller base_lr may help");
  if (isLogits)
    return distributionOf(values.data(), logitsPerState);
  if (logitsPerState == 1)
    return {values[0], 1 - double(values[0])};
  return Distribution(values.begin(), values.begin() + logitsPerState);
}

//===----------------------------------------------------------------------===//
// Learning
//===----------------------------------------------------------------------===//

GradientAccumulator::GradientAccumulator(runtime::Session &planSession,
                                         std::int64_t observations,
                                         Runner passes)
    : session(planSession),
      program(session.program(plan::programs::kForwardBackward)),
      input(observationInput(session, program, observations)),
      logits(outputGradientBlob(session, program)),
      observationCount(observations), runner(std::move(passes)) {
  runtime::DataPipeline &pipeline = session.dataPipeline(program);
  rows = rowsOf(*pipeline.find(input));
  const runtime::Tensor tensor =
      session.find(makeTensorName(runtime::TensorKind::Blob, program, logits));
  logitsPerState = rowLength(tensor);
  if (tensor.shape.empty() || tensor.shape[0] != rows)
    throw badInput("'" + logits + "' does not have one row for each of the " +
                   std::to_string(rows) + " states of '" + input + "'");
  for (const auto &output : session.manifest().programs(program).outputs())
    for (const std::string &top : pipeline.tops())
      if (output.blob() == top)
        lossInput = top;
  if (lossInput.empty())
    throw badInput(
        "the training net has no MemoryLoss whose loss is an output");
  states.resize(static_cast<std::size_t>(rows * observationCount));
  outputGradients.resize(static_cast<std::size_t>(rows * logitsPerState));
  // Feed a loss of 1, so that the output is 1 / the layer's normalizer.
  const double one = 1;
  pipeline.set(lossInput, &one, 1);
  pipeline.set(input, states.data(), static_cast<std::int64_t>(states.size()));
  session.inputs(program).feed();
  session.run(program, runtime::Pass::Forward);
  double scaled = 0;
  session.read(makeTensorName(runtime::TensorKind::Blob, program, lossInput),
               &scaled, 1);
  normalizer = 1 / scaled;
}

void GradientAccumulator::add(const Step &step) {
  pending.push_back(step);
  if (static_cast<std::int64_t>(pending.size()) == rows)
    flush();
}

void GradientAccumulator::flush() {
  if (pending.empty())
    return;
  std::fill(states.begin(), states.end(), 0.0f);
  std::fill(outputGradients.begin(), outputGradients.end(), 0.0f);
  for (std::size_t row = 0; row < pending.size(); ++row)
    std::copy(pending[row].observation.begin(), pending[row].observation.end(),
              states.begin() +
                  static_cast<std::ptrdiff_t>(row) * observationCount);
  runtime::DataPipeline &pipeline = session.dataPipeline(program);
  pipeline.set(input, states.data(), static_cast<std::int64_t>(states.size()));
  double loss = 0;
  for (const Step &step : pending) {
    const double probability =
        step.probabilities[static_cast<std::size_t>(step.action)];
    loss += logitsPerState == 1 ? (1 - probability) * (1 - probability)
                                : -std::log(std::max(probability, 1e-300));
  }
  lossSum += loss;
  lossCount += static_cast<std::int64_t>(pending.size());
  const double mean = normalizer * loss / static_cast<double>(pending.size());
  pipeline.set(lossInput, &mean, 1);
  runner.forward();
  std::vector<float> currentLogits(outputGradients.size());
  session.read(makeTensorName(runtime::TensorKind::Blob, program, logits),
               currentLogits.data(),
               static_cast<std::int64_t>(currentLogits.size()));
  for (std::size_t row = 0; row < pending.size(); ++row) {
    const Step &step = pending[row];
    const auto offset = static_cast<std::ptrdiff_t>(row) * logitsPerState;
    const Distribution probabilities =
        logitsPerState == 1
            ? step.probabilities
            : distributionOf(currentLogits.data() + offset, logitsPerState);
    // Divide by the steps of the episode, if the layer divides by the batch
    // size.
    const double scale = normalizer == 1 ? 1 : normalizer * step.weight;
    policyGradient(probabilities, step.action, step.advantage * scale,
                   outputGradients.data() + offset, logitsPerState);
  }
  session.write(
      makeTensorName(runtime::TensorKind::OutputGradient, program, logits),
      outputGradients.data(),
      static_cast<std::int64_t>(outputGradients.size()));
  runner.backward();
  pending.clear();
}

void GradientAccumulator::discard() {
  pending.clear();
  takeLoss();
}

double GradientAccumulator::takeLoss() {
  const double loss = lossCount ? lossSum / static_cast<double>(lossCount) : 0;
  lossSum = 0;
  lossCount = 0;
  return loss;
}

} // namespace brew::reinforcement
