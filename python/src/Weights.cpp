//===- Weights.cpp - Bindings of weight files -----------------------------===//
#include "Arrays.h"
#include "ExitGuard.h"
#include "Module.h"
#include "NetWeights.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;
using brew::api::Weights;
using brew::python::NetWeights;
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
