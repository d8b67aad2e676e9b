//===- ProvidedWeights.h - Parameters with explicit values ------*- C++ -*-===//
#pragma once

#include "caffe/weights/WeightBinding.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace brew::caffe {

/// The set of parameters of a plan with values from the plan, the prototxt, a
/// weight file or a caller. Other parameters have only the values of their
/// fillers, which are useless for inference.
class ProvidedWeights {
public:
  /// Starts with the values in the plan: embedded weights, and layers whose
  /// blobs are in the prototxt.
  explicit ProvidedWeights(const plan::Manifest &manifest);

  /// Adds the values of a weight file. A layer in the file counts as complete,
  /// even if the file lacks some of its blobs.
  void add(const WeightBinding &binding);
  /// Adds all parameters of a layer whose blobs are in the prototxt.
  void add(const plan::Manifest &manifest, const std::string &layer);
  /// Adds a parameter.
  void add(std::uint32_t bufferIndex) { buffers.insert(bufferIndex); }
  void addAll() { hasAll = true; }

  /// Returns the layers that own a parameter without provided values, in the
  /// order of `layers`.
  std::vector<std::string>
  layersWithoutWeights(const std::vector<LayerBlobs> &layers) const;

private:
  std::set<std::uint32_t> buffers;
  bool hasAll = false;
};

/// The severity of missing weights: error, warning or note.
enum class MissingWeights { Refuse, Warn, Note };

/// Returns the text of an error or a warning about `layers` without weights.
/// The text begins with the names of the weight files, if any.
std::string missingWeightsText(const std::vector<std::string> &files,
                               const std::vector<std::string> &layers,
                               bool isError);

} // namespace brew::caffe
