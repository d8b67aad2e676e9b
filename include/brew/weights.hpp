//===- weights.hpp - Weight files as arrays ---------------------*- C++ -*-===//
//
// Part of brew.hpp, which documents the rules common to all calls.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/support.hpp>
#include <brew/weights.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace brew::api {

namespace detail {

inline brew_snapshot_blob snapshotBlob(const std::vector<std::int64_t> &dims,
                                       float *values, const float *diffs,
                                       bool isShared) {
  auto blob = makeStruct<brew_snapshot_blob>();
  if (dims.size() > BREW_MAX_DIMS)
    throw Error(BREW_USAGE, "the blob has too many dimensions");
  blob.ndim = dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i)
    blob.dims[i] = dims[i];
  blob.values = values;
  blob.diffs = diffs;
  blob.is_shared = isShared;
  return blob;
}

} // namespace detail

/// The weights of a file, or arrays of the caller: the weights of a net.
class Weights {
public:
  static Weights read(const std::string &path) {
    return open([&](brew_weights **weights) {
      return brew_weights_read(path.c_str(), weights);
    });
  }
  static Weights parse(std::string_view bytes, const std::string &source) {
    return open([&](brew_weights **weights) {
      return brew_weights_parse(bytes.data(), bytes.size(), source.c_str(),
                                weights);
    });
  }
  /// `net`: an encoded NetParameter without layers.
  static Weights ofNet(std::string_view net) {
    return open([&](brew_weights **weights) {
      return brew_weights_create(net.data(), net.size(), weights);
    });
  }

  brew_weights *get() const { return weights.get(); }
  std::size_t layers() const { return brew_weights_layers(weights.get()); }
  brew_weight_layer layer(std::size_t index) {
    auto result = makeStruct<brew_weight_layer>();
    check(brew_weights_layer(weights.get(), index, &result));
    return result;
  }
  brew_snapshot_blob blob(std::size_t layer, std::size_t index) {
    auto result = makeStruct<brew_snapshot_blob>();
    check(brew_weights_blob(weights.get(), layer, index, &result));
    return result;
  }

  /// `layer`: an encoded LayerParameter without blobs.
  void addLayer(std::string_view layer) {
    check(brew_weights_add_layer(weights.get(), layer.data(), layer.size()));
  }
  /// Adds a blob to the last layer. `values` and `diffs`, which may be null,
  /// must outlive this object.
  void addBlob(const std::vector<std::int64_t> &dims, float *values,
               const float *diffs = nullptr, bool isShared = false) {
    const brew_snapshot_blob blob =
        detail::snapshotBlob(dims, values, diffs, isShared);
    check(brew_weights_add_blob(weights.get(), &blob));
  }
  /// Copies the weights of a file to these arrays.
  void copyFrom(const Weights &file, const std::string &source) {
    check(brew_weights_copy(file.weights.get(), weights.get(), source.c_str()));
  }
  void write(const std::string &path,
             brew_snapshot_format format = BREW_BINARY_PROTO) {
    check(brew_weights_write(weights.get(), path.c_str(), format));
  }

private:
  template <typename Call> static Weights open(Call call) {
    brew_weights *opened = nullptr;
    const brew_status status = call(&opened);
    Weights result;
    result.weights.reset(opened);
    result.check(status);
    return result;
  }
  Weights() = default;
  void check(brew_status status) const {
    detail::check(status, brew_weights_message(weights.get()));
  }

  detail::UniqueHandle<brew_weights, brew_weights_destroy> weights;
};

} // namespace brew::api
