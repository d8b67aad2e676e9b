//===- LayerKinds.h - Caffe's layer types -----------------------*- C++ -*-===//
//
// One row per layer type: what Caffe fixes about it whatever its settings, how
// its settings are checked, which parameters it has, and which operations it
// becomes. The rows lie in layers/*.cpp, by subject. No MLIR here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::prototxt {

class LayerBuilder;
class LayerChecker;

/// A parameter blob that a layer has.
struct ParamBlob {
  const caffe::FillerParameter *filler = nullptr;
  /// A running statistic: no solver ever changes it.
  bool isStatistic = false;
  /// The layer sets lr_mult and decay_mult itself, whatever the prototxt says:
  /// 0 for a statistic, else 1.
  bool setsMultipliers = false;
};

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
  /// Its backward pass computes all parameters' gradients, whatever lr_mult.
  bool differentiatesFrozen = false;
  /// Caffe drops weights that the prototxt gives in `blobs`.
  bool ignoresBlobs = false;
  /// How many of `blobs` may be given too, where that is not the number of
  /// parameters: the layer makes the others itself. 0: no other number.
  int otherBlobCount = 0;
  /// Bottoms that force_backward gives no gradient, such as labels: a bit each.
  std::uint32_t bottomsWithoutForcedGradient = 0;
  /// A block of LayerParameter that the type has an error of its own for.
  const char *refusedBlock = "";

  /// Reports what is wrong with the settings, as far as it can be said without
  /// shapes; null: nothing can be.
  void (*check)(LayerChecker &) = nullptr;
  /// The parameters in the order of their indices; null: none.
  std::vector<ParamBlob> (*params)(const caffe::LayerParameter &) = nullptr;
  /// Turns a checked layer into operations.
  void (*build)(LayerBuilder &) = nullptr;

  bool reads(const std::string &block) const;
  /// Whether force_backward makes bottom `index` get a gradient that nothing
  /// else asks for. Labels and the like never do.
  bool allowsForcedGradient(int index) const {
    return !(bottomsWithoutForcedGradient >> index & 1);
  }

  // For the rows: the same kind with one thing more.
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
  constexpr LayerKind builtBy(void (*function)(LayerBuilder &)) const {
    LayerKind kind = *this;
    kind.build = function;
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
  /// force_backward leaves out these bottoms, and no others.
  template <typename... Indices>
  constexpr LayerKind withoutForcedGradient(Indices... indices) const {
    LayerKind kind = *this;
    kind.bottomsWithoutForcedGradient = (0u | ... | (1u << indices));
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

// The usual kinds.

/// No bottoms.
constexpr LayerKind sourceKind(const char *type, int minTops, int maxTops,
                               const char *settings) {
  return {type, 0, 0, minTops, maxTops, settings};
}
/// One bottom, one top.
constexpr LayerKind plainKind(const char *type, const char *settings = "") {
  return {type, 1, 1, 1, 1, settings};
}
/// One bottom, one top, elementwise.
constexpr LayerKind neuronKind(const char *type, const char *settings = "") {
  return plainKind(type, settings).inPlace();
}
/// A loss whose second bottom are labels.
constexpr LayerKind lossKind(const char *type, int minBottoms, int maxBottoms,
                             int maxTops, const char *settings) {
  LayerKind kind = {type, minBottoms, maxBottoms, 1, maxTops, settings};
  kind.isLoss = true;
  return kind.withoutForcedGradient(1);
}

using LayerRows = std::vector<LayerKind>;

// The rows of each file under layers/.
LayerRows annotatedLayers();
LayerRows convolutionLayers();
LayerRows dataLayers();
LayerRows detectionLayers();
LayerRows elementwiseLayers();
LayerRows expressionLayers();
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
LayerRows deepSkeletonLayers();
LayerRows structuralLayers();

/// The type of that name, or null.
const LayerKind *findLayerKind(const std::string &type);

/// Any type that the compiler was told the program computes itself.
const LayerKind &declaredHostKind();

/// The parameters of a layer of that kind, in the order of their indices.
std::vector<ParamBlob> paramsOf(const LayerKind &kind,
                                const caffe::LayerParameter &layer);

/// The known type that an unknown one most likely is a misspelling of, or null:
/// types that a fork of Caffe owns are none.
const LayerKind *suggestedLayerKind(const std::string &type);

/// What is wrong with `type`, for a diagnostic: the fork of Caffe that owns it,
/// or the nearest known type.
std::string unknownTypeText(const std::string &type);

} // namespace brew::prototxt
