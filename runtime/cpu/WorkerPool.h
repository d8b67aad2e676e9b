//===- WorkerPool.h - Team of threads that sessions share -------*- C++ -*-===//
//
// GNU OpenMP, whose threads run kernels and oneDNN, keeps one team for each
// thread that starts work: sessions in several threads have several teams,
// which compete for the cores. A pool has one team for all its sessions: each
// run waits for its turn and then uses the full team. As long as one thread
// makes all runs, that is the team of this thread. From the first run of
// another thread on, it is the team of a thread of the pool, which costs a
// wake-up per run. In a forked child, the threads that make runs
// are counted from zero.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cpu/Threads.h"
#include "support/PerProcess.h"

#include <functional>

namespace brew::runtime {

/// A team of threads that runs the jobs of several sessions, one at a time.
class WorkerPool {
public:
  /// Starts a team of `threads` threads; 0: OMP_NUM_THREADS, else one per core.
  /// Throws Error (3) if the system cannot create its threads.
  explicit WorkerPool(int threads = 0);
  /// Waits for the running job. Executors keep their pool alive.
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;

  int threads() const { return team.count(); }

  /// Calls `job`, on this thread or the pool's, when no other job runs, and
  /// waits for it. Rethrows its exceptions. Must not be called by a job. Throws
  /// Error (3) if the system cannot create the pool's thread.
  void run(const std::function<void()> &job);

private:
  class Leader;
  class Dispatcher;

  Threads team;
  PerProcess<Dispatcher> dispatcher;
};

} // namespace brew::runtime
