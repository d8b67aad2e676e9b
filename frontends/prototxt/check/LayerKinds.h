//===- LayerKinds.h - Caffe's layer types -----------------------*- C++ -*-===//
//
// One row for each layer type: its properties that do not depend on settings,
// the check of its settings, and its parameters. The rows are in layers/*.cpp,
// by subject. The operations of each type are in import/layers/*.cpp, so that
// the rows do not depend on MLIR.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::prototxt {

class LayerChecker;

/// A parameter blob of a layer.
struct ParamBlob {
  const caffe::FillerParameter *filler = nullptr;
  /// A running statistic: no solver ever changes it.
  bool isStatistic = false;
  /// The layer sets lr_mult and decay_mult itself and ignores those in the
  /// prototxt: 0 for a statistic, else 1.
  bool setsMultipliers = false;
};

/// The properties of a layer type.
struct LayerKind {
  const char *type;
  /// Limits of the number of bottoms and tops; -1: unlimited.
  int minBottoms, maxBottoms;
  int minTops, maxTops;
  /// Blocks of LayerParameter that the type reads, separated by spaces.
  const char *settings = "";
  /// The layer has one top for each bottom.
  bool oneTopPerBottom = false;
  /// The default loss weight of the first top is 1, and a layer without tops
  /// has an automatic one.
  bool isLoss = false;
  /// Caffe can compute the layer in the memory of its bottom.
  bool worksInPlace = false;
  /// The layer's backward pass computes the gradients of all parameters, even
  /// if lr_mult is 0.
  bool differentiatesFrozen = false;
  /// Caffe ignores the layer's `blobs` in a prototxt.
  bool ignoresBlobs = false;
  /// Another valid number of `blobs`, besides the number of parameters; the
  /// layer initialises the other parameters itself. 0 if there is no other
  /// number.
  int otherBlobCount = 0;
  /// Set of bottoms that get no gradient from force_backward, such as labels:
  /// one bit for each bottom.
  std::uint32_t bottomsWithoutForcedGradient = 0;
  /// The layer's backward pass computes the gradients of this number of leading
  /// bottoms only; -1: of all.
  int differentiatedBottoms = -1;
  /// A block of LayerParameter that `check` rejects with its own error.
  const char *refusedBlock = "";

  /// Reports errors in the settings that do not depend on shapes. May be null.
  void (*check)(LayerChecker &) = nullptr;
  /// Returns the parameters in the order of their indices. Null: no parameters.
  std::vector<ParamBlob> (*params)(const caffe::LayerParameter &) = nullptr;

  /// Returns whether the type reads `block`, a field of LayerParameter.
  bool reads(const std::string &block) const;
  /// Returns whether the layer can compute the gradient of bottom `index`.
  bool differentiates(int index) const {
    return differentiatedBottoms < 0 || index < differentiatedBottoms;
  }
  /// Returns whether force_backward alone makes bottom `index` get a gradient.
  bool allowsForcedGradient(int index) const {
    return !(bottomsWithoutForcedGradient >> index & 1);
  }

  // Modifiers for the rows. Each returns a copy with one more property.
  constexpr LayerKind checkedBy(void (*function)(LayerChecker &)) const {
    LayerKind kind = *this;
    kind.check = function;
    return kind;
  }
  constexpr LayerKind withParams(
      std::vector<ParamBlob> (*function)(const caffe::LayerParameter &)) const {
    LayerKind kind = *this;
    kind.params = function;
    return kind;
  }
  constexpr LayerKind differentiatingFrozen() const {
    LayerKind kind = *this;
    kind.differentiatesFrozen = true;
    return kind;
  }
  constexpr LayerKind ignoringBlobs() const {
    LayerKind kind = *this;
    kind.ignoresBlobs = true;
    return kind;
  }
  constexpr LayerKind alsoTakingBlobs(int count) const {
    LayerKind kind = *this;
    kind.otherBlobCount = count;
    return kind;
  }
  /// Replaces the set of bottoms that get no gradient from force_backward.
  template <typename... Indices>
  constexpr LayerKind withoutForcedGradient(Indices... indices) const {
    LayerKind kind = *this;
    kind.bottomsWithoutForcedGradient = (0u | ... | (1u << indices));
    return kind;
  }
  constexpr LayerKind differentiatingBottoms(int count) const {
    LayerKind kind = *this;
    kind.differentiatedBottoms = count;
    return kind;
  }
  constexpr LayerKind refusing(const char *block) const {
    LayerKind kind = *this;
    kind.refusedBlock = block;
    return kind;
  }
  constexpr LayerKind inPlace() const {
    LayerKind kind = *this;
    kind.worksInPlace = true;
    return kind;
  }
};

// Common kinds.

/// A layer type without bottoms.
constexpr LayerKind sourceKind(const char *type, int minTops, int maxTops,
                               const char *settings) {
  return {type, 0, 0, minTops, maxTops, settings};
}
/// A layer type with one bottom and one top.
constexpr LayerKind plainKind(const char *type, const char *settings = "") {
  return {type, 1, 1, 1, 1, settings};
}
/// An elementwise layer type with one bottom and one top.
constexpr LayerKind neuronKind(const char *type, const char *settings = "") {
  return plainKind(type, settings).inPlace();
}
/// A loss whose second bottom contains labels.
constexpr LayerKind lossKind(const char *type, int minBottoms, int maxBottoms,
                             int maxTops, const char *settings) {
  LayerKind kind = {type, minBottoms, maxBottoms, 1, maxTops, settings};
  kind.isLoss = true;
  return kind.withoutForcedGradient(1);
}

using LayerRows = std::vector<LayerKind>;

// The rows of each file under layers/.
LayerRows annotatedLayers();
LayerRows arrayLayers();
LayerRows attentionLayers();
LayerRows convolutionLayers();
LayerRows dataLayers();
LayerRows denseBlockLayers();
LayerRows detectionLayers();
LayerRows elementwiseLayers();
LayerRows expressionLayers();
LayerRows functionLayers();
LayerRows indexingLayers();
LayerRows hostLayers();
LayerRows lossLayers();
LayerRows multiBoxLayers();
LayerRows neuronLayers();
LayerRows normalizationLayers();
LayerRows poolingLayers();
LayerRows proposalLayers();
LayerRows recurrentLayers();
LayerRows reductionLayers();
LayerRows resampleLayers();
LayerRows shapeLayers();
LayerRows yoloLayers();

/// Returns the rows of all files.
const LayerRows &layerKinds();

/// Returns the kind of a layer type, or null.
const LayerKind *findLayerKind(const std::string &type);

/// Returns the kind of all types that are declared as computed by the host
/// program.
const LayerKind &declaredHostKind();

/// Returns the parameters of a layer, in the order of their indices.
std::vector<ParamBlob> paramsOf(const LayerKind &kind,
                                const caffe::LayerParameter &layer);

/// Returns whether an unknown type is missing, or probably a misspelling of a
/// known one.
bool isTypeMisspelled(const std::string &type);

/// Returns the text of a diagnostic about an unknown type, which `layerCount`
/// layers have. It names the forks of Caffe that have the type, or the known
/// type that it is probably a misspelling of.
std::string unknownTypeText(const std::string &type, size_t layerCount = 1);

} // namespace brew::prototxt
