//===- BackgroundHooks.cpp - Thread for background hooks ------------------===//

#include "runtime/train/hooks/BackgroundHooks.h"

#include "support/ThreadWithoutSignals.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <thread>
#include <utility>

namespace brew::runtime {

/// The thread and its queue.
class BackgroundHooks::Worker {
public:
  explicit Worker(Events &events) : events(events) {
    thread = startThreadWithoutSignals([this] { runQueue(); });
  }
  ~Worker() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      ending = true;
    }
    changed.notify_all();
    thread.join();
  }
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  void enqueue(std::shared_ptr<HookState> state,
               HookAction::DeferredWork work) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      queue.push_back({std::move(state), std::move(work)});
    }
    changed.notify_all();
  }

  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [this] { return queue.empty() && !working; });
  }

private:
  struct QueuedRun {
    std::shared_ptr<HookState> state;
    HookAction::DeferredWork work;
  };

  void runQueue();

  Events &events;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<QueuedRun> queue;
  bool working = false, ending = false;
  std::thread thread;
};

BackgroundHooks::BackgroundHooks(Events &events)
    : worker([&events] { return std::make_unique<Worker>(events); }) {}

BackgroundHooks::~BackgroundHooks() = default;

bool BackgroundHooks::isIdleOrCountSkip(HookState &state) {
  if (!state.busy)
    return true;
  ++state.dropped;
  return false;
}

void BackgroundHooks::enqueue(std::shared_ptr<HookState> state,
                              HookAction::DeferredWork work) {
  Worker &current = worker.get();
  state->busy = true;
  current.enqueue(std::move(state), std::move(work));
}

void BackgroundHooks::wait() {
  if (Worker *current = worker.find()) // else there is nothing to wait for
    current->wait();
}

void BackgroundHooks::Worker::runQueue() {
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
