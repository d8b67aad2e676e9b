//===- NetWeights.h - Weights of a net in arrays ----------------*- C++ -*-===//
#pragma once

#include "Arrays.h"
#include "ExitGuard.h"

#include <brew/weights.hpp>

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace brew::python {

/// The weights of a net and the arrays that they refer to.
class NetWeights {
public:
  explicit NetWeights(const nanobind::bytes &net)
      : weights(api::Weights::ofNet(viewOf(net))) {}

  api::Weights &get() { return weights; }

  void addLayer(const nanobind::bytes &layer) {
    weights.addLayer(viewOf(layer));
  }

  void addBlob(FloatArray data, std::optional<FloatArray> diff, bool isShared) {
    if (diff && shapeOf(*diff) != shapeOf(data))
      throw api::Error(BREW_USAGE,
                       "a blob and its gradient have different shapes");
    weights.addBlob(shapeOf(data), data.data(), diff ? diff->data() : nullptr,
                    isShared);
    arrays.push_back(std::move(data));
    if (diff)
      arrays.push_back(std::move(*diff));
  }

  /// Returns for each blob whether the file has values for it.
  nanobind::list copyFrom(const api::Weights &file, const std::string &source) {
    {
      const GilRelease released;
      weights.copyFrom(file, source);
    }
    nanobind::list loaded;
    for (std::size_t i = 0; i < weights.layers(); ++i)
      for (std::size_t k = 0; k < weights.layer(i).blobs; ++k)
        loaded.append(weights.blob(i, k).is_loaded != 0);
    return loaded;
  }

  void write(const std::string &path, bool hdf5) {
    const GilRelease released;
    weights.write(path, hdf5 ? BREW_HDF5 : BREW_BINARY_PROTO);
  }

private:
  api::Weights weights;
  std::vector<FloatArray> arrays;
};

} // namespace brew::python
