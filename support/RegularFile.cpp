//===- RegularFile.cpp - Files that must not be pipes ---------------------===//
#include "support/RegularFile.h"

#include "support/Error.h"

#include <sys/stat.h>

namespace brew {
namespace {

/// Whether the path names a file that is already open.
bool isOpenFile(const std::string &path) {
  for (const char *prefix :
       {"/dev/stdin", "/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"})
    if (path.rfind(prefix, 0) == 0)
      return true;
  return false;
}

} // namespace

void refuseSpecialFile(const std::string &path) {
  struct stat info;
  if (isOpenFile(path) || stat(path.c_str(), &info) != 0 ||
      S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))
    return;
  throw badInput(path + ": is a " +
                 (S_ISFIFO(info.st_mode)   ? "pipe"
                  : S_ISSOCK(info.st_mode) ? "socket"
                                           : "device") +
                 ", not a regular file");
}

} // namespace brew
