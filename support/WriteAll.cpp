//===- WriteAll.cpp - Complete writes to a file descriptor ----------------===//

#include "support/WriteAll.h"

#include <cerrno>
#include <unistd.h>

namespace brew {

int writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return written < 0 ? errno : ENOSPC;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

} // namespace brew
