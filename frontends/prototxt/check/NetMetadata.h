//===- NetMetadata.h - A net's layers as Caffe lists them -------*- C++ -*-===//
//
// Before it sets up a net, Caffe inserts a Split layer after every blob with
// more than one reader, and then logs all layers. Compiled nets have no such
// layers. listLayers() returns the list of layers with splits, for logs.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/check/NetGraph.h"

#include <string>
#include <utility>
#include <vector>

namespace brew::prototxt {

/// A layer, or an inserted split, as Caffe lists it.
struct LayerMetadata {
  std::string name;
  std::string type;
  std::vector<std::string> bottoms; ///< after splitting
  std::vector<std::string> tops;    ///< likewise; "" for an automatic top
  /// For each top, the blob of the prototxt with the same shape; "" for an
  /// automatic top, which is a scalar.
  std::vector<std::string> shapedLike;
  std::vector<float> lossWeights; ///< one per top
  bool needsBackward = false;
  std::vector<bool> bottomNeedsBackward = {};
  /// Caffe's log lines about shared parameters.
  std::vector<std::string> sharingLines = {};
  /// Index in NetGraph::layers; -1 for a split.
  int layer = -1;
  /// For a split: index of the blob in NetGraph::blobs.
  int blob = -1;
  /// "FILE:LINE:COL" of the layer in the prototxt; "" for a split.
  std::string location = {};
};

/// The log output about one program's net.
struct NetMetadata {
  /// The origin of the net: "net file: lenet.prototxt", "test_net_param", ...
  std::string source;
  /// Caffe's log lines about include and exclude rules that are not met.
  std::vector<std::string> ruleLines;
  std::vector<LayerMetadata> layers;
};

/// Returns Caffe's log lines about the rules that the state of `net` does not
/// meet.
std::vector<std::string> listUnmetRules(const FilteredNet &net);

/// Returns the layers of a graph without errors, in the order in which Caffe
/// sets them up. `outputGradients` are blobs whose gradients the caller writes;
/// like losses, they start the backward pass.
std::vector<LayerMetadata>
listLayers(const NetGraph &graph,
           const std::vector<std::string> &outputGradients = {});

/// The split of a blob version among its readers.
struct BlobSplit {
  int tops = 0;        ///< 0 if the blob is not split
  int firstReader = 0; ///< top of the first reader; 1 if top 0 is for the loss
};
BlobSplit splitOf(const NetGraph &graph, int index);

} // namespace brew::prototxt
