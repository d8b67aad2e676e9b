//===- BackgroundHooks.cpp - Thread for background hooks ------------------===//

#include "runtime/train/hooks/BackgroundHooks.h"

#include "support/ThreadWithoutSignals.h"

#include <exception>
#include <utility>

namespace brew::runtime {

BackgroundHooks::~BackgroundHooks() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ending = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

bool BackgroundHooks::isIdleOrCountSkip(HookState &state) {
  if (!state.busy)
    return true;
  ++state.dropped;
  return false;
}

void BackgroundHooks::enqueue(std::shared_ptr<HookState> state,
                              HookAction::DeferredWork work) {
  // Without a thread there is nothing to wait for.
  if (!thread.joinable())
    thread = startThreadWithoutSignals([this] { runQueue(); });
  state->busy = true;
  {
    std::lock_guard<std::mutex> lock(mutex);
    queue.push_back({std::move(state), std::move(work)});
  }
  changed.notify_all();
}

void BackgroundHooks::wait() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [this] { return queue.empty() && !working; });
}

void BackgroundHooks::runQueue() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return ending || !queue.empty(); });
    if (queue.empty())
      return;
    QueuedRun next = std::move(queue.front());
    queue.pop_front();
    working = true;
    lock.unlock();
    std::string failure;
    try {
      for (std::string &line : next.work())
        events.post(event::LogLine{log::Severity::Info, log::site::brew,
                                   std::move(line)});
    } catch (const std::exception &error) {
      failure = error.what();
    } catch (...) {
      failure = "an unknown exception";
    }
    next.work = {}; // destroy its data before the hook becomes idle
    if (!failure.empty()) {
      std::lock_guard<std::mutex> stateLock(next.state->mutex);
      next.state->failure = failure;
    }
    next.state->busy = false;
    next.state.reset();
    lock.lock();
    working = false;
    changed.notify_all();
  }
}

} // namespace brew::runtime
