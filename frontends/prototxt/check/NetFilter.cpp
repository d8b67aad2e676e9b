//===- NetFilter.cpp - The layers of one phase ----------------------------===//

#include "frontends/prototxt/check/NetFilter.h"

#include <algorithm>

namespace brew::prototxt {

namespace {

bool hasStage(const caffe::NetState &state, const std::string &stage) {
  return std::find(state.stage().begin(), state.stage().end(), stage) !=
         state.stage().end();
}

/// Returns a text such as "phase TEST, level 1, stage 'a' 'b'".
std::string describeState(const caffe::NetState &state) {
  std::string text = "phase " + caffe::Phase_Name(state.phase());
  if (state.level() != 0)
    text += ", level " + std::to_string(state.level());
  for (int i = 0; i < state.stage_size(); ++i)
    text += (i ? " '" : ", stage '") + state.stage(i) + "'";
  return text;
}

} // namespace

std::optional<std::string> unmetReason(const caffe::NetState &state,
                                       const caffe::NetStateRule &rule) {
  if (rule.has_phase() && rule.phase() != state.phase())
    return "requires phase " + caffe::Phase_Name(rule.phase()) +
           ", and this is phase " + caffe::Phase_Name(state.phase());
  if (rule.has_min_level() && state.level() < rule.min_level())
    return "requires level " + std::to_string(rule.min_level()) +
           " or more, and this is level " + std::to_string(state.level());
  if (rule.has_max_level() && state.level() > rule.max_level())
    return "requires level " + std::to_string(rule.max_level()) +
           " or less, and this is level " + std::to_string(state.level());
  for (const std::string &stage : rule.stage())
    if (!hasStage(state, stage))
      return "requires stage '" + stage + "', which is not set";
  for (const std::string &stage : rule.not_stage())
    if (hasStage(state, stage))
      return "does not want stage '" + stage + "', which is set";
  return std::nullopt;
}

const RemovedLayer *
FilteredNet::removedProducer(const std::string &blob) const {
  for (const RemovedLayer &candidate : removed)
    for (const std::string &top : candidate.layer->top())
      if (top == blob)
        return &candidate;
  return nullptr;
}

caffe::NetParameter FilteredNet::toProto() const {
  caffe::NetParameter net;
  // Copy single fields, so that excluded layers are not copied.
  const caffe::NetParameter &from = source->net();
  if (from.has_name())
    net.set_name(from.name());
  if (from.has_force_backward())
    net.set_force_backward(from.force_backward());
  if (from.has_debug_info())
    net.set_debug_info(from.debug_info());
  *net.mutable_state() = state;
  for (const caffe::LayerParameter *layer : layers)
    *net.add_layer() = *layer;
  return net;
}

caffe::NetState standaloneState(const caffe::NetParameter &net,
                                caffe::Phase phase,
                                const StateOptions &options) {
  caffe::NetState state = net.state();
  state.set_phase(phase);
  if (options.level)
    state.set_level(*options.level);
  for (const std::string &stage : options.stages)
    state.add_stage(stage);
  return state;
}

FilteredNet filterNet(std::shared_ptr<const NetDocument> source,
                      const caffe::NetState &state) {
  FilteredNet result;
  result.source = std::move(source);
  result.state = state;
  const SourceMap &locations = result.source->locations();
  for (const caffe::LayerParameter &layer : result.source->net().layer()) {
    const std::string prefix = "layer '" + layer.name() + "' is left out: ";
    std::optional<RemovedLayer> removed;
    if (layer.include_size() > 0) {
      bool isMet = false;
      for (const caffe::NetStateRule &rule : layer.include())
        isMet = isMet || !unmetReason(state, rule);
      if (!isMet) {
        const bool hasSeveralRules = layer.include_size() > 1;
        removed = {&layer, locations.where(layer.include(0)),
                   prefix +
                       (hasSeveralRules
                            ? "none of its include rules is met; the "
                              "first "
                            : "its include rule ") +
                       *unmetReason(state, layer.include(0))};
      }
    } else {
      for (const caffe::NetStateRule &rule : layer.exclude())
        if (!removed && !unmetReason(state, rule))
          removed = {&layer, locations.where(rule),
                     prefix + "its exclude rule covers " +
                         describeState(state)};
    }
    if (removed)
      result.removed.push_back(std::move(*removed));
    else
      result.layers.push_back(&layer);
  }
  return result;
}

} // namespace brew::prototxt
