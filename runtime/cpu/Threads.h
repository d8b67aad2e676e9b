//===- Threads.h - Worker threads shared with oneDNN ------------*- C++ -*-===//
//
// The runtime has no pool of its own: it starts its kernels on GNU OpenMP's
// team, the same threads oneDNN computes on. Two pools would take each other's
// cores, since the idle one keeps polling for work between calls.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace brew::runtime {

class Threads {
public:
  /// `requested` workers, the caller included; 0 means OMP_NUM_THREADS, else
  /// one per core this process may use.
  explicit Threads(int requested);

  int count() const { return workers; }

  /// While it lives, oneDNN calls of the thread that made it use as many
  /// workers; then the thread has its own setting back.
  class Scope {
  public:
    explicit Scope(int workers);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    int before;
  };
  /// OpenMP's setting is per thread, so whoever runs or creates primitives
  /// calls it.
  [[nodiscard]] Scope enter() const { return Scope(workers); }

  /// Calls body(begin, end) for ranges that cover [0, domain) once. Each worker
  /// gets one contiguous range; ranges start at multiples of `grain`. Work of
  /// one grain or less runs on the caller. `body` must not throw.
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
