//===- NetFilter.h - The layers of one phase --------------------*- C++ -*-===//
//
// Caffe's NetState rules: the layers of a net that are included for a phase,
// level and set of stages, and for each other layer the rule that excludes it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/check/NetDocument.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace brew::prototxt {

/// A layer that a rule excludes from a net.
struct RemovedLayer {
  const caffe::LayerParameter *layer = nullptr;
  /// The exclude rule that is met, or the first include rule if no include rule
  /// is met.
  SourceLocation rule;
  /// For a note at `rule`: "layer 'data' is left out: its include rule requires
  /// phase TRAIN, and this is phase TEST".
  std::string reason;
};

/// A net in one state. Layers point into `source`.
struct FilteredNet {
  std::shared_ptr<const NetDocument> source;
  /// The state's phase applies to each layer without its own `phase`.
  caffe::NetState state;
  std::vector<const caffe::LayerParameter *> layers;
  std::vector<RemovedLayer> removed;

  /// Returns the removed layer that has `blob` as a top, or null. It explains
  /// why a bottom has no producer.
  const RemovedLayer *removedProducer(const std::string &blob) const;
  /// Returns a copy of the net with these layers and this state, without
  /// locations.
  caffe::NetParameter toProto() const;
};

/// The parts of the state from the command line.
struct StateOptions {
  std::optional<int> level;
  std::vector<std::string> stages; ///< added to those in the prototxt
};

/// Returns the state of a net that is compiled without a solver: the state in
/// the file with the phase replaced and the options applied, as in Caffe's Net
/// constructor.
caffe::NetState standaloneState(const caffe::NetParameter &net,
                                caffe::Phase phase,
                                const StateOptions &options = {});

/// Divides the layers of `source` into those that `state` includes and the
/// removed ones.
FilteredNet filterNet(std::shared_ptr<const NetDocument> source,
                      const caffe::NetState &state);

/// Returns why `state` does not meet `rule`, or nullopt if it does.
std::optional<std::string> unmetReason(const caffe::NetState &state,
                                       const caffe::NetStateRule &rule);

} // namespace brew::prototxt
