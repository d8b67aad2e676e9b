//===- PluginLibrary.h - Loading of Brew's plugin libraries -----*- C++ -*-===//
//
// libbrew_mpi.so and libbrew_opencv.so link libraries that few runs need. The
// runtime opens them with dlopen when a run needs one. Each exports an entry
// function that returns its table of functions.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <string>

namespace brew::runtime {

/// An opened plugin, or the reason why it could not be opened.
struct PluginLibrary {
  void *entry = nullptr; ///< the entry function; null if opening failed
  std::string path;      ///< of the file that was opened
  std::string reason;    ///< why opening failed
};

/// Opens `file`, next to this library or on the system's library path, and
/// finds its function `entryName`. `flags` are dlopen's. The library stays
/// loaded.
PluginLibrary openPluginLibrary(const char *file, const char *entryName,
                                int flags);

/// Returns the function table of an opened plugin. If there is no plugin or its
/// table has another version, returns null and sets `plugin.reason`.
template <typename Table>
const Table *functionTable(PluginLibrary &plugin, std::uint32_t version) {
  if (!plugin.entry)
    return nullptr;
  const Table *table = reinterpret_cast<const Table *(*)()>(plugin.entry)();
  if (table->version == version)
    return table;
  plugin.reason = plugin.path + " is of another version of Brew";
  return nullptr;
}

} // namespace brew::runtime
