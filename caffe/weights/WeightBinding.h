//===- WeightBinding.h - Weight files against a plan's parameters ---------===//
//
// Which blob of a weight file belongs to which parameter. The trainer loads and
// saves through this; the compiler embeds weights into inference plans with it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/WeightFile.h"
#include "plan/plan.pb.h"

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace brew::caffe {

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

/// What a weight file has for a plan.
struct WeightBinding {
  /// The blobs that fit, by the buffer they go to. They point into the weights
  /// and into `synthesized`.
  std::vector<std::pair<std::uint32_t, const formats::Blob *>> values;
  std::deque<formats::Blob> synthesized; ///< blobs that no file has
  std::vector<const FileLayer *> matched;
  std::vector<std::string> onlyInFile, onlyInNet; ///< layers
};

/// Matches `weights` to `layers`, which both outlive the result, by layer name.
/// Throws Error (1) that lists every blob that does not fit, or if no layer is
/// in both. `source` names the weights in messages. NVCaffe's BatchNorm (five
/// blobs) and Caffe's (three) are turned into each other where that loses
/// nothing.
WeightBinding bindWeights(const std::vector<FileLayer> &layers,
                          const formats::Weights &weights,
                          const std::string &source);

/// One line about layers in only one of file and net, but those of `except`; ""
/// if there are none.
std::string unmatchedLayersText(const WeightBinding &binding,
                         const std::vector<std::string> &except = {});

} // namespace brew::caffe
