//===- DeviceQuery.cpp - C API: description of the machine ----------------===//

#include "runtime/api/Api.h"
#include "runtime/cpu/CpuFeatures.h"
#include "runtime/cuda/Device.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <sched.h>
#include <sys/sysinfo.h>

#include <cstdlib>
#include <fstream>
#include <functional>

using namespace brew;
using namespace brew::api;
using namespace brew::runtime::cuda;

namespace {

using EmitProperty =
    std::function<void(const std::string &, const std::string &)>;

/// Returns the first value of `key` in /proc/cpuinfo, or "unknown".
std::string cpuInfo(const std::string &key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos || line.compare(0, key.size(), key) != 0)
      continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == line.npos ? "" : line.substr(begin);
  }
  return "unknown";
}

int availableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

/// Returns the machine's driver, or the simulator in the folder BREW_CUDASIM.
const DriverApi &driver() {
  const char *simulator = std::getenv("BREW_CUDASIM");
  return DriverApi::open(simulator ? std::string(simulator) + "/libcuda.so.1"
                                   : "libcuda.so.1");
}

/// Emits the properties that Caffe lists for a GPU.
void describeGpu(int number, const EmitProperty &property) {
  const Device device(driver(), number);
  auto value = [&](CUdevice_attribute attribute) {
    return std::to_string(device.attribute(attribute));
  };
  auto triple = [&](CUdevice_attribute x, CUdevice_attribute y,
                    CUdevice_attribute z) {
    return value(x) + ", " + value(y) + ", " + value(z);
  };
  auto yesOrNo = [&](CUdevice_attribute attribute) {
    return device.attribute(attribute) ? "Yes" : "No";
  };
  property("Device id", std::to_string(number));
  property("Major revision number", std::to_string(device.architecture() / 10));
  property("Minor revision number", std::to_string(device.architecture() % 10));
  property("Name", device.name());
  property("Total global memory", std::to_string(device.totalMemory()));
  property("Total shared memory per block",
           value(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  property("Total registers per block",
           value(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK));
  property("Warp size", value(CU_DEVICE_ATTRIBUTE_WARP_SIZE));
  property("Maximum memory pitch", value(CU_DEVICE_ATTRIBUTE_MAX_PITCH));
  property("Maximum threads per block",
           value(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  property("Maximum dimension of block",
           triple(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z));
  property("Maximum dimension of grid",
           triple(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z));
  property("Clock rate", value(CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
  property("Total constant memory",
           value(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY));
  property("Texture alignment", value(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT));
  property("Concurrent copy and execution",
           yesOrNo(CU_DEVICE_ATTRIBUTE_GPU_OVERLAP));
  property("Number of multiprocessors",
           value(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  property("Kernel execution timeout",
           yesOrNo(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT));
  property("CUDA version of the driver", versionText(device.driverVersion()));
}

void describeProcessor(const EmitProperty &property) {
  property("Name", cpuInfo("model name"));
  property("Vendor", cpuInfo("vendor_id"));
  property("Family, model, stepping", cpuInfo("cpu family") + ", " +
                                          cpuInfo("model\t") + ", " +
                                          cpuInfo("stepping"));
  property("Cores available", std::to_string(availableCores()));
  struct sysinfo memory = {};
  if (sysinfo(&memory) == 0)
    property("Total memory",
             std::to_string(std::uint64_t(memory.totalram) * memory.mem_unit));
  std::string features;
  // These features determine which plans can run, and how fast.
  for (const char *feature :
       {"sse4.2", "avx", "avx2", "fma", "f16c", "bmi2", "avx512f", "avx512bw",
        "avx512dq", "avx512vl", "avx512vnni", "avx512bf16", "amx-tile",
        "amx-bf16", "amx-int8"})
    if (runtime::cpuHasFeature(feature))
      features += (features.empty() ? "" : " ") + std::string(feature);
  property("Features", features.empty() ? "none" : features);
  const dnnl_version_t *version = dnnl_version();
  property("oneDNN version", std::to_string(version->major) + "." +
                                 std::to_string(version->minor) + "." +
                                 std::to_string(version->patch));
}

} // namespace

brew_status brew_device_query(int gpu, brew_property_function property,
                              void *user, char *message, size_t size) {
  return guardedInto(message, size, [&] {
    if (!property)
      throw usage("the function to call is NULL");
    const EmitProperty emit = [&](const std::string &name,
                                  const std::string &value) {
      property(name.c_str(), value.c_str(), user);
    };
    if (gpu < 0)
      describeProcessor(emit);
    else
      describeGpu(gpu, emit);
  });
}

brew_status brew_gpu_count(int *count, char *message, size_t size) {
  return guardedInto(message, size, [&] {
    if (!count)
      throw usage("the pointer to the number is NULL");
    *count = 0;
    driver().check(driver().cuDeviceGetCount(count), "counting GPUs");
  });
}
