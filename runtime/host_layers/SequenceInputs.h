//===- SequenceInputs.h - Inputs of layers of text recognition --*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "runtime/host_layers/HostLayers.h"
#include "support/Error.h"

#include <google/protobuf/text_format.h>

namespace brew::runtime {

/// Returns the settings of a layer whose first bottom are scores. Throws Error
/// (1) unless it has at least `minBottoms` bottoms, of two dimensions or more.
inline caffe::LayerParameter sequenceSettings(const HostLayerSetup &setup,
                                              std::size_t minBottoms = 2) {
  caffe::LayerParameter layer;
  bool isValid =
      google::protobuf::TextFormat::ParseFromString(setup.settings, &layer) &&
      setup.bottoms.size() >= minBottoms && setup.bottoms[0].size() >= 3;
  for (const auto &bottom : setup.bottoms)
    isValid = isValid && bottom.size() >= 2;
  if (!isValid)
    throw badInput("damaged plan: not the settings and bottoms of a " +
                   setup.type);
  return layer;
}

/// The indicators and labels of caffe-ctc (time steps, items).
template <typename Real> class Sequences {
public:
  Sequences(const HostLayerArguments &arguments, std::int64_t steps,
            std::int64_t items)
      : arguments(arguments), steps(steps), items(items) {}

  /// Returns the number of time steps of an item.
  std::int64_t lengthOf(std::int64_t item) const {
    std::int64_t length = 1;
    while (length < steps && static_cast<int>(at(1, length, item) + 0.5) != 0)
      ++length;
    return length;
  }
  /// Returns the labels of an item, up to the first negative one.
  std::vector<int> labelsOf(std::int64_t item) const {
    std::vector<int> labels;
    for (std::int64_t t = 0; t < steps && at(2, t, item) >= 0; ++t)
      labels.push_back(static_cast<int>(at(2, t, item) + 0.5));
    return labels;
  }

private:
  double at(std::size_t bottom, std::int64_t step, std::int64_t item) const {
    return static_cast<const Real *>(
        arguments.bottoms[bottom].values)[step * items + item];
  }

  const HostLayerArguments &arguments;
  const std::int64_t steps, items;
};

} // namespace brew::runtime
