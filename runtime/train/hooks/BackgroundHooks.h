//===- BackgroundHooks.h - Thread for background hooks ----------*- C++ -*-===//
#pragma once

#include "runtime/events/Events.h"
#include "runtime/train/hooks/HookAction.h"
#include "support/PerProcess.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace brew::runtime {

/// A thread that runs the deferred work of hooks in order. A hook whose last
/// run has not finished is skipped, so that training never waits and no queue
/// builds up.
class BackgroundHooks {
public:
  /// State of one hook.
  struct HookState {
    std::atomic<bool> busy = false;
    std::uint64_t dropped = 0; ///< skipped runs; for the training thread only
    std::mutex mutex;
    std::string failure; ///< the error of a run, or ""; guarded by `mutex`
  };

  explicit BackgroundHooks(Events &events);
  ~BackgroundHooks();

  /// Returns whether the hook's last run has finished. Otherwise counts a
  /// skipped run.
  static bool isIdleOrCountSkip(HookState &state);
  /// Queues the work of a hook whose last run has finished.
  void enqueue(std::shared_ptr<HookState> state, HookAction::DeferredWork work);
  /// Waits for all queued work.
  void wait();

private:
  class Worker;

  PerProcess<Worker> worker; ///< started at the first use
};

} // namespace brew::runtime
