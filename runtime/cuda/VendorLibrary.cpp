//===- VendorLibrary.cpp - An opened vendor library -----------------------===//
#include "runtime/cuda/VendorLibrary.h"

#include "runtime/cuda/cudnn/CudnnAdapter.h"
#include "support/Error.h"

#include <dlfcn.h>

namespace brew::runtime::cuda {

VendorLibrary::VendorLibrary(const std::string &path) {
  if (path.empty()) {
    functions = &cudnnVendorTable();
  } else {
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      throw unavailable(std::string("the vendor library cannot be opened: ") +
                        dlerror());
    functions =
        static_cast<const BrewVendorTable *>(dlsym(handle, "brewVendorTable"));
    if (!functions || functions->version != BREW_VENDOR_TABLE_VERSION)
      throw unavailable(path + ": exports no vendor table of version " +
                        std::to_string(BREW_VENDOR_TABLE_VERSION));
  }
  char message[BREW_VENDOR_MESSAGE_SIZE] = "";
  if (functions->open(&libraryContext, message) != 0)
    throw unavailable(message);
}

VendorLibrary::~VendorLibrary() {
  if (libraryContext)
    functions->close(libraryContext);
}

} // namespace brew::runtime::cuda
