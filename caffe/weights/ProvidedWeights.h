//===- ProvidedWeights.h - Parameters that fillers alone have set ---*- C++ -*-===//
#pragma once

#include "caffe/weights/WeightBinding.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace brew::caffe {

/// Which parameters of a plan have values that somebody gave: the plan, the
/// prototxt, a weight file, or a caller. The others have those of their
/// fillers, with which a net for inference computes nonsense.
class ProvidedWeights {
public:
  /// What the plan itself gives: its embedded weights, and layers of which the
  /// prototxt has blobs.
  explicit ProvidedWeights(const plan::Manifest &manifest);

  /// Adds the values of a weight file. A layer that the file has is complete,
  /// whatever it has of it.
  void add(const WeightBinding &binding);
  /// Adds those of a layer, which the prototxt gives.
  void add(const plan::Manifest &manifest, const std::string &layer);
  /// Adds the values of a parameter.
  void add(std::uint32_t bufferIndex) { buffers.insert(bufferIndex); }
  void addAll() { hasAll = true; }

  /// The layers that have parameters of their own without given values, in the
  /// order of `layers`.
  std::vector<std::string>
  layersWithoutWeights(const std::vector<FileLayer> &layers) const;

private:
  std::set<std::uint32_t> buffers;
  bool hasAll = false;
};

/// Whether a lack of weights is an error, a warning, or worth a note.
enum class MissingWeights { Refuse, Warn, Note };

/// The text of an error, or a warning, about weights that lack `layers`. It
/// begins with the names of the files, if there are any.
std::string missingWeightsText(const std::vector<std::string> &files,
                               const std::vector<std::string> &layers,
                               bool isError);

} // namespace brew::caffe
