//===- DeviceQueryCommand.cpp - brew-run device-query ---------------------===//

#include "Log.h"
#include "Session.h"

#include <algorithm>
#include <memory>

namespace brew::run {
namespace {

struct DeviceQueryOptions {
  std::string gpu;
};

/// Logs one property, aligned as in Caffe's list.
void logProperty(const std::string &name, const std::string &value) {
  std::string label = name + ":";
  label.resize(std::max<std::size_t>(label.size() + 1, 31), ' ');
  log::info(log::site::deviceProperty, label + value);
}

/// Logs the properties of a GPU, or of the processor (-1), as in Caffe.
void logDevice(int gpu) {
  for (const auto &[name, value] : api::deviceQuery(gpu))
    logProperty(name, value);
}

int deviceQuery(const DeviceQueryOptions &options) {
  log::info(log::site::deviceQuery, "Querying GPUs " + options.gpu);
  if (!options.gpu.empty()) {
    for (int number : gpuNumbers(options.gpu))
      logDevice(number);
    return 0;
  }
  log::info(log::site::deviceQuery, "No GPU; the processor is:");
  logDevice(-1);
  return 0;
}

} // namespace

void addDeviceQuery(CLI::App &app, Action &action) {
  auto options = std::make_shared<DeviceQueryOptions>();
  CLI::App *command = app.add_subcommand(
      "device-query", "Show the devices that plans can run on");
  command
      ->add_option("--gpu", options->gpu,
                   "GPUs to describe: numbers separated by commas, or all")
      ->type_name("ID,...|all");
  command->callback([options, &action] {
    action = [options] { return deviceQuery(*options); };
  });
}

} // namespace brew::run
