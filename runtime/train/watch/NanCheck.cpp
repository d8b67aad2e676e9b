//===- NanCheck.cpp - Search for the first NaN or Inf ---------------------===//

#include "runtime/train/watch/NanCheck.h"

#include "caffe/weights/BufferLayout.h"
#include "plan/Contract.h"
#include "plan/Operands.h"
#include "runtime/comm/Communicator.h"
#include "runtime/log/Log.h"
#include "runtime/session/NetOutputs.h"

#include <algorithm>
#include <cmath>

namespace brew::runtime {
namespace {

/// Returns whether a parameter is a statistic that forward passes update.
bool isStatistic(const plan::Parameter &parameter) {
  return !parameter.has_gradient_buffer_index() &&
         (parameter.layer_type() == "BatchNorm" ||
          parameter.layer_type() == "BN");
}

std::string withLocation(const std::string &text, const std::string &location) {
  return location.empty() ? text : text + " (" + location + ")";
}

std::string describeValue(const NonFinite &found) {
  // The sign of NaN is meaningless.
  return (std::isnan(found.value) ? "nan" : log::number(found.value)) +
         " at position " + std::to_string(found.position);
}

} // namespace

NanCheck::NanCheck(Session &trainedSession)
    : session(trainedSession), executor(session.executor()),
      manifest(session.manifest()),
      trainProgram(executor.findProgram(plan::programs::kForwardBackward)),
      clipProgram(executor.findProgram(plan::programs::kClip)),
      program(manifest.programs(trainProgram)), threads(executor.threads()) {
  for (const plan::Parameter &parameter : manifest.parameters()) {
    if (parameter.has_gradient_buffer_index())
      gradients.push_back(parameter.gradient_buffer_index());
    if (isStatistic(parameter))
      state.push_back({parameter.buffer_index(), {}});
  }
  for (const plan::NamedBuffer &entry : manifest.persistent()) {
    if (entry.name() == plan::loss_scale::kValue)
      lossScale = entry.buffer_index();
    if (entry.name() == plan::loss_scale::kNonFiniteGradients)
      nonFiniteCount = entry.buffer_index();
    state.push_back({entry.buffer_index(), {}});
  }
}

void NanCheck::begin() {
  cursors = session.inputs(trainProgram).cursors();
  for (auto &[buffer, bytes] : state) {
    const std::size_t size = manifest.buffers(static_cast<int>(buffer)).size();
    bytes.resize(size);
    executor.download(buffer, bytes.data());
  }
}

double NanCheck::readScalar(std::uint32_t buffer) const {
  double value = 0;
  executor.read(buffer, [&](const std::byte *bytes) {
    caffe::load(manifest.buffers(static_cast<int>(buffer)), bytes, &value);
  });
  return value;
}

bool NanCheck::foundNonFinite(double loss) const {
  if (!lossScale || !nonFiniteCount)
    return !std::isfinite(loss) || !areGradientsFinite();
  if (readScalar(*nonFiniteCount) == 0)
    return !std::isfinite(loss);
  // The update skips gradients that are not finite, and halves the scale until
  // it is 1.
  return readScalar(*lossScale) == 1;
}

bool NanCheck::areGradientsFinite() const {
  if (clipProgram >= 0 && session.onGpu()) {
    executor.run(clipProgram);
    double sum = 0;
    for (const OutputValue &output : readOutputs(executor, clipProgram))
      sum += output.value;
    // The sum of squares may overflow: check the gradients themselves.
    if (std::isfinite(sum))
      return true;
  }
  return std::all_of(
      gradients.begin(), gradients.end(), [&](std::uint32_t index) {
        bool finite = true;
        executor.read(index, [&](const std::byte *bytes) {
          finite = allFinite(manifest.buffers(static_cast<int>(index)), bytes,
                             threads);
        });
        return finite;
      });
}

//===----------------------------------------------------------------------===//
// Locating the value
//===----------------------------------------------------------------------===//

void NanCheck::rewind() {
  ProgramInputs &inputs = session.inputs(trainProgram);
  inputs.reset(session.rankSeed());
  inputs.restore(cursors);
  for (const auto &[buffer, bytes] : state)
    executor.upload(buffer, bytes.data());
}

NanCheck::Finding NanCheck::find(int passes) {
  rewind();
  const bool isAlone =
      !session.communicator() || session.communicator()->ranks() == 1;
  std::optional<Finding> finding;
  if (const std::optional<std::string> found = scanParameters())
    finding = {*found, true, 0};
  for (int pass = 0; pass < passes && !(finding && isAlone); ++pass) {
    session.inputs(trainProgram).feed();
    const auto begin =
        1 + static_cast<std::uint64_t>(pass) *
                static_cast<std::uint64_t>(program.steps_size() + 1);
    auto setFinding = [&](const std::string &found, int step) {
      finding = {(passes > 1 ? "batch " + std::to_string(pass + 1) + " of " +
                                   std::to_string(passes) + ": "
                             : "") +
                     found,
                 false, begin + static_cast<std::uint64_t>(step)};
    };
    if (!finding)
      if (const auto found = scanInputs())
        setFinding(*found, 0);
    if (!finding || !isAlone)
      if (const auto found = scanPass(/*needsFinding=*/!finding))
        setFinding(found->first, found->second + 1);
  }
  rewind();
  if (finding)
    return *finding;
  if (passes > 1)
    return {"the gradients that " + std::to_string(passes) +
                " batches (iter_size) sum up to are not finite, though each "
                "batch's are",
            false, kNotReproduced};
  return {"the loss or a gradient was not finite, but is finite when the "
          "iteration is repeated: its inputs came from a callback, or a host "
          "layer returns another result each time",
          false, kNotReproduced};
}

std::optional<std::string> NanCheck::badParameter() const {
  for (const plan::Parameter &parameter : manifest.parameters())
    if (const auto found = scan(parameter.buffer_index()))
      return found;
  return {};
}

std::optional<std::string> NanCheck::scanParameters() const {
  if (const auto found = badParameter())
    return *found + " before the iteration: as it was loaded or filled, or "
                    "as the last update left it";
  for (const plan::NamedBuffer &state : manifest.persistent())
    if (const auto found = scan(state.buffer_index()))
      return *found + " before the iteration";
  return {};
}

std::optional<std::string> NanCheck::scanInputs() const {
  for (const plan::DataInput &input : program.data_inputs()) {
    caffe::LayerParameter layer;
    if (!layer.ParseFromString(input.layer()))
      continue;
    for (int i = 0; i < input.buffer_indices_size(); ++i)
      if (const auto found = scan(input.buffer_indices(i)))
        return withLocation("layer '" + layer.name() + "'",
                            input.source_location()) +
               ", input: " + *found;
  }
  return {};
}

/// Runs the program step by step; returns the finding and its step if
/// `needsFinding`. On a single rank it stops at the first finding.
std::optional<std::pair<std::string, int>>
NanCheck::scanPass(bool needsFinding) {
  const bool isAlone =
      !session.communicator() || session.communicator()->ranks() == 1;
  std::optional<std::pair<std::string, int>> result;
  for (int i = 0; i < program.steps_size() && !(result && isAlone); ++i) {
    const auto step = static_cast<std::size_t>(i);
    executor.run(trainProgram, step, step + 1);
    if (!needsFinding || result)
      continue;
    auto setResult = [&](const std::string &found) {
      result = {
          describeLayers(program.steps(i)) +
              (program.steps(i).backward() ? ", backward: " : ", forward: ") +
              found,
          i};
    };
    if (program.steps(i).has_loop())
      if (const auto found = scanIterations(program.steps(i))) {
        setResult(*found);
        continue;
      }
    std::vector<std::uint32_t> buffers;
    for (const plan::Operand &operand : program.steps(i).operands())
      if (plan::isWritten(operand))
        buffers.push_back(operand.buffer_index());
    // A step of several layers computes parameter gradients from blob
    // gradients: check the latter first.
    std::stable_partition(buffers.begin(), buffers.end(),
                          [&](std::uint32_t index) {
                            return std::find(gradients.begin(), gradients.end(),
                                             index) == gradients.end();
                          });
    for (std::uint32_t buffer : buffers)
      if (const auto found = scan(buffer, &program.steps(i)); found && !result)
        setResult(*found);
  }
  return result;
}

std::optional<std::string>
NanCheck::scanIterations(const plan::Step &loop) const {
  struct First {
    std::int64_t iteration;
    std::uint32_t buffer; ///< of the loop
    NonFinite value;
  };
  std::optional<First> first;
  auto bufferAt = [&](std::uint32_t index) -> const plan::Buffer & {
    return manifest.buffers(static_cast<int>(index));
  };
  // A later step replaces only the value of a later iteration.
  auto scanOperand = [&](int step, const plan::Operand &operand) {
    const plan::Buffer &slice = bufferAt(operand.buffer_index());
    const std::int64_t stride = operand.loop_stride(),
                       runs = plan::runsOf(loop.loop(), step);
    const auto whole =
        std::find_if(loop.operands().begin(), loop.operands().end(),
                     [&](const plan::Operand &candidate) {
                       return plan::isWritten(candidate) &&
                              plan::contains(bufferAt(candidate.buffer_index()),
                                             slice, stride, runs);
                     });
    if (whole == loop.operands().end())
      return;
    const std::uint32_t index = whole->buffer_index();
    executor.read(index, [&](const std::byte *bytes) {
      bytes += slice.offset() - bufferAt(index).offset();
      const std::int64_t end = first ? std::min(runs, first->iteration) : runs;
      for (std::int64_t i = 0; i < end; ++i)
        if (const auto *values = bytes + i * stride;
            !allFinite(slice, values, threads)) {
          first = {i, index, *firstNonFinite(slice, values)};
          return;
        }
    });
  };
  for (int i = 0; i < loop.loop().steps_size(); ++i)
    for (const plan::Operand &operand : loop.loop().steps(i).operands())
      if (plan::isWritten(operand) && operand.loop_stride() != 0)
        scanOperand(i, operand);
  if (!first)
    return {};
  return describe(first->buffer, &loop) + ", written in iteration " +
         std::to_string(first->iteration + 1) + " of " +
         std::to_string(loop.loop().iterations()) + ", is " +
         describeValue(first->value);
}

std::optional<std::string> NanCheck::scan(std::uint32_t index,
                                          const plan::Step *step) const {
  const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
  std::optional<NonFinite> found;
  executor.read(index, [&](const std::byte *bytes) {
    if (!allFinite(buffer, bytes, threads))
      found = firstNonFinite(buffer, bytes);
  });
  if (!found)
    return {};
  return describe(index, step) + " is " + describeValue(*found);
}

const plan::Layer *NanCheck::layerOf(const std::string &name) const {
  for (const plan::Layer &layer : program.layers())
    if (layer.name() == name)
      return &layer;
  return nullptr;
}

/// Returns the name that a blob has in the prototxt, before Split layers
/// renamed it.
std::string NanCheck::nameBeforeSplit(std::string blob) const {
  for (const plan::Layer &layer : program.layers())
    if (layer.type() == "Split" && layer.bottoms_size() == 1 &&
        std::find(layer.tops().begin(), layer.tops().end(), blob) !=
            layer.tops().end())
      return layer.bottoms(0);
  return blob;
}

/// Returns the blob that a value of a step belongs to, as text for a message;
/// "" if the step has several layers or the blob is ambiguous.
std::string NanCheck::blobOf(const std::string &value,
                             const plan::Step &step) const {
  const plan::Layer *layer =
      step.layers_size() == 1 ? layerOf(step.layers(0)) : nullptr;
  if (step.backward()) {
    if (!layer || layer->bottoms().empty())
      return "";
    const std::string &type = layer->type();
    const bool isLoss =
        type.size() > 4 && type.compare(type.size() - 4, 4, "Loss") == 0;
    return isLoss || layer->bottoms_size() == 1
               ? "the gradient of blob '" + nameBeforeSplit(layer->bottoms(0)) +
                     "'"
               : "";
  }
  for (const plan::Layer &candidate : program.layers())
    if (std::find(candidate.tops().begin(), candidate.tops().end(), value) !=
        candidate.tops().end())
      return "blob '" + value + "'";
  // A kernel's results are the layer's tops, then values for the backward pass.
  for (int i = 0; layer && i < layer->tops_size(); ++i)
    if (value == layer->name() + "." + std::to_string(i))
      return "blob '" + layer->tops(i) + "'";
  return "";
}

std::string NanCheck::describe(std::uint32_t index,
                               const plan::Step *step) const {
  for (const plan::Parameter &parameter : manifest.parameters()) {
    const bool isGradient = parameter.has_gradient_buffer_index() &&
                            parameter.gradient_buffer_index() == index;
    if (isGradient || parameter.buffer_index() == index)
      return withLocation(
          (isGradient ? "the gradient of parameter " : "parameter ") +
              std::to_string(parameter.index()) + " of layer '" +
              parameter.layer() + "'",
          parameter.source_location());
  }
  auto findBuffer = [&](const auto &list) -> const plan::NamedBuffer * {
    for (const plan::NamedBuffer &entry : list)
      if (entry.buffer_index() == index)
        return &entry;
    return nullptr;
  };
  if (const auto *blob = findBuffer(program.blobs()))
    return "blob '" + blob->name() + "'";
  if (const auto *gradient = findBuffer(program.blob_gradients()))
    return "the gradient of blob '" + gradient->name() + "'";
  for (const plan::Output &output : program.unreported_losses())
    if (output.buffer_index() == index)
      return "blob '" + output.blob() + "'";
  for (const plan::DataInput &input : program.data_inputs()) {
    caffe::LayerParameter layer;
    for (int i = 0; i < input.buffer_indices_size(); ++i)
      if (input.buffer_indices(i) == index &&
          layer.ParseFromString(input.layer()) && i < layer.top_size())
        return "blob '" + layer.top(i) + "'";
  }
  const std::string &value = manifest.buffers(static_cast<int>(index)).name();
  const std::string blob = step ? blobOf(value, *step) : "";
  return blob.empty() ? "the value '" + value + "' of the plan" : blob;
}

std::string NanCheck::describeLayers(const plan::Step &step) const {
  if (step.layers().empty())
    return "a step without a layer";
  if (step.layers_size() == 1)
    return withLocation("layer '" + step.layers(0) + "'",
                        locationOf(step.layers(0)));
  std::string text = "layers ";
  for (int i = 0; i < step.layers_size(); ++i)
    text += (i == 0 ? "" : ", ") + withLocation("'" + step.layers(i) + "'",
                                                locationOf(step.layers(i)));
  return text + ", computed in one step";
}

std::string NanCheck::locationOf(const std::string &name) const {
  const plan::Layer *layer = layerOf(name);
  return layer ? layer->source_location() : "";
}

} // namespace brew::runtime
