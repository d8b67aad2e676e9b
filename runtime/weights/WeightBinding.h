//===- WeightBinding.h - Weight files against a plan's parameters ---------===//
//
// Which blob of a weight file belongs to which parameter. The trainer loads and
// saves through this; the compiler embeds weights into inference plans with it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/WeightFile.h"
#include "runtime/plan/plan.pb.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace brew::runtime {

/// One blob of a layer in weight files: an owner or a sharer of a parameter.
struct FileBlob {
  const plan::Parameter *parameter; ///< null marks a gap
  std::vector<std::int64_t> dims;
  bool sharer;
};

/// The blobs of one layer, by their index.
struct FileLayer {
  std::string name;
  std::string type; ///< Caffe's layer type
  std::vector<FileBlob> blobs;
};

/// All layers of a plan that have parameters, in the net's order. Points into
/// `manifest`. Throws Error (1) for an absurd number of blobs.
std::vector<FileLayer> fileLayersOf(const plan::Manifest &manifest);

/// Whether a blob of a file fits dimensions: equal ones, or for a legacy
/// four-dimensional blob an equal count.
bool fits(const formats::Blob &blob, const std::vector<std::int64_t> &dims);

/// Matches `weights` to `layers` by layer name and calls `write(buffer index,
/// blob)` for each match. Throws Error (1) that lists every blob that does not
/// fit, or if no layer is in both; nothing is written then. Returns one line
/// about layers in only one of the two, "" if there are none. `source` names
/// the weights in messages. NVCaffe's BatchNorm (five blobs) and Caffe's
/// (three) are turned into each other where that loses nothing.
std::string bindWeights(
    const std::vector<FileLayer> &layers, const formats::Weights &weights,
    const std::string &source,
    const std::function<void(std::uint32_t, const formats::Blob &)> &write);

} // namespace brew::runtime
