//===- NetMetadata.h - A net's layers as Caffe lists them ---------*- C++ -*-===//
//
// Caffe puts a Split layer behind every blob with more than one reader before
// it sets a net up, and reports layer by layer. Compiled nets have no such
// layers; this is the list with them, for logs.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/check/NetGraph.h"

#include <string>
#include <utility>
#include <vector>

namespace brew::prototxt {

struct LayerMetadata {
  std::string name;
  std::string type;
  std::vector<std::string> bottoms; ///< after splitting
  std::vector<std::string> tops;    ///< likewise; "" for an automatic top
  /// The blob of the prototxt that each top has the shape of; "" for an
  /// automatic top, which is a scalar.
  std::vector<std::string> shapedLike;
  std::vector<float> lossWeights; ///< one per top
  bool needsBackward = false;
  std::vector<bool> bottomNeedsBackward = {};
  /// Caffe's lines about the parameters that it shares.
  std::vector<std::string> sharingLines = {};
  /// Index in NetGraph::layers; -1 for a split.
  int layer = -1;
  /// For a split: index in NetGraph::blobs of what it splits.
  int blob = -1;
  /// "FILE:LINE:COL" of the layer in the prototxt; of a split, "".
  std::string location = {};
};

/// What a log says about one program's net.
struct NetMetadata {
  /// "net file: lenet.prototxt", "test_net_param", ...: where the net stands.
  std::string source;
  /// Caffe's lines about the include and exclude rules that are not met.
  std::vector<std::string> ruleLines;
  std::vector<LayerMetadata> layers;
};

std::vector<std::string> listUnmetRules(const FilteredNet &net);

/// The layers of a graph free of errors, in the order Caffe sets them up.
/// `outputGradients`: blobs that begin with a gradient from outside, as losses do.
std::vector<LayerMetadata>
listLayers(const NetGraph &graph, const std::vector<std::string> &outputGradients = {});

/// How a blob version is split among its readers.
struct BlobSplit {
  int tops = 0;        ///< 0 if it is not split
  int firstReader = 0; ///< top of the first reader, 1 behind that of the loss
};
BlobSplit splitOf(const NetGraph &graph, int blob);

} // namespace brew::prototxt
