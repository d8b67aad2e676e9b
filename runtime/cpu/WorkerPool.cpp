//===- WorkerPool.cpp - Team of threads that sessions share ---------------===//
#include "runtime/cpu/WorkerPool.h"

#include "support/ThreadWithoutSignals.h"

#include <exception>

namespace brew::runtime {

/// A call of run(), on the stack of its caller.
struct WorkerPool::Job {
  const std::function<void()> *job;
  std::exception_ptr error;
  bool isDone = false;
};

WorkerPool::WorkerPool(int threads) : team(threads) {
  leader = startThreadWithoutSignals([this] { serve(); });
}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isEnding = true;
  }
  changed.notify_all();
  leader.join();
}

void WorkerPool::run(const std::function<void()> &job) {
  Job queued{&job, {}, false};
  {
    std::unique_lock<std::mutex> lock(mutex);
    queue.push_back(&queued);
    changed.notify_all();
    changed.wait(lock, [&] { return queued.isDone; });
  }
  if (queued.error)
    std::rethrow_exception(queued.error);
}

void WorkerPool::serve() {
  const Threads::Scope scope = team.enter();
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return isEnding || !queue.empty(); });
    if (queue.empty())
      return;
    Job &queued = *queue.front();
    queue.pop_front();
    lock.unlock();
    try {
      (*queued.job)();
    } catch (...) {
      queued.error = std::current_exception();
    }
    lock.lock();
    queued.isDone = true;
    changed.notify_all();
  }
}

} // namespace brew::runtime
