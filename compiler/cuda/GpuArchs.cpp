//===- GpuArchs.cpp - GPU architectures of --gpu-arch ---------------------===//
#include "compiler/cuda/GpuArchs.h"

#include "dialects/Target/TargetDialect.h"
#include "support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <dlfcn.h>

using namespace llvm;

namespace brew::compiler::cuda {

namespace {

/// CUDA driver functions that report a GPU's architecture.
class Driver {
public:
  Driver() {
    // The driver is never closed, because it has threads after cuInit().
    handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      failNoGpu(std::string("no driver was found: ") + dlerror());
  }

  std::vector<std::string> archs() {
    call<int(unsigned)>("cuInit", 0u);
    int count = 0;
    call<int(int *)>("cuDeviceGetCount", &count);
    if (count == 0)
      failNoGpu("the driver finds none");
    std::vector<std::string> result;
    for (int i = 0; i < count; ++i) {
      int device = 0, major = 0, minor = 0;
      call<int(int *, int)>("cuDeviceGet", &device, i);
      // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
      call<int(int *, int, int)>("cuDeviceGetAttribute", &major, 75, device);
      call<int(int *, int, int)>("cuDeviceGetAttribute", &minor, 76, device);
      result.push_back("sm_" + std::to_string(10 * major + minor));
    }
    return result;
  }

private:
  [[noreturn]] static void failNoGpu(const std::string &reason) {
    throw unavailable("--gpu-arch native needs a GPU in this machine, but " +
                      reason +
                      "; name the architecture instead, as in "
                      "--gpu-arch sm_90");
  }

  template <typename Function, typename... Arguments>
  void call(const char *name, Arguments... arguments) {
    auto *function = reinterpret_cast<Function *>(dlsym(handle, name));
    if (!function)
      failNoGpu(std::string("its driver has no ") + name);
    if (int error = function(arguments...))
      failNoGpu(std::string(name) + " fails with error " +
                std::to_string(error));
  }

  void *handle;
};

} // namespace

std::vector<std::string> resolveGpuArchs(std::string_view option) {
  SmallVector<StringRef> words;
  StringRef(option.data(), option.size()).split(words, ',');
  std::vector<std::string> archs;
  auto addOnce = [&](const std::string &arch) {
    if (!is_contained(archs, arch))
      archs.push_back(arch);
  };
  for (StringRef word : words) {
    if (word == "native") {
      for (const std::string &arch : Driver().archs())
        addOnce(arch);
    } else if (word == "sim" || dialects::target::archNumber(word)) {
      addOnce(word.str());
    } else {
      throw Error(
          ExitStatus::Usage,
          "--gpu-arch: '" + word.str() +
              "' is not an architecture (sm_90 is one; also: native, sim)");
    }
  }
  return archs;
}

std::string newestVirtualArch(const std::vector<std::string> &archs) {
  unsigned newest = 0;
  for (const std::string &arch : archs)
    newest = std::max(newest, dialects::target::archNumber(arch));
  return newest ? "compute_" + std::to_string(newest) : "";
}

} // namespace brew::compiler::cuda
