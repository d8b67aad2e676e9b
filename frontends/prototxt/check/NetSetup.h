//===- NetSetup.h - A net as Caffe sets it up -------------------*- C++ -*-===//
//
// For programs that run a net layer by layer, as Caffe does: the layers with
// Split layers among them, and what the backward pass computes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/check/NetGraph.h"

#include <string>
#include <vector>

namespace brew::prototxt {

/// A parameter of a layer.
struct LayerParam {
  int number = 0; ///< in NetSetup::params
  bool isStatistic = false;
  bool hasGradient = false; ///< the backward pass computes its gradient
};

/// A layer of NetSetup::net.
struct LayerSetup {
  std::vector<float> lossWeights; ///< one per top
  bool needsBackward = false;
  std::vector<bool> bottomGradients; ///< whether each bottom gets a gradient
  std::vector<LayerParam> params;
};

/// A parameter of the net. Several layers may share it.
struct NetParam {
  float lrMult = 1, decayMult = 1;
};

struct NetSetup {
  /// The layers that the state includes, and Split layers.
  caffe::NetParameter net;
  std::vector<LayerSetup> layers; ///< one for each layer of `net`
  std::vector<NetParam> params;   ///< in the order of their owners
};

/// Sets up a net whose graph has no errors. As in Caffe, the backward pass
/// reaches the layers from losses back to learnable parameters, and with
/// force_backward all layers.
NetSetup setUpNet(const FilteredNet &net, const NetGraph &graph);

} // namespace brew::prototxt
