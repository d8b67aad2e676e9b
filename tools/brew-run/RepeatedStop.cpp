//===- RepeatedStop.cpp - End by a second SIGINT --------------------------===//

#include "RepeatedStop.h"

#include <atomic>
#include <csignal>
#include <ctime>

namespace brew::run {
namespace {

/// Time of the first request to stop in milliseconds; 0: none yet.
std::atomic<long long> stopTime{0};
static_assert(std::atomic<long long>::is_always_lock_free);
constexpr long long kRepetitionMilliseconds = 500;

} // namespace

bool isRepeatedStop(int signal) {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return isRepeatedStop(signal,
                        time.tv_sec * 1000ll + time.tv_nsec / 1000000 + 1);
}

bool isRepeatedStop(int signal, long long now) {
  long long first = 0;
  return !stopTime.compare_exchange_strong(first, now) && signal == SIGINT &&
         now - first > kRepetitionMilliseconds;
}

void forgetStops() { stopTime = 0; }

} // namespace brew::run
