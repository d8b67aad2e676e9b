//===- WorkerPool.cpp - One team of threads for several sessions ----------===//
#include "runtime/cpu/WorkerPool.h"

#include "support/ThreadWithoutSignals.h"

#include <exception>

namespace brew::runtime {

/// One call of run(), on the stack of its caller.
struct WorkerPool::Job {
  const std::function<void()> *job;
  std::exception_ptr error;
  bool done = false;
};

WorkerPool::WorkerPool(int threads) : team(threads) {
  leader = startThreadWithoutSignals([this] { serve(); });
}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ending = true;
  }
  changed.notify_all();
  leader.join();
}

void WorkerPool::run(const std::function<void()> &job) {
  Job job2{&job, {}, false};
  {
    std::unique_lock<std::mutex> lock(mutex);
    queue.push_back(&job2);
    changed.notify_all();
    changed.wait(lock, [&] { return job2.done; });
  }
  if (job2.error)
    std::rethrow_exception(job2.error);
}

void WorkerPool::serve() {
  const Threads::Scope entered = team.enter();
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return ending || !queue.empty(); });
    if (queue.empty())
      return;
    Job &job2 = *queue.front();
    queue.pop_front();
    lock.unlock();
    try {
      (*job2.job)();
    } catch (...) {
      job2.error = std::current_exception();
    }
    lock.lock();
    job2.done = true;
    changed.notify_all();
  }
}

} // namespace brew::runtime
