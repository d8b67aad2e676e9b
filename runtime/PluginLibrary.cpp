//===- PluginLibrary.cpp - Opening Brew's plugin libraries ----------------===//

#include "runtime/PluginLibrary.h"

#include <dlfcn.h>
#include <filesystem>
#include <vector>

namespace brew::runtime {
namespace {

std::vector<std::string> candidatePaths(const char *file) {
  std::vector<std::string> names;
  Dl_info libraryInfo;
  if (dladdr(reinterpret_cast<const void *>(&openPluginLibrary),
             &libraryInfo) &&
      libraryInfo.dli_fname) {
    const std::filesystem::path folder =
        std::filesystem::path(libraryInfo.dli_fname).parent_path();
    if (!folder.empty()) {
      names.push_back((folder / file).string());
      // A program in bin/ may link the runtime statically.
      names.push_back((folder / ".." / "lib" / file).string());
    }
  }
  names.push_back(file);
  return names;
}

} // namespace

PluginLibrary openPluginLibrary(const char *file, const char *entryName,
                                int flags) {
  PluginLibrary plugin;
  for (const std::string &name : candidatePaths(file)) {
    const bool isPath = name.find('/') != std::string::npos;
    std::error_code ignored;
    if (isPath && !std::filesystem::exists(name, ignored))
      continue;
    void *library = dlopen(name.c_str(), flags);
    if (!library) {
      if (plugin.reason.empty())
        plugin.reason = dlerror();
      continue;
    }
    plugin.path = name;
    plugin.entry = dlsym(library, entryName);
    if (!plugin.entry)
      plugin.reason = name + " is of another version of Brew";
    break;
  }
  return plugin;
}

} // namespace brew::runtime
