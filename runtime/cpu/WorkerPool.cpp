//===- WorkerPool.cpp - Team of threads that sessions share ---------------===//
#include "runtime/cpu/WorkerPool.h"

#include "support/ThreadWithoutSignals.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace brew::runtime {

/// A thread of the pool, whose team runs the jobs of several threads.
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

/// Chooses the thread that runs a job.
class WorkerPool::Dispatcher {
public:
  explicit Dispatcher(const Threads &team) : team(team) {}

  void run(const std::function<void()> &job) {
    {
      // Held while the only caller runs a job, so that another one waits.
      const std::lock_guard<std::mutex> lock(mutex);
      if (!leader && onlyCaller == std::thread::id())
        onlyCaller = std::this_thread::get_id();
      if (!leader && onlyCaller == std::this_thread::get_id()) {
        const Threads::Scope scope = team.enter();
        job();
        return;
      }
      if (!leader)
        leader = std::make_unique<Leader>(team);
    }
    leader->run(job);
  }

private:
  const Threads &team;
  std::mutex mutex;
  std::thread::id onlyCaller;     ///< none before the first job
  std::unique_ptr<Leader> leader; ///< null until there is a second caller
};

WorkerPool::WorkerPool(int threads)
    : team(threads),
      dispatcher([this] { return std::make_unique<Dispatcher>(team); }) {
  dispatcher.get(); // counts forks from now on
}

WorkerPool::~WorkerPool() = default;

void WorkerPool::run(const std::function<void()> &job) {
  dispatcher.get().run(job);
}

} // namespace brew::runtime
