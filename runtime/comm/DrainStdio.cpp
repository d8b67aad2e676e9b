//===- DrainStdio.cpp - What a process has written before it ends ----------===//

#include "runtime/comm/DrainStdio.h"

#include <chrono>
#include <cstdio>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace brew::runtime::comm {
namespace {

using namespace std::chrono_literals;

/// For a launcher that is stopped, or whose own output nobody reads.
constexpr auto kLimit = 1s;
constexpr auto kPause = 1ms;
/// In which a launcher passes on what it has read, and a pseudo-terminal, which
/// cannot be asked, is read.
constexpr auto kPassingOn = 100ms;

/// Whether a pipe has bytes that nobody has read. False for what is no pipe.
bool isUnread(int descriptor) {
  struct stat kind {};
  int bytes = 0;
  return fstat(descriptor, &kind) == 0 && S_ISFIFO(kind.st_mode) &&
         ioctl(descriptor, FIONREAD, &bytes) == 0 && bytes > 0;
}

} // namespace

void drainStdio() {
  std::fflush(stdout);
  std::fflush(stderr);
  const auto end = std::chrono::steady_clock::now() + kLimit;
  for (int descriptor : {STDOUT_FILENO, STDERR_FILENO})
    while (isUnread(descriptor) && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(kPause);
  std::this_thread::sleep_for(kPassingOn);
}

} // namespace brew::runtime::comm
