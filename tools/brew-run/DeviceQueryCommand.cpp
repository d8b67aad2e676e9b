//===- DeviceQueryCommand.cpp - brew-run device-query ---------------------===//

#include "Session.h"

#include "formats/Error.h"
#include "runtime/cpu/CpuFeatures.h"
#include "runtime/log/Log.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <sched.h>
#include <sys/sysinfo.h>

#include <fstream>
#include <memory>

namespace brew::run {
namespace {

struct Options {
  std::string gpu;
};

/// First value of `key` in /proc/cpuinfo, or "unknown".
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

/// One property, aligned as in Caffe's list.
void property(const std::string &name, const std::string &value) {
  std::string label = name + ":";
  label.resize(std::max<std::size_t>(label.size() + 1, 31), ' ');
  log::info(log::site::deviceProperty, label + value);
}

int deviceQuery(const Options &options) {
  log::info(log::site::deviceQuery, "Querying GPUs " + options.gpu);
  if (!options.gpu.empty())
    throw machineLacks("this version of brew-run drives no GPU; without -gpu "
                       "the processor is described");
  log::info(log::site::deviceQuery, "No GPU is used; the processor is:");
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
  // The features that decide which plans run and how fast.
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
  return 0;
}

} // namespace

void addDeviceQuery(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      app.add_subcommand("device-query", "Describe what plans can run on");
  command->add_option("--gpu", options->gpu, "GPU to describe");
  command->callback([options, &action] {
    action = [options] { return deviceQuery(*options); };
  });
}

} // namespace brew::run
