//===- LayerKinds.h - Caffe's layer types -----------------------*- C++ -*-===//
//
// What Caffe 1.0 fixes about every layer type whatever its settings: how many
// bottoms and tops it takes, which settings it reads, whether it is a loss.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>
#include <vector>

namespace brew::prototxt {

struct LayerKind {
  const char *type;
  /// Limits of the number of bottoms and tops; -1: none.
  int minBottoms, maxBottoms;
  int minTops, maxTops;
  /// Blocks of LayerParameter that the type reads, separated by spaces.
  const char *settings = "";
  /// One top for each bottom.
  bool oneTopPerBottom = false;
  /// Its first top has loss weight 1 unless the layer says otherwise, and it
  /// makes a top of its own if none is written.
  bool isLoss = false;
  /// Caffe can compute it in the memory of its bottom.
  bool worksInPlace = false;

  bool reads(const std::string &block) const;
};

/// The type of that name, or null.
const LayerKind *findLayerKind(const std::string &type);

/// What is wrong with `type`, for a diagnostic: the fork of Caffe that owns it,
/// or the nearest known type.
std::string unknownTypeText(const std::string &type);

} // namespace brew::prototxt
