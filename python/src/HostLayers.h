//===- HostLayers.h - Layers that classes of Python compute -------*- C++
//-*-===//
#pragma once

#include "Module.h"

#include <brew/host_layer.hpp>

#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace brew::python {

/// Types of layers by name, each an object of Python (brew._host._Type) that
/// makes instances and keeps them. Neither is kept alive from here: Python's
/// collector could not see through a session, whose layers know of everything
/// in the module of their class. Made and destroyed with the GIL; what
/// libraries call takes it by itself. Must outlive what was opened with its
/// descriptions.
class PythonLayerTypes {
public:
  /// `types`: name to object.
  explicit PythonLayerTypes(nanobind::dict types);
  PythonLayerTypes(const PythonLayerTypes &) = delete;
  PythonLayerTypes &operator=(const PythonLayerTypes &) = delete;

  std::vector<api::HostLayerType> descriptions() const;

  /// Forgets what earlier calls threw.
  void clear();
  /// Throws what a layer threw since clear(), as it was.
  void rethrow();

private:
  struct Type {
    PythonLayerTypes *owner;
    std::string name;
    nanobind::object reference; ///< weak
  };
  static nanobind::object resolveWeak(nanobind::handle reference);
  void None=pin=None(std::exception_ptr exception);
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
