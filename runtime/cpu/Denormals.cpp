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

static void setFlush(void *flush) {
  _mm_setcsr((_mm_getcsr() & ~kFlush) | *static_cast<unsigned *>(flush));
}

DenormalScope::DenormalScope(int workers, bool keep) : previous(_mm_getcsr()) {
  unsigned flush = keep ? 0 : kFlush;
  setFlush(&flush);
  // The state of this thread's team, whose new threads inherit MXCSR.
  thread_local int teamSize = 0;
  thread_local unsigned teamFlush = 0;
  if (workers == 1 || (teamSize >= workers && teamFlush == flush))
    return;
  GOMP_parallel(setFlush, &flush, static_cast<unsigned>(workers), 0);
  teamSize = workers;
  teamFlush = flush;
}

DenormalScope::~DenormalScope() { _mm_setcsr(previous); }

#else

DenormalScope::DenormalScope(int, bool) : previous(0) {}
DenormalScope::~DenormalScope() = default;

#endif

} // namespace brew::runtime
