//===- HostLayers.h - Layers that the host program computes -----*- C++ -*-===//
//
// What the program around the runtime gives for layers of its own types, and
// what an executor keeps of them. The C API's form of it is
// include/brew/host_layer.h.
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

/// A layer, as its functions get to know it.
struct HostLayerSetup {
  std::string type, layer;
  std::string settings; ///< caffe.LayerParameter as text
  std::string paramStr; ///< its python_param.param_str
  bool testPhase = false;
  std::vector<std::vector<std::int64_t>> bottoms, tops; ///< dimensions
};

/// A bottom or top in a call: dense row-major values of the plan's precision.
struct HostLayerBlob {
  std::vector<std::int64_t> dims;
  std::int64_t count = 1;
  void *values = nullptr;   ///< of bottoms read, of tops written by forward
  void *gradient = nullptr; ///< in backward: of tops read, of bottoms written;
                            ///< null for a bottom that gets none
};

struct HostLayerArguments {
  bool f64 = false; ///< elements are double, else float
  std::vector<HostLayerBlob> bottoms, tops;
};

/// One layer of one program of an executor. Its functions say why they failed
/// by throwing Error, without the layer's name.
class HostLayer {
public:
  virtual ~HostLayer() = default;
  virtual void forward(HostLayerArguments &arguments) = 0;
  virtual void backward(HostLayerArguments &arguments) = 0;
  /// What later calls depend on beside their arguments; empty: nothing.
  virtual std::vector<double> state() const { return {}; }
  /// Goes on from what state() of an equal layer gave. Throws Error (1) if it
  /// cannot have given that.
  virtual void restore(const std::vector<double> &) {}
};

/// A type of layers. Used from several threads at a time.
class HostLayerType {
public:
  virtual ~HostLayerType() = default;
  /// Whether a gradient passes such layers.
  virtual bool hasBackward() const = 0;
  /// Throws like a HostLayer.
  virtual std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const = 0;
};

/// By the name of the type.
using HostLayerTypes = std::map<std::string, std::shared_ptr<const HostLayerType>>;

/// The layers of one executor, each made before its first call.
class HostLayers {
public:
  /// `types` may be null: there are none.
  HostLayers(const plan::Manifest &manifest,
             std::shared_ptr<const HostLayerTypes> types)
      : manifest(manifest), types(std::move(types)) {}

  /// Computes a step of a program. Throws Error that names the layer: (2) if
  /// nobody gave its type, (1) if it has to pass a gradient and cannot, else
  /// what its functions say.
  void call(int program, const plan::HostCall &step, HostLayerArguments &arguments);

  /// What layers remember of their calls (HostLayer::state), by the name of
  /// each: "host PROGRAM/LAYER", with a number where that is not unique.
  using States = std::map<std::string, std::vector<double>>;
  States states() const;
  /// Whether `name` is that of a layer of the plan.
  bool hasState(const std::string &name) const;
  /// Lets the layers go on from there, each from its next call on; others begin
  /// anew. What the plan has no layer for is left out.
  void restore(const States &states);

private:
  /// The program's type of that name or the runtime's own, or null.
  const HostLayerType *find(const std::string &type) const;
  HostLayer &instance(int program, const HostLayerType &type,
                         const plan::HostCall &step);
  std::string uniqueName(const std::string &name) const;

  struct Layer {
    std::string name;
    std::unique_ptr<HostLayer> instance;
  };
  const plan::Manifest &manifest;
  std::shared_ptr<const HostLayerTypes> types;
  /// By program and settings, which hold name, bottoms and tops: names need not
  /// be unique.
  std::map<std::pair<int, std::string>, Layer> layers;
  States pendingStates; ///< for the next call of their layers
};

} // namespace brew::runtime
