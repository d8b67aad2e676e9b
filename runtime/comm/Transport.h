//===- Transport.h - Loading of the transport plugin ------------*- C++ -*-===//
#pragma once

#include "runtime/comm/Plugin.h"

namespace brew::runtime::comm {

/// Returns the function table of libbrew_mpi.so, which is searched next to this
/// library and on the system's library path. The plugin stays loaded. Throws
/// Error (3) with the reason if it cannot be used.
const BrewCommPlugin &openTransport();

} // namespace brew::runtime::comm
