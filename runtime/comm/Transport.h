//===- Transport.h - Finding the plugin of a transport ----------*- C++ -*-===//
#pragma once

#include "runtime/comm/Plugin.h"

namespace brew::runtime::comm {

/// The table of libbrew_mpi.so, which lies beside this library or where the
/// system tests for libraries. It stays open. Throws Error (3) with the reason
/// if it cannot be used.
const BrewCommPlugin &openTransport();

} // namespace brew::runtime::comm
