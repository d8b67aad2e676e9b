//===- HostLayers.h - Layers implemented in Python --------------*- C++ -*-===//
#pragma once

#include "Module.h"

#include <brew/host_layer.hpp>

#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace brew::python {

/// Layer types by name, each a Python object (brew._host._LayerType) that
/// creates and owns the instances. This class holds only weak references:
/// Python's garbage collector cannot traverse a session, and layers reference
/// their whole module. Create and destroy it with the GIL held; the callbacks
/// acquire the GIL themselves. It must outlive the sessions opened with its
/// descriptions.
class PythonLayerTypes {
public:
  /// `types`: dict of name to object.
  explicit PythonLayerTypes(nanobind::dict types);
  PythonLayerTypes(const PythonLayerTypes &) = delete;
  PythonLayerTypes &operator=(const PythonLayerTypes &) = delete;

  std::vector<api::HostLayerType> descriptions() const;

  /// Clears stored exceptions.
  void clear();
  /// Rethrows the original exception of a layer since clear(), if any.
  void rethrow();

private:
  struct Type {
    PythonLayerTypes *owner;
    std::string name;
    nanobind::object reference; ///< weak
  };
  static nanobind::object resolveWeak(nanobind::handle reference);
  void keep(std::exception_ptr exception);
  template <typename Given, typename Body>
  static brew_status guarded(Given *given, Body &&body) noexcept;
  static brew_status shapes(brew_host_setup *setup);
  static brew_status create(brew_host_setup *setup, void **instance);
  static void destroy(void *instance, void *user);
  static brew_status forward(brew_host_call *call);
  static brew_status backward(brew_host_call *call);

  std::vector<std::unique_ptr<Type>> types;
  std::mutex guard;
  std::exception_ptr thrown;
};

} // namespace brew::python
