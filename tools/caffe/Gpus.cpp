//===- Gpus.cpp - Choice of the GPUs to run on ----------------------------===//
#include "tools/caffe/Gpus.h"

#include "support/Error.h"
#include "tools/caffe/GlogFlags.h"

#include <brew/device.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace brew::caffe_command {
namespace {

/// Whether the solver sets solver_mode to CPU. As in Caffe, the default is GPU.
/// Also true for a file with layers at its top level, which is no solver.
bool requestsCpu(const std::string &solver) {
  const std::string field = "solver_mode";
  std::ifstream file(solver);
  std::ptrdiff_t depth = 0; // of braces
  for (std::string line; std::getline(file, line);) {
    line.erase(std::min(line.find('#'), line.size()));
    if (depth == 0 && line.compare(0, 5, "layer") == 0)
      return true;
    depth += std::count(line.begin(), line.end(), '{') -
             std::count(line.begin(), line.end(), '}');
    const size_t at = line.find(field);
    if (at == line.npos)
      continue;
    const size_t colon = line.find_first_not_of(" \t", at + field.size());
    if (colon == line.npos || line[colon] != ':')
      continue;
    const size_t value = line.find_first_not_of(" \t", colon + 1);
    return value != line.npos &&
           (line.compare(value, 3, "CPU") == 0 || line[value] == '0');
  }
  return false;
}

/// Returns the number of GPUs; 0 without a driver.
int gpuCount() {
  try {
    return api::gpuCount();
  } catch (const api::Error &) {
    return 0;
  }
}

/// Returns the numbers in the value of -gpu.
std::vector<int> gpuNumbers(const std::string &wanted, int count) {
  std::vector<int> numbers;
  if (wanted == "all") {
    for (int i = 0; i < count; ++i)
      numbers.push_back(i);
    return numbers;
  }
  std::istringstream stream(wanted + ",");
  for (std::string number; std::getline(stream, number, ',');) {
    if (number.empty() || number.size() > 4 ||
        number.find_first_not_of("0123456789") != number.npos)
      throw usageError("-gpu " + wanted +
                       ": use numbers separated by commas, or all");
    numbers.push_back(std::stoi(number));
  }
  return numbers;
}

} // namespace

std::string gpuArch() { return std::getenv("BREW_CUDASIM") ? "sim" : "native"; }

std::string gpuModels() {
  std::set<std::string> models;
  for (int i = 0, count = gpuCount(); i < count; ++i) {
    std::string model;
    try {
      for (const auto &[name, value] : api::deviceQuery(i))
        if (name == "Name" || name.find("revision") != name.npos)
          model += value + " ";
    } catch (const api::Error &error) { // brew-run reports it, if it matters
      model = error.what();
    }
    models.insert(model);
  }
  std::string text;
  for (const std::string &model : models)
    text += model + "\n";
  return text;
}

std::string gpusOf(const CommandLine &line) {
  const std::string &wanted = line["gpu"];
  if (wanted.empty()) {
    // Only training uses the solver.
    if (line.action != "train" || requestsCpu(line["solver"]))
      return "";
    if (gpuCount() > 0)
      return "0";
    // brewc reports a solver that cannot be read.
    if (::access(line["solver"].c_str(), R_OK) == 0 && isLogged(/*severity=*/1))
      std::fprintf(stderr,
                   "caffe: %s requests a GPU (the default of solver_mode), but "
                   "this machine has none: training on the CPU\n",
                   line["solver"].c_str());
    return "";
  }
  const int count = gpuCount();
  const std::vector<int> numbers = gpuNumbers(wanted, count);
  if (count == 0)
    throw unavailable("-gpu " + wanted +
                      ": this machine has no GPU with a working driver; omit "
                      "-gpu to run on the CPU");
  std::string gpus;
  for (const int number : numbers) {
    if (number >= count)
      throw unavailable("-gpu " + wanted + ": there is no GPU " +
                        std::to_string(number) + "; the last one is " +
                        std::to_string(count - 1));
    gpus += (gpus.empty() ? "" : ",") + std::to_string(number);
    if (line.action != "train")
      break;
  }
  return gpus;
}

} // namespace brew::caffe_command
