//===- ThreadWithoutSignals.h - Threads that take no signals ------------*- C++ -*-===//
#pragma once

#include "support/Error.h"

#include <csignal>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <utility>

namespace brew {

/// Starts a thread on which no signal is delivered: signals are the business of
/// the program's own threads. Throws Error (3) if the system gives no thread.
template <typename Body> std::thread startThreadWithoutSignals(Body &&body) {
  struct Blocked {
    sigset_t previous;
    Blocked() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &previous);
    }
    ~Blocked() { pthread_sigmask(SIG_SETMASK, &previous, nullptr); }
  } const blocked;
  try {
    return std::thread(std::forward<Body>(body));
  } catch (const std::system_error &) {
    throw unavailable("the system gives no more threads");
  }
}

} // namespace brew
