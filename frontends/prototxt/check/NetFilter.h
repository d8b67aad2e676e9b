//===- NetFilter.h - The layers of one phase --------------------*- C++ -*-===//
//
// Caffe's NetState rules: which layers of a net take part for a phase, level
// and set of stages, and for the others which rule kept them out.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/check/NetDocument.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace brew::prototxt {

/// A layer that a rule keeps out of a net.
struct RemovedLayer {
  const caffe::LayerParameter *layer = nullptr;
  /// The exclude rule that is met, or the first include rule (none is met).
  SourceLocation rule;
  /// For a note at `rule`: "layer 'data' is left out: its include rule requires
  /// phase TRAIN, and this is phase TEST".
  std::string reason;
};

/// A net in one state. Layers point into `source`, whose locations() knows
/// them.
struct FilteredNet {
  std::shared_ptr<const NetDocument> source;
  /// A layer without its own `phase` has that of the state.
  caffe::NetState state;
  std::vector<const caffe::LayerParameter *> layers;
  std::vector<RemovedLayer> removed;

  /// The removed layer that has `blob` as a top, or null: why a bottom has no
  /// producer.
  const RemovedLayer *removedProducer(const std::string &blob) const;
  /// A copy of the net with just these layers and this state (no places).
  caffe::NetParameter toProto() const;
};

/// What the command line says about the state.
struct StateOptions {
  std::optional<int> level;
  std::vector<std::string> stages; ///< added to those in the prototxt
};

/// The state of a net that is compiled on its own, without a solver: that in
/// the file with the phase replaced and the options applied, as Caffe's Net
/// constructor has it.
caffe::NetState standaloneState(const caffe::NetParameter &net,
                                caffe::Phase phase,
                                const StateOptions &options = {});

FilteredNet filterNet(std::shared_ptr<const NetDocument> source,
                      const caffe::NetState &state);

/// Why `state` does not meet `rule`, or nothing if it does.
std::optional<std::string> unmetReason(const caffe::NetState &state,
                                       const caffe::NetStateRule &rule);

} // namespace brew::prototxt
