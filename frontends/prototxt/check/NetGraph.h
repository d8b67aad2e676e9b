//===- NetGraph.h - The data flow of a net ----------------------*- C++ -*-===//
//
// The data flow of one program: the producer of each bottom, the outputs of the
// net, the losses, and the layers that share a parameter. Checks every rule
// that Caffe checks when it sets up a net, unless the rule depends on shapes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/check/LayerKinds.h"
#include "frontends/prototxt/check/NetFilter.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace brew::prototxt {

/// A version of a blob. An in-place layer produces a new version.
struct BlobVersion {
  std::string name;
  int layer = 0; ///< index of the producer in NetGraph::layers
  int top = 0;   ///< index in the producer's tops
  /// Layer and bottom index of every use.
  std::vector<std::pair<int, int>> readers = {};
  /// The top is the one that Caffe adds to a loss layer without tops. No layer
  /// can refer to its name.
  bool isAutomatic = false;
};

/// A layer of the net, connected to its blobs and parameters.
struct GraphLayer {
  const caffe::LayerParameter *layer = nullptr;
  const LayerKind *kind = nullptr;
  std::vector<int> bottoms;          ///< indices of blob versions
  std::vector<int> tops;             ///< likewise
  std::vector<float> lossWeights;    ///< one per top
  std::vector<int> params;           ///< indices into NetGraph::params
  std::vector<ParamBlob> paramBlobs; ///< one per parameter
  /// The layer or one before it has learnable parameters, so that Caffe runs
  /// its backward pass if a loss depends on it.
  bool needsBackward = false;
};

/// A learnable parameter.
struct GraphParam {
  const caffe::LayerParameter *layer = nullptr; ///< the owner
  int index = 0;
  /// Null: the blob is initialised to zero.
  const caffe::FillerParameter *filler = nullptr;
  float lrMult = 1, decayMult = 1;
  std::string sharedName; ///< ParamSpec.name, or empty
  bool permissive = false;
  std::vector<std::pair<const caffe::LayerParameter *, int>> sharers = {};
};

/// A top that the solver reports, or that contributes to the loss.
struct NetOutput {
  int blob = 0; ///< index of a blob version
  std::string name;
  float lossWeight = 0;
  /// The top contributes to the loss, but Caffe does not report it.
  bool isUnreported = false;
};

class NetGraph {
public:
  /// Connects the layers of `net`. Reports all errors; after an error the graph
  /// must not be used. With `forCompilation`, unsupported settings are errors
  /// instead of warnings. `hostTypes` are the types that the host program
  /// computes. `paramCounts` contains, by layer name, the number of parameters
  /// of layers that the host program computes; they have none otherwise.
  /// Without `withSettings`, does not check the settings of single layers.
  static NetGraph build(const FilteredNet &net, Diagnostics &diagnostics,
                        bool forCompilation = false,
                        const std::set<std::string> &hostTypes = {},
                        const std::map<std::string, int> &paramCounts = {},
                        bool withSettings = true);

  std::vector<GraphLayer> layers;
  std::vector<BlobVersion> blobs;
  std::vector<GraphParam> params;
  /// Reported outputs in Caffe's order, then the unreported ones.
  std::vector<NetOutput> outputs;

  /// Returns whether Caffe computes the gradient of parameter `index` in layer
  /// `layer`. Running statistics have no gradient. Other parameters have one
  /// unless their lr_mult in this layer is 0 and the layer does not replace it;
  /// layers that share the parameter do not matter. force_backward and the
  /// backward pass of LSTM and RNN compute all gradients.
  bool mayHaveGradient(int layer, int index) const;

  bool hasLoss() const;

  bool forceBackward = false; ///< NetParameter.force_backward
};

/// Returns whether a layer of the net has a loss weight. Considers layers one
/// by one, so that it also works for nets with errors.
bool hasLoss(const FilteredNet &net);

} // namespace brew::prototxt
