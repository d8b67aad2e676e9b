//===- ThreadWithoutSignals.h - Threads that block signals ------*- C++ -*-===//
#pragma once

#include "support/Error.h"

#include <csignal>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <utility>

namespace brew {

/// Starts a thread that blocks all signals, so that the program's own threads
/// handle them. Throws Error (3) if the system cannot create a thread.
template <typename Body> std::thread startThreadWithoutSignals(Body &&body) {
  struct SignalBlocker {
    sigset_t previous;
    SignalBlocker() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &previous);
    }
    ~SignalBlocker() { pthread_sigmask(SIG_SETMASK, &previous, nullptr); }
  } const signalBlocker;
  try {
    return std::thread(std::forward<Body>(body));
  } catch (const std::system_error &) {
    throw unavailable("the system cannot create another thread");
  }
}

} // namespace brew
