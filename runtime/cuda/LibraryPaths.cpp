//===- LibraryPaths.cpp - Paths of the CUDA libraries of a plan -----------===//
#include "runtime/cuda/LibraryPaths.h"

#include "runtime/cuda/DriverApi.h"
#include "support/Error.h"

#include <cstdlib>
#include <filesystem>

namespace brew::runtime::cuda {

namespace fs = std::filesystem;

static std::string simulatorFolder() {
  if (const char *folder = std::getenv("BREW_CUDASIM"))
    return folder;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return (program.parent_path().parent_path() / "lib" / "cudasim").string();
}

static bool hasGpu(const LibraryPaths &libraries) {
  try {
    const DriverApi &api = DriverApi::open(libraries.driver);
    int count = 0;
    return api.cuDeviceGetCount(&count) == CUDA_SUCCESS && count > 0;
  } catch (const Error &) {
    return false;
  }
}

LibraryPaths chooseLibraryPaths(const plan::Target &target,
                                const std::string &planPath) {
  LibraryPaths libraries;
  bool hasSimulatorCode = false, hasGpuCode = false;
  for (const std::string &arch : target.archs())
    (arch == "sim" ? hasSimulatorCode : hasGpuCode) = true;
  if (!hasSimulatorCode || (hasGpuCode && hasGpu(libraries)))
    return libraries;

  const fs::path folder = simulatorFolder();
  std::error_code error;
  if (!fs::exists(folder / "libcuda.so.1", error))
    throw unavailable(planPath +
                      ": the plan was built for the simulator of Brew's own "
                      "tests (--gpu-arch sim), which is not in '" +
                      folder.string() + "'; set BREW_CUDASIM to its folder");
  libraries.driver = (folder / "libcuda.so.1").string();
  libraries.cublasLt = {(folder / "libcublasLt.so.13").string()};
  libraries.nccl = {(folder / "libnccl.so.2").string()};
  libraries.vendorTable = (folder / "libbrewdnn.so").string();
  libraries.simulated = true;
  return libraries;
}

} // namespace brew::runtime::cuda
