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
constexpr auto kPollInterval = 1ms;
/// Time for a launcher to forward the output that it has read. Also the time
/// for the reader of a pseudo-terminal, whose unread bytes cannot be counted.
constexpr auto kForwardingTime = 100ms;

/// Returns whether a descriptor is a pipe with unread bytes.
bool hasUnreadBytes(int descriptor) {
  struct stat status {};
  int bytes = 0;
  return fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode) &&
         ioctl(descriptor, FIONREAD, &bytes) == 0 && bytes > 0;
}

} // namespace

void drainStdio() {
  std::fflush(stdout);
  std::fflush(stderr);
  const auto end = std::chrono::steady_clock::now() + kLimit;
  for (int descriptor : {STDOUT_FILENO, STDERR_FILENO})
    while (hasUnreadBytes(descriptor) && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(kPollInterval);
  std::this_thread::sleep_for(kForwardingTime);
}

} // namespace brew::runtime::comm
