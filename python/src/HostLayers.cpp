//===- HostLayers.cpp - Layers implemented in Python ----------------------===//
#include "HostLayers.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace brew::python {

/// Returns the exception in Python's format: "ValueError: WHY".
static std::string textOf(nb::python_error &error) {
  try {
    std::string text = nb::cast<std::string>(error.type().attr("__name__"));
    const auto why = nb::cast<std::string>(nb::str(error.value()));
    return why.empty() ? text : text + ": " + why;
  } catch (...) {
    return "an exception without a message";
  }
}

void PythonLayerTypes::storeException(std::exception_ptr exception) {
  const std::lock_guard<std::mutex> lock(guard);
  thrown = std::move(exception);
}

void PythonLayerTypes::clear() {
  std::exception_ptr old; // destroyed outside the lock: it acquires the GIL
  const std::lock_guard<std::mutex> lock(guard);
  old.swap(thrown);
}

void PythonLayerTypes::rethrow() {
  std::exception_ptr exception;
  {
    const std::lock_guard<std::mutex> lock(guard);
    exception.swap(thrown);
  }
  if (exception)
    std::rethrow_exception(exception);
}

template <typename Request, typename Body>
brew_status PythonLayerTypes::guarded(Request *request, Body &&body) noexcept {
  PythonLayerTypes &owner = *static_cast<Type *>(request->user)->owner;
  const nb::gil_scoped_acquire acquired;
  std::string message;
  try {
    body();
    return BREW_OK;
  } catch (nb::python_error &error) {
    message = textOf(error);
    owner.storeException(std::current_exception());
  } catch (const std::exception &error) {
    message = error.what();
  }
  api::detail::setMessage(request->message, request->message_size,
                          message.c_str());
  return BREW_BAD_INPUT;
}

nb::object PythonLayerTypes::resolveWeak(nb::handle reference) {
  nb::object object = reference();
  if (object.is_none())
    throw api::Error(BREW_USAGE, "the session of the layer no longer exists");
  return object;
}

static nb::tuple tupleOf(const brew_host_shape &shape) {
  nb::list dims;
  for (std::size_t d = 0; d < shape.ndim; ++d)
    dims.append(shape.dims[d]);
  return nb::tuple(dims);
}

/// Returns the description of a layer as keyword arguments.
static nb::dict keywordsOf(const brew_host_setup &setup, bool withTops) {
  nb::list bottoms, tops;
  for (std::size_t i = 0; i < setup.bottom_count; ++i)
    bottoms.append(tupleOf(setup.bottoms[i]));
  for (std::size_t i = 0; i < setup.top_count; ++i)
    tops.append(withTops ? nb::object(tupleOf(setup.tops[i])) : nb::none());
  nb::dict keywords;
  keywords["type"] = setup.type;
  keywords["name"] = setup.layer;
  keywords["settings"] = setup.settings;
  keywords["param_str"] = setup.param_str;
  keywords["test"] = bool(setup.test_phase);
  keywords["bottoms"] = bottoms;
  keywords["tops"] = tops;
  return keywords;
}

brew_status PythonLayerTypes::shapes(brew_host_setup *setup) {
  return guarded(setup, [&] {
    const Type &type = *static_cast<Type *>(setup->user);
    nb::object topShapes =
        resolveWeak(type.reference).attr("shapes")(**keywordsOf(*setup, false));
    for (std::size_t i = 0; i < setup->top_count; ++i) {
      brew_host_shape &top = setup->tops[i];
      const nb::object shape = topShapes[i];
      top.ndim = nb::len(shape);
      if (top.ndim > BREW_MAX_DIMS)
        throw api::Error(BREW_BAD_INPUT, "a top has more dimensions than " +
                                             std::to_string(BREW_MAX_DIMS));
      for (std::size_t d = 0; d < top.ndim; ++d)
        top.dims[d] = nb::cast<std::int64_t>(shape[d]);
    }
  });
}

brew_status PythonLayerTypes::create(brew_host_setup *setup, void **instance) {
  return guarded(setup, [&] {
    const Type &type = *static_cast<Type *>(setup->user);
    const nb::object layer =
        resolveWeak(type.reference).attr("create")(**keywordsOf(*setup, true));
    *instance = nb::weakref(layer).release().ptr();
  });
}

void PythonLayerTypes::destroy(void *instance, void *) {
  const nb::gil_scoped_acquire acquired;
  nb::handle(static_cast<PyObject *>(instance)).dec_ref();
}

template <typename Value>
static nb::object arrayOf(void *values, const brew_host_blob &blob) {
  const std::vector<std::size_t> shape(blob.dims, blob.dims + blob.ndim);
  return nb::cast(nb::ndarray<nb::numpy, Value>(static_cast<Value *>(values),
                                                shape.size(), shape.data(),
                                                nb::handle()),
                  nb::rv_policy::reference);
}

/// Returns the memory as an array, or None for null.
static nb::object arrayOf(void *values, const brew_host_blob &blob, bool f64,
                          bool writable) {
  if (!values)
    return nb::none();
  if (f64)
    return writable ? arrayOf<double>(values, blob)
                    : arrayOf<const double>(values, blob);
  return writable ? arrayOf<float>(values, blob)
                  : arrayOf<const float>(values, blob);
}

static nb::list valuesOf(const brew_host_blob *blobs, std::size_t count,
                         bool f64, bool writable) {
  nb::list arrays;
  for (std::size_t i = 0; i < count; ++i)
    arrays.append(arrayOf(blobs[i].values, blobs[i], f64, writable));
  return arrays;
}

static nb::list gradientsOf(const brew_host_blob *blobs, std::size_t count,
                            bool f64, bool writable) {
  nb::list arrays;
  for (std::size_t i = 0; i < count; ++i)
    arrays.append(arrayOf(blobs[i].gradient, blobs[i], f64, writable));
  return arrays;
}

brew_status PythonLayerTypes::forward(brew_host_call *call) {
  return guarded(call, [&] {
    resolveWeak(nb::handle(static_cast<PyObject *>(call->instance)))
        .attr("forward")(
            valuesOf(call->bottoms, call->bottom_count, call->f64, false),
            valuesOf(call->tops, call->top_count, call->f64, true));
  });
}

brew_status PythonLayerTypes::backward(brew_host_call *call) {
  return guarded(call, [&] {
    resolveWeak(nb::handle(static_cast<PyObject *>(call->instance)))
        .attr("backward")(
            valuesOf(call->bottoms, call->bottom_count, call->f64, false),
            gradientsOf(call->bottoms, call->bottom_count, call->f64, true),
            valuesOf(call->tops, call->top_count, call->f64, false),
            gradientsOf(call->tops, call->top_count, call->f64, false));
  });
}

PythonLayerTypes::PythonLayerTypes(nb::dict typesByName) {
  for (auto [name, object] : typesByName)
    types.push_back(std::make_unique<Type>(
        Type{this, nb::cast<std::string>(name), nb::weakref(object)}));
}

std::vector<api::HostLayerType> PythonLayerTypes::descriptions() const {
  std::vector<api::HostLayerType> result;
  for (const auto &type : types) {
    auto layer = api::makeStruct<brew_host_layer>();
    layer.type = type->name.c_str();
    layer.shapes = shapes;
    layer.create = create;
    layer.destroy = destroy;
    layer.forward = forward;
    if (nb::cast<bool>(resolveWeak(type->reference).attr("has_backward")))
      layer.backward = backward;
    layer.user = type.get();
    result.emplace_back(layer);
  }
  return result;
}

} // namespace brew::python
