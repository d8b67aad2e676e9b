//===- Denormals.cpp - Treatment of denormal numbers ----------------------===//
#include "runtime/cpu/Denormals.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

// libgomp's entry point (Threads.cpp).
extern "C" void GOMP_parallel(void (*function)(void *), void *data,
                              unsigned threads, unsigned flags);

namespace brew::runtime {

#ifdef __SSE2__

/// MXCSR's bits "flush to zero", for results, and "denormals are zero", for
/// operands.
static constexpr unsigned kFlush = 0x8040;

// Two functions without data, which a team would have to hand over.
static void keepDenormals(void *) { _mm_setcsr(_mm_getcsr() & ~kFlush); }
static void flushDenormals(void *) { _mm_setcsr(_mm_getcsr() | kFlush); }

DenormalScope::DenormalScope(int workers, bool keep) : previous(_mm_getcsr()) {
  void (*const set)(void *) = keep ? keepDenormals : flushDenormals;
  set(nullptr);
  // The state of this thread's team, whose new threads inherit MXCSR.
  thread_local int teamSize = 0;
  thread_local bool teamKeeps = true;
  if (workers == 1 || (teamSize >= workers && teamKeeps == keep))
    return;
  GOMP_parallel(set, nullptr, static_cast<unsigned>(workers), 0);
  teamSize = workers;
  teamKeeps = keep;
}

DenormalScope::~DenormalScope() { _mm_setcsr(previous); }

#else

DenormalScope::DenormalScope(int, bool) : previous(0) {}
DenormalScope::~DenormalScope() = default;

#endif

} // namespace brew::runtime
