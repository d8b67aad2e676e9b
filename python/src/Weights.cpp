//===- Weights.cpp - Bindings of weight files -----------------------------===//
#include "Arrays.h"
#include "ExitGuard.h"
#include "Module.h"

#include <brew/weights.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;
using brew::api::Weights;
using brew::python::FloatArray;
using brew::python::shapeOf;
using brew::python::viewOf;

namespace {

/// Returns an array that uses the memory of a blob, which belongs to `owner`;
/// None for a blob whose values the file does not contain.
nb::object arrayOf(const brew_snapshot_blob &blob, nb::handle owner) {
  if (!blob.values && blob.is_shared)
    return nb::none();
  const std::vector<std::size_t> shape(blob.dims, blob.dims + blob.ndim);
  return nb::cast(nb::ndarray<nb::numpy, float>(blob.values, shape.size(),
                                                shape.data(), owner),
                  nb::rv_policy::reference);
}

/// The weights of a net and the arrays that they refer to.
class NetWeights {
public:
  explicit NetWeights(const nb::bytes &net)
      : weights(Weights::ofNet(viewOf(net))) {}

  void addLayer(const nb::bytes &layer) { weights.addLayer(viewOf(layer)); }

  void addBlob(FloatArray data, std::optional<FloatArray> diff, bool isShared) {
    if (diff && shapeOf(*diff) != shapeOf(data))
      throw brew::api::Error(BREW_USAGE,
                             "a blob and its gradient have different shapes");
    weights.addBlob(shapeOf(data), data.data(), diff ? diff->data() : nullptr,
                    isShared);
    arrays.push_back(std::move(data));
    if (diff)
      arrays.push_back(std::move(*diff));
  }

  /// Returns for each blob whether the file has values for it.
  nb::list copyFrom(const Weights &file, const std::string &source) {
    {
      const brew::python::GilRelease released;
      weights.copyFrom(file, source);
    }
    nb::list loaded;
    for (std::size_t i = 0; i < weights.layers(); ++i)
      for (std::size_t k = 0; k < weights.layer(i).blobs; ++k)
        loaded.append(weights.blob(i, k).is_loaded != 0);
    return loaded;
  }

  void write(const std::string &path, bool hdf5) {
    const brew::python::GilRelease released;
    weights.write(path, hdf5 ? BREW_HDF5 : BREW_BINARY_PROTO);
  }

private:
  Weights weights;
  std::vector<FloatArray> arrays;
};

/// Returns (name, arrays) of each layer.
nb::list layersOf(nb::handle_t<Weights> self) {
  auto &weights = nb::cast<Weights &>(self);
  nb::list layers;
  for (std::size_t i = 0; i < weights.layers(); ++i) {
    const brew_weight_layer layer = weights.layer(i);
    nb::list arrays;
    for (std::size_t k = 0; k < layer.blobs; ++k)
      arrays.append(arrayOf(weights.blob(i, k), self));
    layers.append(nb::make_tuple(nb::str(layer.name), arrays));
  }
  return layers;
}

} // namespace

void brew::python::bindWeights(nb::module_ &module) {
  nb::class_<Weights>(module, "WeightFile")
      .def_static(
          "read",
          [](const std::string &path) {
            const brew::python::GilRelease released;
            return Weights::read(path);
          },
          "path"_a)
      .def_static(
          "parse",
          [](const nb::bytes &bytes, const std::string &source) {
            return Weights::parse(viewOf(bytes), source);
          },
          "bytes"_a, "source"_a)
      .def("layers", &layersOf);
  nb::class_<NetWeights>(module, "NetWeights")
      .def(nb::init<const nb::bytes &>(), "net"_a)
      .def("add_layer", &NetWeights::addLayer, "layer"_a)
      .def("add_blob", &NetWeights::addBlob, "data"_a.noconvert(),
           "diff"_a.noconvert() = nb::none(), "shared"_a = false)
      .def("copy_from", &NetWeights::copyFrom, "file"_a, "source"_a)
      .def("write", &NetWeights::write, "path"_a, "hdf5"_a);
}
