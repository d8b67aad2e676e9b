//===- DriverApi.cpp - The CUDA driver, opened at first use ---------------===//
#include "runtime/cuda/DriverApi.h"

#include "support/Error.h"

#include <dlfcn.h>

#include <map>
#include <memory>
#include <mutex>

namespace brew::runtime::cuda {

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

std::string DriverApi::text(CUresult result) const {
  const char *name = nullptr, *description = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &description);
  if (!name || !description)
    return "CUDA error " + std::to_string(result);
  return std::string(description) + " (" + name + ")";
}

void DriverApi::check(CUresult result, const std::string &purpose) const {
  if (result != CUDA_SUCCESS)
    throw unavailable(purpose + ": " + text(result));
}

static std::unique_ptr<DriverApi> load(const std::string &library) {
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throw unavailable(std::string("an NVIDIA GPU is needed, but the "
                                  "CUDA driver cannot be opened: ") +
                      dlerror());
  auto api = std::make_unique<DriverApi>();
  std::string missing;
#define BREW_LOOK_UP(NAME, SYMBOL, ARGUMENTS)                                  \
  api->NAME = reinterpret_cast<decltype(api->NAME)>(dlsym(handle, #SYMBOL));   \
  if (!api->NAME)                                                              \
    missing = #SYMBOL;
  BREW_DRIVER_FUNCTIONS(BREW_LOOK_UP)
#undef BREW_LOOK_UP
  if (!missing.empty()) {
    int version = 0;
    if (api->cuDriverGetVersion)
      api->cuDriverGetVersion(&version);
    throw unavailable("the CUDA driver is too old: it is of CUDA " +
                      versionText(version) + " and lacks " + missing +
                      "; Brew needs one of CUDA 12.0 or later");
  }
  const CUresult result = api->cuInit(0);
  if (result == CUDA_ERROR_NO_DEVICE)
    throw unavailable("an NVIDIA GPU is needed, but the CUDA driver "
                      "finds none");
  api->check(result, "the CUDA driver does not start");
  return api;
}

const DriverApi &DriverApi::open(const std::string &library) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<DriverApi>> loadedApis;
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<DriverApi> &api = loadedApis[library];
  if (!api)
    api = load(library);
  return *api;
}

} // namespace brew::runtime::cuda
