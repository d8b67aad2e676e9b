//===- NetGraph.h - Layers wired to each other ------------------*- C++ -*-===//
//
// The data flow of one program: which layer's top each bottom is, which tops
// the net puts out, what counts for the loss, which layers share a parameter.
// Every rule that Caffe checks when it sets a net up, and that needs no shapes,
// is checked here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/check/LayerKinds.h"
#include "frontends/prototxt/check/NetFilter.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace brew::prototxt {

/// One version of a blob: an in-place layer makes a new one.
struct BlobVersion {
  std::string name;
  int layer = 0; ///< index of the producer in NetGraph::layers
  int top = 0;   ///< which of its tops
  /// Layer and bottom index of every use.
  std::vector<std::pair<int, int>> readers = {};
  /// A loss without a written top still makes one; it has no usable name.
  bool isAutomatic = false;
};

struct GraphLayer {
  const caffe::LayerParameter *layer = nullptr;
  const LayerKind *kind = nullptr;
  std::vector<int> bottoms;       ///< indices of blob versions
  std::vector<int> tops;          ///< likewise
  std::vector<float> lossWeights; ///< one per top
  std::vector<int> params;        ///< indices into NetGraph::params
  /// Something learns in it or before it, so that Caffe runs its backward pass
  /// if a loss depends on it.
  bool learns = false;
};

/// A learnable parameter; the layer given is its owner.
struct GraphParam {
  const caffe::LayerParameter *layer = nullptr;
  int index = 0;
  /// Null for a blob that starts as zeros.
  const caffe::FillerParameter *filler = nullptr;
  float lrMult = 1, decayMult = 1;
  std::string sharedName; ///< ParamSpec.name, or empty
  bool permissive = false;
  std::vector<std::pair<const caffe::LayerParameter *, int>> sharers = {};
};

/// A top that the solver reports, or that counts for the loss.
struct NetOutput {
  int blob = 0; ///< index of a blob version
  std::string name;
  float lossWeight = 0;
  /// It counts for the loss, but Caffe does not report it.
  bool isUnreported = false;
};

class NetGraph {
public:
  /// Wires the layers of `net`. Everything wrong is reported; after an error
  /// the graph must not be used. With `toCompile`, types without code are
  /// errors too. `hostTypes` are types that the program computes itself.
  static NetGraph build(const FilteredNet &net, Diagnostics &diagnostics,
                        bool toCompile = false,
                        const std::set<std::string> &hostTypes = {});

  std::vector<GraphLayer> layers;
  std::vector<BlobVersion> blobs;
  std::vector<GraphParam> params;
  /// Reported outputs in Caffe's order, then the inner ones.
  std::vector<NetOutput> outputs;

  /// Whether Caffe computes a gradient of parameter `index` of layer `layer`
  /// there: it does unless the layer's own lr_mult is 0, whatever that of a
  /// sharer, and always with force_backward, or in LSTM and RNN if they have a
  /// backward pass at all. Running statistics have none.
  bool wantsGradient(int layer, int index) const;

  bool hasLoss() const;

  bool forceBackward = false; ///< NetParameter.force_backward
};

/// Whether some layer of the net has a loss weight; looks at single layers
/// only, so that it can tell what a net with errors is meant to be.
bool hasLoss(const FilteredNet &net);

} // namespace brew::prototxt
