//===- PlanCache.cpp - Plans kept from one run to the next ----------------===//
#include "tools/caffe/PlanCache.h"

#include "formats/AtomicFile.h"
#include "formats/Error.h"
#include "tools/caffe/PlanKey.h"
#include "tools/common/Programs.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fs = std::filesystem;

namespace brew::caffecmd {
namespace {

constexpr size_t kMostPlans = 64;

fs::path cacheFolder() {
  const char *base = std::getenv("XDG_CACHE_HOME");
  fs::path folder;
  if (base && *base)
    folder = base;
  else if (const char *home = std::getenv("HOME"); home && *home)
    folder = fs::path(home) / ".cache";
  else
    throw machineLacks("there is no folder for compiled plans: set "
                       "XDG_CACHE_HOME or HOME");
  folder = folder / "brew" / "plans";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw machineLacks("cannot make the folder '" + folder.string() +
                       "' for compiled plans: " + error.message());
  return folder;
}

/// FNV-1a, for a name; the key itself, kept beside the plan, decides.
std::string nameOf(const std::string &key) {
  std::uint64_t hash = 14695981039346656037u;
  for (const unsigned char each : key)
    hash = (hash ^ each) * 1099511628211u;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(hash));
  return text;
}

std::string contentOf(const fs::path &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Removes the plans unused the longest, with what lies beside them.
void removeOld(const fs::path &folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> plans;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".plan")
      plans.emplace_back(entry.last_write_time(error), entry.path());
  if (plans.size() <= kMostPlans)
    return;
  std::sort(plans.begin(), plans.end());
  plans.resize(plans.size() - kMostPlans);
  for (const auto &[time, path] : plans)
    for (const char *ending : {"", ".key", ".timing"})
      fs::remove(path.string() + ending, error);
}

} // namespace

CachedPlan compileCached(const std::string &prototxt,
                         const std::vector<std::string> &flags, bool isSolver) {
  const fs::path folder = cacheFolder();
  const std::string key = planKey(prototxt, flags);
  CachedPlan result;
  result.path = folder / (nameOf(key) + ".plan");
  const std::string keyPath = result.path + ".key";
  std::error_code error;
  if (fs::exists(result.path, error) && contentOf(keyPath) == key) {
    fs::last_write_time(result.path, fs::file_time_type::clock::now(), error);
    return result;
  }
  fs::remove(keyPath, error); // of another plan of this name
  const std::string brewc = tools::programBeside("brewc", "caffe");
  if (isSolver) {
    result.status = tools::runProgram({brewc, prototxt, "--solver-only"});
    if (result.status != 0)
      return result;
  }
  std::vector<std::string> words = {brewc, prototxt, "-o", result.path};
  words.insert(words.end(), flags.begin(), flags.end());
  const auto begin = std::chrono::steady_clock::now();
  result.status = tools::runProgram(words);
  if (result.status != 0)
    return result;
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - begin;
  formats::writeFileAtomically(keyPath, key);
  std::fprintf(stderr, "caffe: compiled %s in %.1f s to %s\n", prototxt.c_str(),
               time.count(), result.path.c_str());
  removeOld(folder);
  return result;
}

} // namespace brew::caffecmd
