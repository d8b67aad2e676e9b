//===- Threads.h - Worker threads shared with oneDNN ------------*- C++ -*-===//
//
// The runtime runs its kernels on GNU OpenMP's team, the same threads that
// oneDNN uses. Two separate pools would compete for the cores, since idle
// threads keep polling for work between calls.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace brew::runtime {

/// A number of OpenMP worker threads.
class Threads {
public:
  /// `requested` workers, including the caller; 0: OMP_NUM_THREADS or, if it is
  /// not set, one per core that this process may use. Throws Error (3) if the
  /// system cannot create them.
  explicit Threads(int requested);

  int count() const { return workers; }

  /// The period in which oneDNN calls of the current thread use this number of
  /// workers. The destructor restores the thread's previous setting.
  class Scope {
  public:
    explicit Scope(int workers);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    int previousMaxThreads;
  };
  /// Sets OpenMP's number of threads, which is per thread. Every thread that
  /// runs or creates oneDNN primitives must call it.
  [[nodiscard]] Scope enter() const { return Scope(workers); }

  /// Calls body(begin, end) for disjoint ranges that cover [0, domain). Each
  /// worker gets one contiguous range; ranges start at multiples of `grain`.
  /// Domains of at most one grain run on the caller. `body` must not throw.
  template <typename Body>
  void parallelFor(std::int64_t domain, std::int64_t grain,
                   const Body &body) const {
    run(
        domain, grain,
        [](const void *context, std::int64_t begin, std::int64_t end) {
          (*static_cast<const Body *>(context))(begin, end);
        },
        &body);
  }

private:
  using RangeFunction = void (*)(const void *context, std::int64_t begin,
                                 std::int64_t end);
  void run(std::int64_t domain, std::int64_t grain, RangeFunction function,
           const void *context) const;

  int workers;
};

} // namespace brew::runtime
