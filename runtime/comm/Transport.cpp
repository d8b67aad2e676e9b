//===- Transport.cpp - Finding the plugin of a transport ------------------===//

#include "runtime/comm/Transport.h"

#include "formats/Error.h"
#include "formats/PathLookup.h"

#include <dlfcn.h>
#include <filesystem>
#include <string>
#include <vector>

namespace brew::runtime::comm {
namespace {

constexpr char kLibrary[] = "libbrew_mpi.so";

std::vector<std::string> candidates() {
  std::vector<std::string> names;
  Dl_info own;
  if (dladdr(reinterpret_cast<const void *>(&openTransport), &own) &&
      own.dli_fname) {
    const std::filesystem::path folder =
        std::filesystem::path(own.dli_fname).parent_path();
    if (!folder.empty()) {
      names.push_back((folder / kLibrary).string());
      // Where a program has the runtime in itself.
      names.push_back((folder / ".." / "lib" / kLibrary).string());
    }
  }
  names.push_back(kLibrary);
  return names;
}

} // namespace

const BrewCommPlugin &openTransport() {
  std::string reason;
  for (const std::string &name : candidates()) {
    const bool isPath = name.find('/') != std::string::npos;
    std::error_code ignored;
    if (isPath && !std::filesystem::exists(name, ignored))
      continue;
    // MPIs open parts of their own, which look for their symbols everywhere.
    void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
      if (reason.empty())
        reason = dlerror();
      continue;
    }
    auto entry =
        reinterpret_cast<BrewCommEntry>(dlsym(library, BREW_COMM_ENTRY));
    if (entry && entry()->version == kBrewCommVersion)
      return *entry();
    reason = name + " is of another version of Brew";
    break;
  }
  throw machineLacks(
      "several ranks need Brew's plugin for MPI, which cannot be opened: " +
      reason +
      "; it is built where libopenmpi-dev is (Python's wheels have none), and "
      "needs libopenmpi3 to run");
}

} // namespace brew::runtime::comm
