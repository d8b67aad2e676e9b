//===- HostLayers.h - Layers computed by the host program -------*- C++ -*-===//
//
// The embedding program provides types of host layers; an executor owns their
// instances. The C API is include/brew/host_layer.h.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/plan.pb.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime {

/// The description of a layer that its constructor receives.
struct HostLayerSetup {
  std::string type, layer;
  std::string settings; ///< caffe.LayerParameter as text
  std::string paramStr; ///< its python_param.param_str
  bool testPhase = false;
  std::vector<std::vector<std::int64_t>> bottoms, tops; ///< dimensions
};

/// A bottom or top of a call: dense row-major values of the plan's precision.
struct HostLayerBlob {
  std::vector<std::int64_t> dims;
  std::int64_t count = 1;
  void *values = nullptr;   ///< forward reads bottoms and writes tops
  void *gradient = nullptr; ///< backward reads tops and writes bottoms; null
                            ///< for a bottom without a gradient
};

/// The arguments of a call of a host layer.
struct HostLayerArguments {
  bool f64 = false; ///< elements are double, else float
  std::vector<HostLayerBlob> bottoms, tops;
};

/// One layer of one program of an executor. On failure its functions throw
/// Error, without the layer's name.
class HostLayer {
public:
  virtual ~HostLayer() = default;
  virtual void forward(HostLayerArguments &arguments) = 0;
  virtual void backward(HostLayerArguments &arguments) = 0;
  /// Returns the state on which later calls depend besides their arguments;
  /// empty: none.
  virtual std::vector<double> state() const { return {}; }
  /// Restores a result of state() of an equal layer. Throws Error (1) if the
  /// state is invalid.
  virtual void restore(const std::vector<double> &) {}
};

/// A type of host layers. Thread-safe.
class HostLayerType {
public:
  virtual ~HostLayerType() = default;
  /// Returns whether layers of this type compute gradients.
  virtual bool hasBackward() const = 0;
  /// Creates a layer. Throws Error, without the layer's name.
  virtual std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const = 0;
};

/// Host layer types by name.
using HostLayerTypes =
    std::map<std::string, std::shared_ptr<const HostLayerType>>;

/// The host layers of one executor, each created at its first call.
class HostLayers {
public:
  /// `types` may be null: no types besides the built-in ones.
  HostLayers(const plan::Manifest &manifest,
             std::shared_ptr<const HostLayerTypes> types)
      : manifest(manifest), types(std::move(types)) {}

  /// Computes a step of a program. Throws Error that names the layer: (2) if
  /// its type is unknown, (1) if a backward pass is needed and the type has
  /// none, or the error of the layer.
  void call(int program, const plan::Step &step, HostLayerArguments &arguments);

  /// States of layers (HostLayer::state) by name: "host PROGRAM/LAYER", with a
  /// number if that is not unique.
  using States = std::map<std::string, std::vector<double>>;
  States states() const;
  /// Returns whether `name` is the name of a layer of the plan.
  bool hasState(const std::string &name) const;
  /// Restores the states of layers, each before its next call. Resets all other
  /// layers. Ignores states of unknown layers.
  void restore(const States &states);

private:
  /// Returns the built-in type or the program's type of this name, or null.
  const HostLayerType *find(const std::string &type) const;
  HostLayer &findOrCreate(int program, const HostLayerType &type,
                          const plan::Step &step);
  std::string uniqueName(const std::string &name) const;

  struct Layer {
    std::string name;
    std::unique_ptr<HostLayer> instance;
  };
  const plan::Manifest &manifest;
  std::shared_ptr<const HostLayerTypes> types;
  /// Layers by program and settings, which contain name, bottoms and tops:
  /// names need not be unique.
  std::map<std::pair<int, std::string>, Layer> layers;
  States pendingStates; ///< to restore before the next call of their layers
};

} // namespace brew::runtime
