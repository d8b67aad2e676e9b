//===- host_layer.hpp - Layers that the host program computes ---*- C++ -*-===//
//
//   class Twice : public brew::api::HostLayer {
//   public:
//     static std::vector<brew::api::HostShape>
//     shapes(const brew::api::HostSetup &setup) {
//       return {setup.bottoms.at(0)};
//     }
//     explicit Twice(const brew::api::HostSetup &) {}
//     void forward(const brew::api::HostCall &call) override {
//       call.withType([&](auto value) {
//         using Value = decltype(value);
//         const Value *x = call.bottom(0).values<Value>();
//         Value *y = call.top(0).values<Value>();
//         for (std::int64_t i = 0; i < call.top(0).count(); ++i)
//           y[i] = 2 * x[i];
//       });
//     }
//   };
//   ...
//   options.hostLayers = {brew::api::hostLayer<Twice>("Twice")};
//
// Header-only, over host_layer.h, which documents the structures and when
// functions are called. An exception of a layer fails the call that needed the
// layer: an Error with its status, any other exception with BREW_BAD_INPUT.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/base.hpp>
#include <brew/host_layer.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace brew::api {

/// Dimensions; empty: a scalar.
using HostShape = std::vector<std::int64_t>;

/// A layer of a net, as passed to its class.
struct HostSetup {
  std::string type, layer;
  std::string settings; ///< the layer's prototxt
  std::string paramStr; ///< python_param.param_str
  bool testPhase = false;
  std::vector<HostShape> bottoms;
  std::vector<HostShape> tops; ///< empty in a call for their shapes
  std::size_t topCount = 0;
};

/// A bottom or top in a call; row-major. Valid during the call.
class HostBlob {
public:
  HostBlob(const brew_host_blob &blob, bool f64) : blob(blob), f64(f64) {}

  HostShape dims() const { return {blob.dims, blob.dims + blob.ndim}; }
  std::int64_t count() const { return blob.count; }
  /// Read-only for bottoms; forward writes the values of tops. `Value` must be
  /// double in plans of --precision=f64, else float; throws Error otherwise.
  template <typename Value = float> Value *values() const {
    return as<Value>(blob.values);
  }
  /// In backward, of tops: read-only; of bottoms: written, every element. Null
  /// for a bottom without gradient.
  template <typename Value = float> Value *gradient() const {
    return as<Value>(blob.gradient);
  }

private:
  template <typename Value> Value *as(void *data) const {
    static_assert(std::is_same_v<Value, float> ||
                  std::is_same_v<Value, double>);
    if (std::is_same_v<Value, double> != f64)
      throw Error(BREW_BAD_INPUT,
                  f64 ? "the plan computes in double, this layer in float"
                      : "the plan computes in float, this layer in double");
    return static_cast<Value *>(data);
  }
  const brew_host_blob &blob;
  bool f64;
};

class HostCall {
public:
  explicit HostCall(const brew_host_call &call) : call(call) {}

  bool f64() const { return call.f64; }
  std::size_t bottoms() const { return call.bottom_count; }
  std::size_t tops() const { return call.top_count; }
  /// Throws Error if there is no bottom of this number.
  HostBlob bottom(std::size_t index) const {
    return blob(call.bottoms, call.bottom_count, index, "bottom");
  }
  HostBlob top(std::size_t index) const {
    return blob(call.tops, call.top_count, index, "top");
  }
  /// Calls `use` with a value of the element type.
  template <typename Use> void withType(Use &&use) const {
    if (f64())
      use(double());
    else
      use(float());
  }

private:
  HostBlob blob(const brew_host_blob *blobs, std::size_t count,
                std::size_t index, const char *what) const {
    if (index >= count)
      throw Error(BREW_BAD_INPUT, std::string("it has no ") + what + " " +
                                      std::to_string(index));
    return {blobs[index], f64()};
  }
  const brew_host_call &call;
};

/// One layer of one program of a session.
class HostLayer {
public:
  virtual ~HostLayer() = default;
  virtual void forward(const HostCall &call) = 0;
  /// A class without an override has no backward pass.
  virtual void backward(const HostCall &) {
    throw Error(BREW_BAD_INPUT, "it has no backward pass");
  }
};

/// A host layer type and its name, for sessions and compilers.
class HostLayerType {
public:
  /// Copies everything except `user`.
  HostLayerType(const brew_host_layer &layer)
      : functions(layer), name(layer.type ? layer.type : "") {}

  /// Valid as long as this object and `user`; libraries copy it.
  brew_host_layer get() const {
    brew_host_layer layer = functions;
    layer.type = name.c_str();
    return layer;
  }

private:
  brew_host_layer functions;
  std::string name;
};

namespace detail {

inline void setMessage(char *message, std::size_t size,
                       const char *text) noexcept {
  if (!message || !size)
    return;
  const std::size_t length =
      std::strlen(text) < size ? std::strlen(text) : size - 1;
  std::memcpy(message, text, length);
  message[length] = '\0';
}

/// Runs `body` and converts its exceptions to a status.
template <typename Arguments, typename Body>
brew_status catchAll(Arguments *arguments, Body &&body) noexcept {
  try {
    body();
    return BREW_OK;
  } catch (const Error &error) {
    setMessage(arguments->message, arguments->message_size, error.what());
    return error.status();
  } catch (const std::bad_alloc &) {
    setMessage(arguments->message, arguments->message_size, "out of memory");
    return BREW_UNAVAILABLE;
  } catch (const std::exception &error) {
    setMessage(arguments->message, arguments->message_size, error.what());
  } catch (...) {
    setMessage(arguments->message, arguments->message_size,
               "it threw something of unknown kind");
  }
  return BREW_BAD_INPUT;
}

inline HostShape copyOf(const brew_host_shape &shape) {
  return {shape.dims, shape.dims + shape.ndim};
}

inline HostSetup copyOf(const brew_host_setup &setup, bool withTops) {
  HostSetup result;
  result.type = setup.type;
  result.layer = setup.layer;
  result.settings = setup.settings;
  result.paramStr = setup.param_str;
  result.testPhase = setup.test_phase;
  for (std::size_t i = 0; i < setup.bottom_count; ++i)
    result.bottoms.push_back(copyOf(setup.bottoms[i]));
  result.topCount = setup.top_count;
  for (std::size_t i = 0; withTops && i < setup.top_count; ++i)
    result.tops.push_back(copyOf(setup.tops[i]));
  return result;
}

template <typename Layer, typename = void>
struct HasShapes : std::false_type {};
template <typename Layer>
struct HasShapes<Layer, std::void_t<decltype(&Layer::shapes)>>
    : std::true_type {};

template <typename Layer> brew_status hostShapes(brew_host_setup *setup) {
  return catchAll(setup, [&] {
    const std::vector<HostShape> shapes = Layer::shapes(copyOf(*setup, false));
    if (shapes.size() != setup->top_count)
      throw Error(BREW_BAD_INPUT, "it gives shapes of " +
                                      std::to_string(shapes.size()) +
                                      " tops, the layer has " +
                                      std::to_string(setup->top_count));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i].size() > BREW_MAX_DIMS)
        throw Error(BREW_BAD_INPUT, "a top has more dimensions than " +
                                        std::to_string(BREW_MAX_DIMS));
      setup->tops[i].ndim = shapes[i].size();
      for (std::size_t d = 0; d < shapes[i].size(); ++d)
        setup->tops[i].dims[d] = shapes[i][d];
    }
  });
}

template <typename Layer>
brew_status hostCreate(brew_host_setup *setup, void **instance) {
  return catchAll(setup, [&] {
    if constexpr (std::is_constructible_v<Layer, const HostSetup &>)
      *instance = static_cast<HostLayer *>(new Layer(copyOf(*setup, true)));
    else
      *instance = static_cast<HostLayer *>(new Layer());
  });
}

inline void hostDestroy(void *instance, void *) {
  delete static_cast<HostLayer *>(instance);
}
inline brew_status hostForward(brew_host_call *call) {
  return catchAll(call, [&] {
    static_cast<HostLayer *>(call->instance)->forward(HostCall(*call));
  });
}
inline brew_status hostBackward(brew_host_call *call) {
  return catchAll(call, [&] {
    static_cast<HostLayer *>(call->instance)->backward(HostCall(*call));
  });
}

} // namespace detail

/// Makes the type of a class derived from HostLayer. The class has a
/// constructor with a `const HostSetup &` or without parameters and, for
/// compiling nets, `static std::vector<HostShape> shapes(const HostSetup &)`.
template <typename Layer> HostLayerType hostLayer(const std::string &type) {
  static_assert(std::is_base_of_v<HostLayer, Layer>);
  auto layer = makeStruct<brew_host_layer>();
  layer.type = type.c_str();
  if constexpr (detail::HasShapes<Layer>::value)
    layer.shapes = detail::hostShapes<Layer>;
  layer.create = detail::hostCreate<Layer>;
  layer.destroy = detail::hostDestroy;
  layer.forward = detail::hostForward;
  // Whether the class or one of its bases overrides backward().
  if constexpr (!std::is_same_v<decltype(&Layer::backward),
                                void (HostLayer::*)(const HostCall &)>)
    layer.backward = detail::hostBackward;
  return HostLayerType(layer);
}

} // namespace brew::api
