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
/// creates and owns the instances. This class has only weak references:
/// Python's garbage collector cannot traverse a session, and layers reference
/// their whole module. Create and destroy it with the GIL held; the callbacks
/// acquire the GIL themselves. It must outlive the sessions opened with its
/// descriptions.
class PythonLayerTypes {
public:
  /// `typesByName`: dict of name to object.
  explicit PythonLayerTypes(nanobind::dict typesByName);
  PythonLayerTypes(const PythonLayerTypes &) = delete;
  PythonLayerTypes &operator=(const PythonLayerTypes &) = delete;

  std::vector<api::HostLayerType> descriptions() const;

  /// Clears the stored exception.
  void clear();
  /// Rethrows the last exception that a layer has thrown since clear(), if any.
  void rethrow();

private:
  struct Type {
    PythonLayerTypes *owner;
    std::string name;
    nanobind::object reference; ///< weak
  };
  static nanobind::object resolveWeak(nanobind::handle reference);
  void storeException(std::exception_ptr exception);
  /// Runs `body` with the GIL. Stores an exception and writes its text to the
  /// request's message.
  template <typename Request, typename Body>
  static brew_status guarded(Request *request, Body &&body) noexcept;
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
