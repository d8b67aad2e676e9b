//===- CacheFolder.cpp - Private folder of compiled plans -----------------===//
#include "tools/caffe/CacheFolder.h"

#include "support/Error.h"
#include "tools/caffe/GlogFlags.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

namespace brew::caffe_command {
namespace {

/// A compiler does not write to one temporary file for longer than this.
constexpr std::chrono::hours kTemporaryFileAge(24);

fs::path preferredFolder() {
  const char *base = std::getenv("XDG_CACHE_HOME");
  if (base && *base)
    return fs::path(base) / "brew" / "plans";
  if (const char *home = std::getenv("HOME"); home && *home)
    return fs::path(home) / ".cache" / "brew" / "plans";
  throw unavailable("there is no folder for compiled plans: set "
                    "XDG_CACHE_HOME or HOME");
}

/// Makes a folder of this user private. Returns whether it is one.
bool makePrivate(const fs::path &folder) {
  struct stat info;
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) ||
      info.st_uid != ::geteuid())
    return false;
  return (info.st_mode & 077) == 0 || ::chmod(folder.c_str(), 0700) == 0;
}

bool isTemporary(const fs::path &path) {
  return path.filename().string().find(".plan.tmp-") != std::string::npos ||
         path.filename().string().find(".plan.key.tmp-") != std::string::npos;
}

} // namespace

fs::path cacheFolder() {
  const PrivateUmask umask;
  const fs::path folder = preferredFolder();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw unavailable("cannot make the folder '" + folder.string() +
                      "' for compiled plans: " + error.message());
  // The folder may be a symbolic link to another one, which is checked.
  const fs::path resolved = fs::canonical(folder, error);
  if (!error && makePrivate(resolved))
    return folder;
  const fs::path temporary = fs::temp_directory_path(error);
  const fs::path other = (error ? fs::path("/tmp") : temporary) /
                         ("brew-plans-" + std::to_string(::geteuid()));
  fs::create_directory(other, error);
  if (!makePrivate(other))
    throw unavailable("the folders '" + folder.string() + "' and '" +
                      other.string() +
                      "' for compiled plans belong to another user: set "
                      "XDG_CACHE_HOME to a folder of yours");
  if (isLogged(/*severity=*/1))
    std::fprintf(stderr,
                 "caffe: warning: '%s' belongs to another user, so compiled "
                 "plans are cached in '%s'\n",
                 folder.c_str(), other.c_str());
  return other;
}

bool isPrivateFile(const fs::path &path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         info.st_uid == ::geteuid() && (info.st_mode & 022) == 0;
}

void limitFolder(const fs::path &folder, std::uint64_t maxBytes,
                 const fs::path &newest) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  std::vector<std::tuple<fs::file_time_type, fs::path, std::uint64_t>> plans;
  std::uint64_t bytes = 0;
  auto sizeOf = [&](const fs::path &path) {
    const std::uintmax_t size = fs::file_size(path, error);
    return error ? 0 : size;
  };
  for (const auto &entry : fs::directory_iterator(folder, error)) {
    const auto time = entry.last_write_time(error);
    if (isTemporary(entry.path()) && now - time > kTemporaryFileAge)
      fs::remove(entry.path(), error);
    if (entry.path().extension() != ".plan")
      continue;
    std::uint64_t size = 0;
    for (const char *suffix : {"", ".key", ".timing"})
      size += sizeOf(entry.path().string() + suffix);
    bytes += size;
    if (entry.path() != newest)
      plans.emplace_back(time, entry.path(), size);
  }
  std::sort(plans.begin(), plans.end());
  for (const auto &[time, path, size] : plans) {
    if (bytes <= maxBytes)
      return;
    // Without its key a plan is not used, so the key goes first.
    for (const char *suffix : {".key", ".timing", ""})
      fs::remove(path.string() + suffix, error);
    bytes -= size;
  }
}

} // namespace brew::caffe_command
