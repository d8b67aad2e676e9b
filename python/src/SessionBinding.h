//===- SessionBinding.h - Sessions shared by threads ------------*- C++ -*-===//
#pragma once

#include "ExitGuard.h"
#include "HostLayers.h"
#include "Options.h"

#include <brew/brew.hpp>

#include <pthread.h>

#include <memory>
#include <mutex>

namespace brew::python {

/// Detects forked children. Threads do not survive a fork, so objects opened
/// before it can neither run nor be destroyed in the child. Counts the forks
/// between the process that opened the first object and this process.
class ForkGuard {
public:
  static int count() { return counter(); }
  /// Call it when an object is opened.
  static void watch() {
    static const bool watching =
        pthread_atfork(nullptr, nullptr, [] { ++counter(); }) == 0;
    (void)watching;
    refuse();
  }
  /// Throws in a forked child.
  static void refuse() {
    if (count())
      throw api::Error(BREW_USAGE,
                       "this process was forked from one that had used Brew, "
                       "whose threads do not exist here; start it with "
                       "multiprocessing's method 'spawn' or 'forkserver'");
  }

private:
  static int &counter() {
    static int forks = 0;
    return forks;
  }
};

class SharedThreadPool {
public:
  explicit SharedThreadPool(int threads) {
    ForkGuard::watch();
    threadPool = std::make_unique<api::ThreadPool>(threads);
  }
  ~SharedThreadPool() {
    if (ForkGuard::count())
      threadPool.release(); // its threads cannot be joined
  }
  const api::ThreadPool *get() const { return threadPool.get(); }

private:
  std::unique_ptr<api::ThreadPool> threadPool;
};

class SharedSession {
public:
  /// `hosts` may be null.
  SharedSession(const api::Plan &plan, api::SessionOptions options,
                std::shared_ptr<PythonLayerTypes> hosts)
      : hosts(std::move(hosts)), gpuNumber(options.gpu) {
    ForkGuard::watch();
    session = std::make_unique<api::Session>(plan, std::move(options));
  }
  ~SharedSession() {
    if (ForkGuard::count())
      session.release(); // its threads cannot be joined
  }

  api::Session *get() const { return session.get(); }
  int gpu() const { return gpuNumber; }

  /// Runs `body(session)` without the GIL. Throws Error if another thread is
  /// using the session. Rethrows the original exceptions of layers written in
  /// Python.
  template <typename Body> auto runExclusive(Body &&body) {
    GilRelease released;
    ForkGuard::refuse();
    const std::unique_lock<std::recursive_mutex> lock(useMutex,
                                                      std::try_to_lock);
    if (!lock.owns_lock())
      throw api::Error(BREW_USAGE,
                       "another thread is using this session; only one thread "
                       "may use a session at a time; open one session for each "
                       "thread");
    if (!hosts)
      return body(*session);
    hosts->clear();
    try {
      return body(*session);
    } catch (const api::Error &) {
      hosts->rethrow();
      throw;
    }
  }

private:
  std::shared_ptr<PythonLayerTypes> hosts; // outlives `session`
  int gpuNumber;
  std::unique_ptr<api::Session> session;
  std::recursive_mutex useMutex;
};

} // namespace brew::python
