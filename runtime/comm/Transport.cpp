//===- Transport.cpp - Loading of the transport plugin --------------------===//

#include "runtime/comm/Transport.h"

#include "runtime/PluginLibrary.h"
#include "support/Error.h"

#include <dlfcn.h>

namespace brew::runtime::comm {

const BrewCommPlugin &openTransport() {
  // MPIs load modules of their own, which need the MPI's symbols (RTLD_GLOBAL).
  PluginLibrary plugin = openPluginLibrary("libbrew_mpi.so", BREW_COMM_ENTRY,
                                           RTLD_NOW | RTLD_GLOBAL);
  if (const auto *table =
          functionTable<BrewCommPlugin>(plugin, kBrewCommVersion))
    return *table;
  throw unavailable(
      "several ranks need Brew's plugin for MPI, which cannot be opened: " +
      plugin.reason +
      "; it is built where libopenmpi-dev is (Python's wheels have none), and "
      "needs libopenmpi3 to run");
}

} // namespace brew::runtime::comm
