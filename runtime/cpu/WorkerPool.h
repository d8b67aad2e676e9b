//===- WorkerPool.h - One team of threads for several sessions --*- C++ -*-===//
//
// GNU OpenMP, whose threads kernels and oneDNN compute on, keeps one team for
// each thread that starts work: sessions in several threads have as many teams,
// which then compete for the cores. A pool is one thread whose team serves all
// sessions that were given the pool: each run waits for its turn and has the
// whole team to itself. Its price is one wake-up of a thread per run.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cpu/Threads.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace brew::runtime {

class WorkerPool {
public:
  /// A team of so many threads; 0: OMP_NUM_THREADS, else one per core. Throws
  /// Error (3) if the system gives no thread.
  explicit WorkerPool(int threads = 0);
  /// Waits for the run that has its turn. Executors keep their pool alive.
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;

  int threads() const { return team.count(); }

  /// Calls `job` on the pool's thread, in the order in which calls came, and
  /// returns when it has returned; what it throws comes out here. From any
  /// thread but the pool's own.
  void run(const std::function<void()> &job);

private:
  struct Job;
  void serve();

  Threads team;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job *> queue;
  bool ending = false;
  std::thread leader;
};

} // namespace brew::runtime
