//===- HostFunctions.h - Calling the functions of host layers ---*- C++ -*-===//
//
// What both C APIs do around a function of include/brew/host_layer.h.
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

/// The room for a function's message, in the structure that it is called with;
/// fails with what it wrote.
class HostErrorBuffer {
public:
  template <typename Given> explicit HostErrorBuffer(Given &given) {
    given.message = text;
    given.message_size = sizeof text;
  }
  HostErrorBuffer(const HostErrorBuffer &) = delete;

  /// Throws Error for every status but BREW_OK, (1) for one that is none.
  void check(brew_status status, const char *function) {
    if (status == BREW_OK)
      return;
    text[sizeof text - 1] = '\0'; // who wrote it may have filled it
    ExitStatus why = ExitStatus::BadInput;
    switch (status) {
    case BREW_USAGE:
    case BREW_UNAVAILABLE:
    case BREW_BUG:
      why = static_cast<ExitStatus>(status);
      break;
    default:
      break;
    }
    throw Error(why, text[0] ? text
                             : std::string("its function '") + function +
                                   "' failed with status " +
                                   std::to_string(static_cast<int>(status)));
  }

private:
  char text[1024] = "";
};

/// Throws Error (1) for more dimensions than there is room for.
template <typename Dims> brew_host_shape hostShape(const Dims &dims) {
  if (dims.size() > BREW_MAX_DIMS)
    throw badInput("a bottom or top has more dimensions than " +
                   std::to_string(BREW_MAX_DIMS));
  brew_host_shape shape{};
  shape.ndim = dims.size();
  std::copy(dims.begin(), dims.end(), shape.dims);
  return shape;
}

/// A layer's words for its functions, which are those of `from`: the setup of
/// the compiler or of the runtime, which outlives the result.
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
