//===- StandardStreams.cpp - Log and results of the tools -----------------===//

#include "tools/common/StandardStreams.h"

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <initializer_list>
#include <poll.h>
#include <unistd.h>

namespace brew::tools {
namespace {

/// Whether standard output is a pipe or socket whose reader is gone.
bool hasLostReader() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return poll(&output, 1, /*timeout=*/0) == 1 && (output.revents & POLLERR);
}

} // namespace

void protectStandardStreams() {
  // In ascending order, since open() returns the lowest free number.
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1)
      open("/dev/null", O_RDWR);
  std::signal(SIGPIPE, SIG_IGN);
}

bool flushResults() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return true;
  if (hasLostReader()) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  return false;
}

} // namespace brew::tools
