//===- ForkCount.cpp - Detection of forked processes ----------------------===//
#include "support/ForkCount.h"

#include <atomic>
#include <pthread.h>

namespace brew {
namespace {
std::atomic<int> count{0};
} // namespace

int forkCount() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { ++count; });
  (void)registered;
  return count;
}

} // namespace brew
