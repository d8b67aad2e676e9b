//===- Threads.cpp - Worker threads shared with oneDNN --------------------===//
#include "runtime/cpu/Threads.h"

#include "support/Error.h"
#include "support/ThreadWithoutSignals.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <future>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

// libgomp's entry points, to which GCC compiles `#pragma omp parallel`. They
// are called directly, since Clang would compile the pragma to another library.
extern "C" {
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads,
                   unsigned flags);
void omp_set_num_threads(int count);
int omp_get_max_threads(void);
int omp_get_num_procs(void);
int omp_get_num_threads(void);
int omp_get_thread_num(void);
int omp_pause_resource_all(int kind); // kind: omp_pause_resource_t
}

// libgomp is not built with ThreadSanitizer, which therefore does not see that
// a team starts after its caller and finishes before the caller continues.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BREW_THREAD_SANITIZER
#endif
#endif
#ifdef BREW_THREAD_SANITIZER
extern "C" {
void __tsan_acquire(void *address);
void __tsan_release(void *address);
}
#endif

namespace brew::runtime {

/// Tells ThreadSanitizer that other threads may take over the data at `to`.
static void handOver(const void *to) {
#ifdef BREW_THREAD_SANITIZER
  __tsan_release(const_cast<void *>(to));
#endif
}
/// Tells ThreadSanitizer that this thread takes over the data at `from`.
static void takeOver(const void *from) {
#ifdef BREW_THREAD_SANITIZER
  __tsan_acquire(const_cast<void *>(from));
#endif
}

/// Limit that keeps a mistyped OMP_NUM_THREADS from exhausting the process's
/// threads.
static constexpr int kMaxThreads = 1024;

static int defaultThreads() {
  // The variable may be a list with one entry per nesting level. The first
  // entry applies.
  if (const char *text = std::getenv("OMP_NUM_THREADS")) {
    long value = std::strtol(text, nullptr, 10);
    if (value > 0)
      return static_cast<int>(std::min<long>(value, kMaxThreads));
  }
  return omp_get_num_procs();
}

/// Ends the team of a thread that forks: in the child, libgomp would wait for
/// the team's threads, which do not exist there. Parent and child create new
/// teams when they need them.
static void endTeamsBeforeForks() {
  static const int registered = pthread_atfork(
      [] { omp_pause_resource_all(/*omp_pause_soft*/ 1); }, nullptr, nullptr);
  (void)registered;
}

/// Creates the threads of a team. Throws Error (3) if the system cannot:
/// libgomp ends the process then, so other threads are tried first.
static void requireThreads(int team) {
  static std::mutex mutex;
  static int possible = 1;
  const std::lock_guard<std::mutex> lock(mutex);
  if (team <= possible)
    return;
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::vector<std::thread> threads;
  bool failed = false;
  try {
    // push_back() must not fail with a running thread.
    threads.reserve(static_cast<std::size_t>(team));
    for (int i = 1; i < team; ++i)
      threads.push_back(startThreadWithoutSignals([ended] { ended.wait(); }));
  } catch (const std::exception &) {
    failed = true;
  }
  end.set_value();
  for (std::thread &thread : threads)
    thread.join();
  if (failed)
    throw unavailable("the system cannot create " + std::to_string(team) +
                      " threads: lower --threads or OMP_NUM_THREADS, or raise "
                      "the limits of threads and memory");
  possible = team;
  // Now, while there is memory for them.
  GOMP_parallel([](void *) {}, nullptr, static_cast<unsigned>(team), 0);
}

Threads::Threads(int requested)
    : workers(std::clamp(requested > 0 ? requested : defaultThreads(), 1,
                         kMaxThreads)) {
  endTeamsBeforeForks();
  requireThreads(workers);
}

Threads::Scope::Scope(int workers) : previousMaxThreads(omp_get_max_threads()) {
  omp_set_num_threads(workers);
}

Threads::Scope::~Scope() { omp_set_num_threads(previousMaxThreads); }

namespace {
struct Job {
  void (*function)(const void *, std::int64_t, std::int64_t);
  const void *context;
  std::int64_t domain, grain, units;
};
} // namespace

static void runShare(void *data) {
  const Job &job = *static_cast<const Job *>(data);
  takeOver(&job);
  // The team may be smaller than requested (OMP_THREAD_LIMIT): divide the work
  // among the actual team. Multiply in 128 bits, since units may be as large as
  // 2^46.
  auto share = [&](int thread, int team) {
    return static_cast<std::int64_t>(static_cast<__int128>(job.units) * thread /
                                     team);
  };
  int thread = omp_get_thread_num(), team = omp_get_num_threads();
  std::int64_t begin = share(thread, team) * job.grain;
  std::int64_t end = std::min(share(thread + 1, team) * job.grain, job.domain);
  if (begin < end)
    job.function(job.context, begin, end);
  handOver(&job);
}

void Threads::run(std::int64_t domain, std::int64_t grain,
                  RangeFunction function, const void *context) const {
  if (domain <= 0)
    return;
  std::int64_t units = (domain - 1) / grain + 1;
  if (units == 1 || workers == 1) {
    function(context, 0, domain);
    return;
  }
  Job job{function, context, domain, grain, units};
  handOver(&job);
  GOMP_parallel(runShare, &job,
                static_cast<unsigned>(std::min<std::int64_t>(units, workers)),
                0);
  takeOver(&job);
}

} // namespace brew::runtime
