//===- DrainStdio.cpp - Standard output before a process ends -------------===//

#include "runtime/comm/DrainStdio.h"

#include <chrono>
#include <cstdio>
#include <initializer_list>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace brew::runtime::comm {
namespace {

using namespace std::chrono_literals;

/// Limit for launchers that are stopped or whose own output nobody reads.
constexpr auto kLimit = 1s;
constexpr auto kPause = 1ms;
/// Time for a launcher to forward the output that it has read, and for the
/// reader of a pseudo-terminal, whose unread bytes cannot be queried.
constexpr auto kPassingOn = 100ms;

/// Returns whether a descriptor is a pipe with unread bytes.
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
