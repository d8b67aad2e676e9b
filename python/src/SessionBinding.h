//===- SessionBinding.h - Sessions shared by threads ------------*- C++ -*-===//
#pragma once

#include "ExitGuard.h"
#include "ForkGuard.h"
#include "HostLayers.h"
#include "Options.h"

#include <brew/brew.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace brew::python {

/// A thread pool; forked children start threads of their own.
class SharedThreadPool {
public:
  explicit SharedThreadPool(int threads) : threadPool(threads) {}
  const api::ThreadPool *get() const { return &threadPool; }

private:
  api::ThreadPool threadPool;
};

class SharedSession {
public:
  /// `hosts` may be null.
  SharedSession(const api::Plan &plan, api::SessionOptions options,
                std::shared_ptr<PythonLayerTypes> hosts)
      : hosts(std::move(hosts)), gpuNumber(options.gpu) {
    session = std::make_unique<api::Session>(plan, std::move(options));
    usesGpu = std::string_view(session->device()) != "cpu";
  }
  ~SharedSession() {
    if (isOfParent())
      session.release();
  }

  api::Session *get() const { return session.get(); }
  int gpu() const { return gpuNumber; }
  /// Throws in a forked child if the session is on a GPU.
  void refuseInForkedChild() const {
    if (usesGpu)
      forkGuard.refuse();
  }
  /// Whether the session must be leaked: it is on a GPU of this process's
  /// parent.
  bool isOfParent() const { return usesGpu && forkGuard.isForked(); }

  /// Runs `body(session)` without the GIL. Throws Error if another thread is
  /// using the session. Rethrows the original exceptions of layers written in
  /// Python.
  template <typename Body> auto runExclusive(Body &&body) {
    GilRelease released;
    refuseInForkedChild();
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
  bool usesGpu = false;
  ForkGuard forkGuard{"a session on a GPU"};
  std::unique_ptr<api::Session> session;
  std::recursive_mutex useMutex;
};

} // namespace brew::python
