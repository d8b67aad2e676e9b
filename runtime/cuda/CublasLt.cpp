//===- CublasLt.cpp - cuBLASLt, opened at first use -----------------------===//
#include "runtime/cuda/CublasLt.h"

#include "support/Error.h"

#include <dlfcn.h>

namespace brew::runtime::cuda {

CublasLt::CublasLt(const std::vector<std::string> &libraries) {
  void *library = nullptr;
  std::string loaderErrors;
  for (const std::string &name : libraries) {
    if ((library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)))
      break;
    loaderErrors += (loaderErrors.empty() ? "" : "; ") + std::string(dlerror());
  }
  if (!library)
    throw unavailable("this plan needs cuBLASLt of CUDA 12 or later for its "
                      "matrix products: " +
                      loaderErrors);
  std::string missing;
#define BREW_LOOK_UP(NAME, RESULT, ARGUMENTS)                                  \
  NAME = reinterpret_cast<decltype(NAME)>(dlsym(library, #NAME));              \
  if (!NAME)                                                                   \
    missing = #NAME;
  BREW_CUBLASLT_FUNCTIONS(BREW_LOOK_UP)
#undef BREW_LOOK_UP
  if (!missing.empty())
    throw unavailable("this plan needs cuBLASLt of CUDA 12 or later for its "
                      "matrix products; found is " +
                      (cublasLtGetVersion ? name() : "one without a version") +
                      ", which lacks " + missing);
  check(cublasLtCreate(&libraryHandle), "starting the library");
}

CublasLt::~CublasLt() {
  if (libraryHandle)
    cublasLtDestroy(libraryHandle);
}

std::string CublasLt::name() const {
  // 130100 is 13.1.0; CUDA 12 uses the same scheme.
  const std::size_t version = cublasLtGetVersion();
  return "cuBLASLt " + std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

void CublasLt::check(int status, const std::string &purpose) const {
  if (status != 0)
    throw unavailable(purpose +
                      ": cuBLASLt: " + cublasLtGetStatusString(status));
}

} // namespace brew::runtime::cuda
