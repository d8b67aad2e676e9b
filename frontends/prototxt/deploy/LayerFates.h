//===- LayerFates.h - Roles of layers in deploy nets ------------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/check/NetFilter.h"

#include <set>
#include <string>
#include <vector>

namespace brew::prototxt {

/// The role of a layer of a training net in the deploy net.
enum class Fate {
  Kept,      ///< as it is, if an output depends on it
  Input,     ///< a data layer: its needed tops become those of an Input
  Converted, ///< a loss that contains Softmax or Sigmoid
  /// A loss, a metric, or a layer that reads a loss: its bottoms become
  /// outputs.
  Removed,
  Unused, ///< a layer without tops, such as Silence
};

/// The roles of a net's layers and blobs.
class LayerFates {
public:
  using Layers = std::vector<const caffe::LayerParameter *>;

  explicit LayerFates(const Layers &layers);

  /// Returns the role of the layer at an index.
  Fate operator[](size_t index) const { return fates[index]; }
  /// Returns whether a layer after `index` reads a blob.
  bool isReadAfter(size_t index, const std::string &blob) const;
  /// Returns whether a bottom of a removed layer does not become an output: the
  /// top of a data layer, or a blob that depends on labels only or on a loss.
  bool isNoOutput(const std::string &blob) const {
    return dataTops.count(blob) || labels.count(blob) || lost.count(blob);
  }
  /// Returns whether a blob depends on labels only.
  bool isLabel(const std::string &blob) const { return labels.count(blob) > 0; }

private:
  Fate fateOf(size_t index) const;
  bool isLossOfOtherType(size_t index) const;
  void findLostBlobs();
  std::set<std::string> findComparedTops() const;
  void findLabels();

  const Layers &layers;
  std::vector<Fate> fates;
  /// Tops of data layers, blobs that depend on labels only, and blobs that
  /// depend on the value of a loss or a metric.
  std::set<std::string> dataTops, labels, lost;
};

} // namespace brew::prototxt
