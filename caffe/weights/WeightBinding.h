//===- WeightBinding.h - Matching of weight files to a plan -----*- C++ -*-===//
//
// Maps the blobs of weight files to the parameters of a net. The trainer uses
// it to load and save weights, the compiler to embed weights, and the C API to
// load weights into arrays of the caller.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/WeightFile.h"
#include "formats/caffe.pb.h"
#include "plan/plan.pb.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace brew::caffe {

/// A blob of a layer, as weight files store it: the layer owns its parameter or
/// shares another layer's parameter.
struct LayerBlob {
  /// The parameter of the plan; null for nets without a plan, and if the layer
  /// has no such parameter.
  const plan::Parameter *parameter;
  std::vector<std::int64_t> dims; ///< in weight files
  bool sharer; ///< the layer does not own the parameter but shares it
  /// The number of the buffer, or of the caller's array, with the values;
  /// nullopt: the layer has no such parameter.
  std::optional<std::uint32_t> buffer;
  /// A file needs only the same element count, in any shape.
  bool anyShape = false;
};

/// A layer of a net, with its blobs as weight files store them, by index.
struct LayerBlobs {
  std::string name;
  std::string type; ///< Caffe's layer type
  std::vector<LayerBlob> blobs;
};

/// Returns all layers of a plan that have parameters, in the net's order. They
/// point into `manifest`. Throws Error (1) if the plan is damaged: a layer has
/// too many blobs, or a blob does not match its buffer.
std::vector<LayerBlobs> layersWithParameters(const plan::Manifest &manifest);

/// Returns whether the blobs of weight files need only as many elements as
/// those of a layer, in any shape: with DeepLab's `strict_dim: false`, and for
/// C3D's 3-D types, whose biases have four leading dimensions of 1 in files.
bool takesAnyShape(const LayerParameter &layer);

/// Returns whether a blob of a file has the dimensions `dims`. A legacy blob,
/// which always has four dimensions, needs only the same element count.
bool fits(const formats::Blob &blob, const std::vector<std::int64_t> &dims);

/// The matches between a weight file and a net.
struct WeightBinding {
  /// Pairs of a buffer and the blob with its values. The blobs are in the
  /// weights or in `synthesized`.
  std::vector<std::pair<std::uint32_t, const formats::Blob *>> values;
  /// Blobs that are computed from blobs of the file.
  std::deque<formats::Blob> synthesized;
  std::vector<const LayerBlobs *> matched;
  std::vector<std::string> onlyInFile, onlyInNet; ///< names of layers
  /// Names of matched layers with values that are NaN or infinite.
  std::vector<std::string> notFinite;
};

/// Matches `weights` to `layers` by layer name; both must outlive the result.
/// Throws Error (1) that lists every blob that does not fit. `source` names the
/// weights in messages. Converts between the BatchNorm blobs of NVCaffe (five)
/// and Caffe (three) where that is lossless.
WeightBinding matchWeights(const std::vector<LayerBlobs> &layers,
                           const formats::Weights &weights,
                           const std::string &source);

/// Like matchWeights(), and throws Error (1) if no layer is in both.
WeightBinding bindWeights(const std::vector<LayerBlobs> &layers,
                          const formats::Weights &weights,
                          const std::string &source);

/// Returns lines about the layers that only the file or only the net has,
/// without the net's layers in `except`: Caffe's line for each layer of the
/// file, then one line for all layers of the net.
std::vector<std::string>
unmatchedLayersLines(const WeightBinding &binding,
                     const std::vector<std::string> &except = {});

/// Returns a warning about weights that are NaN or infinite, or nullopt.
std::optional<std::string> notFiniteText(const WeightBinding &binding);

/// A tensor of a solver's history, for which a snapshot must have values.
struct HistoryTensor {
  std::string parameter; ///< "conv1/0", for messages
  std::vector<std::int64_t> dims;
};

/// Checks that a snapshot has values for all tensors, which are in Caffe's
/// order. Throws Error (1) that lists the differences. `source` names the
/// snapshot.
void checkHistory(const std::vector<formats::Blob> &history,
                  const std::vector<HistoryTensor> &tensors,
                  const std::string &source);

} // namespace brew::caffe
