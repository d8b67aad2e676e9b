//===- BackgroundHooks.h - Hooks that finish beside training ----*- C++ -*-===//
#pragma once

#include "runtime/events/Events.h"
#include "runtime/train/hooks/HookAction.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace brew::runtime {

/// One thread that does what hooks have left to do, in order. Of a hook whose
/// last turn is not over yet a further one is dropped, so that training is
/// never held up and nothing piles up.
class BackgroundHooks {
public:
  /// A hook's place.
  struct HookState {
    std::atomic<bool> busy = false;
    std::uint64_t dropped = 0; ///< queue; of the training thread
    std::mutex mutex;
    std::string failure; ///< why it failed, once it has
  };

  explicit BackgroundHooks(Events &events) : events(events) {}
  ~BackgroundHooks();

  /// Whether the hook's last turn is over; else counts one that is dropped.
  static bool isIdle(HookState &state);
  void enqueue(std::shared_ptr<HookState> state, HookAction::DeferredWork work);
  /// Waits until all is done.
  void wait();

private:
  void runQueue();

  Events &events;
  std::mutex mutex;
  std::condition_variable changed;
  struct QueuedRun {
    std::shared_ptr<HookState> state;
    HookAction::DeferredWork work;
  };
  std::deque<QueuedRun> queue;
  bool working = false, ending = false;
  std::thread thread; ///< once there is something to do
};

} // namespace brew::runtime
