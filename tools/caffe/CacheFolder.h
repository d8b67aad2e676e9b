//===- CacheFolder.h - Private folder of compiled plans ---------*- C++ -*-===//
//
// A plan contains machine code that brew-run executes, so a cached plan must be
// one that this user has written.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <filesystem>
#include <sys/stat.h>

namespace brew::caffe_command {

/// Returns the folder for compiled plans, which only this user can access:
/// $XDG_CACHE_HOME/brew/plans (default: ~/.cache), or, with a warning, a folder
/// for temporary files if that one belongs to another user. Creates it. Throws
/// Error (3) if there is no such folder.
std::filesystem::path cacheFolder();

/// Whether `path` is a regular file of this user, and no other user can write
/// to it.
bool isPrivateFile(const std::filesystem::path &path);

/// Removes the least recently used plans of a folder, with their accompanying
/// files, and temporary files of compilers that were killed, until the folder
/// has at most `maxBytes` bytes. Keeps `newest`.
void limitFolder(const std::filesystem::path &folder, std::uint64_t maxBytes,
                 const std::filesystem::path &newest);

/// Makes new files accessible only for this user during its lifetime.
class PrivateUmask {
public:
  PrivateUmask() : saved(::umask(077)) {}
  ~PrivateUmask() { ::umask(saved); }
  PrivateUmask(const PrivateUmask &) = delete;
  PrivateUmask &operator=(const PrivateUmask &) = delete;

private:
  const mode_t saved;
};

} // namespace brew::caffe_command
