//===- WorkerPool.h - Team of threads that sessions share -------*- C++ -*-===//
//
// GNU OpenMP, whose threads run kernels and oneDNN, keeps one team for each
// thread that starts work: sessions in several threads have several teams,
// which compete for the cores. A pool is one thread whose team serves all
// sessions of the pool: each run waits for its turn and then uses the full
// team. The cost is one wake-up of a thread per run. A forked child starts a
// thread and team of its own.
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
  /// Throws Error (3) if the system cannot create a thread.
  explicit WorkerPool(int threads = 0);
  /// Waits for the running job. Executors keep their pool alive.
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;

  int threads() const { return team.count(); }

  /// Calls `job` on the pool's thread, after all jobs that were queued before,
  /// and waits for it. Rethrows its exceptions. Must not be called on the
  /// pool's thread.
  void run(const std::function<void()> &job);

private:
  class Leader;

  Threads team;
  PerProcess<Leader> leader;
};

} // namespace brew::runtime
