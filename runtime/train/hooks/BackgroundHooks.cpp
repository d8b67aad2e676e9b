//===- BackgroundHooks.cpp - Hooks that finish beside training ------------===//

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

bool BackgroundHooks::isFree(Slot &slot) {
  if (!slot.busy)
    return true;
  ++slot.dropped;
  return false;
}

void BackgroundHooks::start(std::shared_ptr<Slot> slot, HookAction::DeferredWork rest) {
  // Where there is no thread, there is nothing to wait for.
  if (!thread.joinable())
    thread = startThreadWithoutSignals([this] { work(); });
  slot->busy = true;
  {
    std::lock_guard<std::mutex> lock(mutex);
    turns.push_back({std::move(slot), std::move(rest)});
  }
  changed.notify_all();
}

void BackgroundHooks::wait() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [this] { return turns.empty() && !working; });
}

void BackgroundHooks::work() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return ending || !turns.empty(); });
    if (turns.empty())
      return;
    Turn turn = std::move(turns.front());
    turns.pop_front();
    working = true;
    lock.unlock();
    std::string failure;
    try {
      for (std::string &line : turn.rest())
        events.post(event::LogLine{log::Severity::Info, log::site::brew,
                                   std::move(line)});
    } catch (const std::exception &error) {
      failure = error.what();
    } catch (...) {
      failure = "an unknown exception";
    }
    turn.rest = {}; // what it holds goes before its hook is free
    if (!failure.empty()) {
      std::lock_guard<std::mutex> own(turn.slot->mutex);
      turn.slot->failure = failure;
    }
    turn.slot->busy = false;
    turn.slot.reset();
    lock.lock();
    working = false;
    changed.notify_all();
  }
}

} // namespace brew::runtime
