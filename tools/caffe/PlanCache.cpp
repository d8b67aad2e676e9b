//===- PlanCache.cpp - Cache of compiled plans ----------------------------===//
#include "tools/caffe/PlanCache.h"

#include "support/AtomicFile.h"
#include "support/Error.h"
#include "tools/caffe/GlogFlags.h"
#include "tools/caffe/PlanKey.h"
#include "tools/common/Programs.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace fs = std::filesystem;

namespace brew::caffe_command {
namespace {

constexpr size_t kMaxPlans = 64;

fs::path cacheFolder() {
  const char *base = std::getenv("XDG_CACHE_HOME");
  fs::path folder;
  if (base && *base)
    folder = base;
  else if (const char *home = std::getenv("HOME"); home && *home)
    folder = fs::path(home) / ".cache";
  else
    throw unavailable("there is no folder for compiled plans: set "
                      "XDG_CACHE_HOME or HOME");
  folder = folder / "brew" / "plans";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw unavailable("cannot make the folder '" + folder.string() +
                      "' for compiled plans: " + error.message());
  return folder;
}

std::string readFile(const fs::path &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Removes the least recently used plans and their accompanying files.
void removeOldPlans(const fs::path &folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> plans;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".plan")
      plans.emplace_back(entry.last_write_time(error), entry.path());
  if (plans.size() <= kMaxPlans)
    return;
  std::sort(plans.begin(), plans.end());
  plans.resize(plans.size() - kMaxPlans);
  for (const auto &[time, path] : plans)
    for (const char *suffix : {"", ".key", ".timing"})
      fs::remove(path.string() + suffix, error);
}

} // namespace

CachedPlan compileCached(const std::string &prototxt,
                         const std::vector<std::string> &flags, bool isSolver) {
  const fs::path folder = cacheFolder();
  const std::string brewc = tools::siblingProgram("brewc", "caffe");
  const std::optional<std::string> key = planKey(brewc, prototxt, flags);
  CachedPlan result;
  // The file name is a hash of the key. Another file beside the plan contains
  // the complete key, to detect hash collisions. Without a key, the plan is
  // private to this process.
  result.path =
      folder /
      (hashOf(key.value_or(prototxt + " " + std::to_string(::getpid()))) +
       ".plan");
  const std::string keyPath = result.path + ".key";
  std::error_code error;
  if (key && fs::exists(result.path, error) && readFile(keyPath) == *key) {
    fs::last_write_time(result.path, fs::file_time_type::clock::now(), error);
    return result;
  }
  fs::remove(keyPath, error); // belongs to another plan
  if (isSolver) {
    result.status = tools::runProgram({brewc, prototxt, "--solver-only"});
    if (result.status != 0)
      return result;
  }
  std::vector<std::string> command = {brewc, prototxt, "-o", result.path};
  command.insert(command.end(), flags.begin(), flags.end());
  const auto begin = std::chrono::steady_clock::now();
  result.status = tools::runProgram(command);
  if (result.status != 0)
    return result;
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - begin;
  // If files changed meanwhile, it is unknown which content brewc read.
  if (key && planKey(brewc, prototxt, flags) == key)
    writeFileAtomically(keyPath, *key);
  if (isLogged(/*severity=*/0))
    std::fprintf(stderr, "caffe: compiled %s in %.1f s to %s\n",
                 prototxt.c_str(), time.count(), result.path.c_str());
  removeOldPlans(folder);
  return result;
}

} // namespace brew::caffe_command
