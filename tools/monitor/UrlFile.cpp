//===- UrlFile.cpp - Private file with the URL of a page ------------------===//

#include "tools/monitor/UrlFile.h"

#include <brew/brew.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace brew::monitor {
namespace {

namespace fs = std::filesystem;

fs::path folderOfUrls() {
  std::error_code error;
  const char *runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime && *runtime && ::access(runtime, W_OK) == 0 &&
      fs::is_directory(runtime, error))
    return runtime;
  const fs::path temporary = fs::temp_directory_path(error);
  return error ? fs::path("/tmp") : temporary;
}

} // namespace

UrlFile::UrlFile(const std::string &url) {
  constexpr char suffix[] = ".url";
  name =
      (folderOfUrls() / (std::string("brew-monitor-XXXXXX") + suffix)).string();
  const std::string text = url + "\n";
  const int file = ::mkostemps(name.data(), sizeof suffix - 1, O_CLOEXEC);
  const bool isWritten = file >= 0 && ::write(file, text.data(), text.size()) ==
                                          static_cast<ssize_t>(text.size());
  const int reason = errno;
  if (file >= 0)
    ::close(file);
  if (isWritten)
    return;
  if (file >= 0)
    ::unlink(name.c_str());
  throw api::Error(BREW_UNAVAILABLE,
                   "--monitor: cannot write the page's URL to '" + name +
                       "': " + std::strerror(reason));
}

UrlFile::~UrlFile() { ::unlink(name.c_str()); }

} // namespace brew::monitor
