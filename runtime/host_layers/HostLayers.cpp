//===- HostLayers.cpp - Layers computed by the host program ---------------===//
#include "runtime/host_layers/HostLayers.h"

#include "plan/Operands.h"
#include "runtime/host_layers/CenternetDetections.h"
#include "runtime/host_layers/DetectionEvaluate.h"
#include "runtime/host_layers/DetectionFiles.h"
#include "runtime/host_layers/EvalDetection.h"
#include "runtime/host_layers/Hdf5Output.h"
#include "runtime/host_layers/MeanFieldFilter.h"
#include "runtime/host_layers/MultiBoxLoss.h"
#include "runtime/host_layers/Proposal.h"
#include "runtime/host_layers/RegionLoss.h"
#include "runtime/host_layers/SegAccuracy.h"
#include "runtime/host_layers/SequenceLabels.h"
#include "runtime/host_layers/YoloDetections.h"
#include "runtime/host_layers/Yolov3Loss.h"
#include "support/Error.h"

namespace brew::runtime {

/// Returns the runtime's built-in type of this name, or null.
static const HostLayerType *findBuiltinType(const std::string &type) {
  if (type == kCenternetDetections)
    return &centernetDetectionsType();
  if (type == kDetectionEvaluate)
    return &detectionEvaluateType();
  if (type == kDetectionFiles)
    return &detectionFilesType();
  if (type == kEvalDetection)
    return &evalDetectionType();
  if (type == kHdf5Output)
    return &hdf5OutputType();
  if (type == kMeanFieldFilter)
    return &meanFieldFilterType();
  if (type == kMultiBoxLoss)
    return &multiBoxLossType();
  if (type == kProposal)
    return &proposalType();
  if (type == kCtcLoss || type == kIndicatedCtcLoss)
    return &ctcLossType();
  if (type == kCtcGreedyDecoder)
    return &ctcGreedyDecoderType();
  if (type == kLabelsequenceAccuracy)
    return &labelsequenceAccuracyType();
  if (type == kRegionLoss)
    return &regionLossType();
  if (type == kSegAccuracy)
    return &segAccuracyType();
  if (type == kYoloDetectionOutput)
    return &yoloDetectionOutputType();
  if (type == kYolov3)
    return &yolov3Type();
  if (type == kYolov3DetectionOutput)
    return &yolov3DetectionOutputType();
  return nullptr;
}

const HostLayerType *HostLayers::find(const std::string &type) const {
  if (const HostLayerType *builtin = findBuiltinType(type))
    return builtin;
  if (!types)
    return nullptr;
  const auto found = types->find(type);
  return found == types->end() ? nullptr : found->second.get();
}

/// Returns the name of the layer's state, without a number.
static std::string nameOf(const plan::Program &program,
                          const plan::HostCall &call) {
  return "host " + program.name() + "/" + call.layer();
}

HostLayer &HostLayers::findOrCreate(int program, const HostLayerType &type,
                                    const plan::Step &step) {
  const plan::HostCall &call = step.host();
  Layer &layer = layers[{program, call.settings()}];
  if (!layer.instance) {
    HostLayerSetup setup;
    setup.type = call.type();
    setup.layer = call.layer();
    setup.settings = call.settings();
    setup.paramStr = call.param_str();
    setup.testPhase = manifest.programs(program).test_phase();
    for (const plan::HostOperand &operand : plan::hostOperands(manifest, step))
      if (!operand.isGradient)
        (operand.isTop ? setup.tops : setup.bottoms)
            .push_back(
                {operand.buffer->dims().begin(), operand.buffer->dims().end()});
    layer.instance = type.create(setup);
    if (layer.name.empty())
      layer.name = uniqueName(nameOf(manifest.programs(program), call));
  }
  if (auto state = pendingStates.extract(layer.name))
    layer.instance->restore(state.mapped());
  return *layer.instance;
}

/// Returns `name`, or appends the first number that makes it unique.
std::string HostLayers::uniqueName(const std::string &name) const {
  std::string result = name;
  for (int number = 2;; ++number) {
    bool isTaken = false;
    for (const auto &[key, layer] : layers)
      isTaken |= layer.name == result;
    if (!isTaken)
      return result;
    result = name + " " + std::to_string(number);
  }
}

HostLayers::States HostLayers::states() const {
  States result = pendingStates;
  for (const auto &[key, layer] : layers)
    if (layer.instance && !pendingStates.count(layer.name))
      if (std::vector<double> state = layer.instance->state(); !state.empty())
        result.emplace(layer.name, std::move(state));
  return result;
}

bool HostLayers::hasState(const std::string &name) const {
  for (const plan::Program &program : manifest.programs())
    for (const plan::Step &step : program.steps())
      if (step.has_host())
        if (const std::string stateName = nameOf(program, step.host());
            name == stateName || name.rfind(stateName + " ", 0) == 0)
          return true;
  return false;
}

void HostLayers::restore(const States &states) {
  for (auto &[key, layer] : layers)
    if (layer.instance && !layer.instance->state().empty())
      layer.instance.reset();
  pendingStates.clear();
  for (const auto &[name, values] : states)
    if (hasState(name))
      pendingStates.emplace(name, values);
}

void HostLayers::call(int program, const plan::Step &step,
                      HostLayerArguments &arguments) {
  const plan::HostCall &call = step.host();
  const std::string prefix =
      "layer '" + call.layer() + "' (type '" + call.type() + "'): ";
  const HostLayerType *type = find(call.type());
  if (!type)
    throw Error(ExitStatus::Usage,
                prefix + "the program that runs the plan must provide the "
                         "functions of this layer type "
                         "(brew_session_options.host_layers; brew-run "
                         "--host-plugin FILE.so)");
  const bool forward = call.direction() == plan::FORWARD;
  if (!forward && !type->hasBackward())
    throw badInput(prefix +
                   "the plan needs its backward pass, and the type has "
                   "no backward function");
  try {
    HostLayer &layer = findOrCreate(program, *type, step);
    if (forward)
      layer.forward(arguments);
    else
      layer.backward(arguments);
  } catch (const Error &error) {
    throw Error(error.status(), prefix + error.what());
  }
}

} // namespace brew::runtime
