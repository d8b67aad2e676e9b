//===- WorkerPool.cpp - Team of threads that sessions share ---------------===//
#include "runtime/cpu/WorkerPool.h"

#include "support/ThreadWithoutSignals.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace brew::runtime {

/// The thread whose team runs the jobs.
class WorkerPool::Leader {
public:
  explicit Leader(const Threads &team) : team(team) {
    thread = startThreadWithoutSignals([this] { serve(); });
  }
  ~Leader() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      isEnding = true;
    }
    changed.notify_all();
    thread.join();
  }
  Leader(const Leader &) = delete;
  Leader &operator=(const Leader &) = delete;

  void run(const std::function<void()> &job) {
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

private:
  /// A call of run(), on the stack of its caller.
  struct Job {
    const std::function<void()> *job;
    std::exception_ptr error;
    bool isDone = false;
  };

  void serve() {
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

  const Threads &team;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job *> queue;
  bool isEnding = false;
  std::thread thread;
};

WorkerPool::WorkerPool(int threads)
    : team(threads), leader([this] { return std::make_unique<Leader>(team); }) {
  leader.get(); // reports now that the system cannot create a thread
}

WorkerPool::~WorkerPool() = default;

void WorkerPool::run(const std::function<void()> &job) {
  leader.get().run(job);
}

} // namespace brew::runtime
