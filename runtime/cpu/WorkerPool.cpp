//===- WorkerPool.cpp - One team of threads for several sessions ----------===//
#include "runtime/cpu/WorkerPool.h"

#include "support/ThreadWithoutSignals.h"

#include <exception>

namespace brew::runtime {

/// One call of run(), on the stack of its caller.
struct WorkerPool::Turn {
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
  Turn turn{&job, {}, false};
  {
    std::unique_lock<std::mutex> lock(mutex);
    waiting.push_back(&turn);
    changed.notify_all();
    changed.wait(lock, [&] { return turn.done; });
  }
  if (turn.error)
    std::rethrow_exception(turn.error);
}

void WorkerPool::serve() {
  const Threads::Scope entered = team.enter();
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return ending || !waiting.empty(); });
    if (waiting.empty())
      return;
    Turn &turn = *waiting.front();
    waiting.pop_front();
    lock.unlock();
    try {
      (*turn.job)();
    } catch (...) {
      turn.error = std::current_exception();
    }
    lock.lock();
    turn.done = true;
    changed.notify_all();
  }
}

} // namespace brew::runtime
