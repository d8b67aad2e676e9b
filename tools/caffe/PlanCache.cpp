//===- PlanCache.cpp - Cache of compiled plans ----------------------------===//
#include "tools/caffe/PlanCache.h"

#include "support/AtomicFile.h"
#include "support/Error.h"
#include "support/FileChecksum.h"
#include "tools/caffe/CacheFolder.h"
#include "tools/caffe/GlogFlags.h"
#include "tools/caffe/PlanKey.h"
#include "tools/common/Programs.h"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <unistd.h>

namespace fs = std::filesystem;

namespace brew::caffe_command {
namespace {

constexpr char kSizeVariable[] = "BREW_PLAN_CACHE_MB";
constexpr std::uint64_t kDefaultMegabytes = 1000, kMaxMegabytes = 1000000000;

std::uint64_t maxCacheBytes() {
  std::uint64_t megabytes = kDefaultMegabytes;
  if (const char *text = std::getenv(kSizeVariable); text && *text) {
    const char *end = text + std::strlen(text);
    const auto [stop, parseError] = std::from_chars(text, end, megabytes);
    if (parseError != std::errc() || stop != end || megabytes > kMaxMegabytes)
      throw usageError(std::string(kSizeVariable) + ": '" + text +
                       "' is not a number of megabytes");
  }
  return megabytes * 1000000;
}

std::string readFile(const fs::path &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Returns the size and checksum of a plan; "" if it cannot be read.
std::string stampOfPlan(const std::string &path) {
  try {
    const FileChecksum checksum = checksumOfFile(path);
    return std::to_string(checksum.size) + " " + std::to_string(checksum.crc) +
           "\n";
  } catch (const Error &) {
    return "";
  }
}

enum class Entry { Valid, Missing, Damaged };

/// Checks the plan at `path`. Its key file contains the plan's size and
/// checksum in a line before the key.
Entry checkEntry(const std::string &path, const std::string &key) {
  const std::string keyPath = path + ".key";
  if (!isPrivateFile(path) || !isPrivateFile(keyPath))
    return Entry::Missing;
  const std::string content = readFile(keyPath);
  const size_t lineEnd = content.find('\n');
  if (lineEnd == content.npos ||
      content.compare(lineEnd + 1, content.npos, key) != 0)
    return Entry::Missing;
  return content.substr(0, lineEnd + 1) == stampOfPlan(path) ? Entry::Valid
                                                             : Entry::Damaged;
}

} // namespace

CachedPlan compileCached(const std::string &prototxt,
                         const std::vector<std::string> &flags, bool isSolver) {
  const std::uint64_t maxBytes = maxCacheBytes();
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
  const Entry entry = key ? checkEntry(result.path, *key) : Entry::Missing;
  if (entry == Entry::Valid) {
    fs::last_write_time(result.path, fs::file_time_type::clock::now(), error);
    return result;
  }
  if (entry == Entry::Damaged && isLogged(/*severity=*/1))
    std::fprintf(stderr,
                 "caffe: warning: the compiled plan '%s' is damaged; compiling "
                 "%s again\n",
                 result.path.c_str(), prototxt.c_str());
  // The key belongs to another plan. brewc replaces this user's plan, which
  // another process may have just written and still needs.
  fs::remove(keyPath, error);
  if (!isPrivateFile(result.path))
    fs::remove(result.path, error);
  const PrivateUmask umask;
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
    writeFileAtomically(keyPath, stampOfPlan(result.path) + *key);
  if (isLogged(/*severity=*/0))
    std::fprintf(stderr, "caffe: compiled %s in %.1f s to %s\n",
                 prototxt.c_str(), time.count(), result.path.c_str());
  limitFolder(folder, maxBytes, result.path);
  return result;
}

} // namespace brew::caffe_command
