//===- HostFunctions.h - Calls of host layer functions ----------*- C++ -*-===//
//
// Helpers with which both C APIs call the functions of
// include/brew/host_layer.h.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "support/Error.h"

#include <brew/host_layer.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace brew {

/// The buffer for a function's error message, which is passed to the function
/// in its argument structure.
class HostErrorBuffer {
public:
  template <typename Arguments> explicit HostErrorBuffer(Arguments &arguments) {
    arguments.message = text;
    arguments.message_size = sizeof text;
  }
  HostErrorBuffer(const HostErrorBuffer &) = delete;

  /// Throws Error with the message unless the status is BREW_OK. An unknown
  /// status is reported as Error (1).
  void check(brew_status status, const char *function) {
    if (status == BREW_OK)
      return;
    text[sizeof text - 1] = '\0'; // the function may not have terminated it
    ExitStatus exitStatus = ExitStatus::BadInput;
    switch (status) {
    case BREW_USAGE:
    case BREW_UNAVAILABLE:
    case BREW_BUG:
      exitStatus = static_cast<ExitStatus>(status);
      break;
    default:
      break;
    }
    throw Error(exitStatus, text[0]
                                ? text
                                : std::string("its function '") + function +
                                      "' failed with status " +
                                      std::to_string(static_cast<int>(status)));
  }

private:
  char text[1024] = "";
};

/// Converts a shape. Throws Error (1) for more than BREW_MAX_DIMS dimensions.
template <typename Dims> brew_host_shape hostShape(const Dims &dims) {
  if (dims.size() > BREW_MAX_DIMS)
    throw badInput("a bottom or top has more dimensions than " +
                   std::to_string(BREW_MAX_DIMS));
  brew_host_shape shape{};
  shape.ndim = dims.size();
  std::copy(dims.begin(), dims.end(), shape.dims);
  return shape;
}

/// Converts the compiler's or the runtime's setup of a host layer. The result
/// points into `from`.
template <typename Setup> brew_host_setup hostSetup(const Setup &from) {
  brew_host_setup setup{};
  setup.struct_size = sizeof setup;
  setup.type = from.type.c_str();
  setup.layer = from.layer.c_str();
  setup.settings = from.settings.c_str();
  setup.param_str = from.paramStr.c_str();
  setup.test_phase = from.testPhase;
  return setup;
}

} // namespace brew
