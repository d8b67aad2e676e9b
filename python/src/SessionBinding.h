//===- SessionBinding.h - Sessions shared by threads ------------*- C++ -*-===//
#pragma once

#include "ExitGuard.h"
#include "ForkGuard.h"
#include "HostLayers.h"
#include "Options.h"

#include <brew/brew.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

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
    const Use use(*this);
    if (!use.isAllowed)
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
  /// A use of the session by a thread, which may use it again within the use.
  /// In contrast to std::recursive_mutex, so may the child of a fork.
  struct Use {
    explicit Use(SharedSession &session) : session(session) {
      const std::thread::id self = std::this_thread::get_id();
      std::thread::id none;
      isFirst = session.user.compare_exchange_strong(none, self);
      isAllowed = isFirst || none == self;
    }
    ~Use() {
      if (isFirst)
        session.user = std::thread::id();
    }
    Use(const Use &) = delete;
    Use &operator=(const Use &) = delete;

    SharedSession &session;
    bool isFirst, isAllowed;
  };

  std::shared_ptr<PythonLayerTypes> hosts; // outlives `session`
  int gpuNumber;
  bool usesGpu = false;
  ForkGuard forkGuard{"a session on a GPU"};
  std::unique_ptr<api::Session> session;
  std::atomic<std::thread::id> user; ///< none: std::thread::id()
};

} // namespace brew::python
