//===- Fibers.cpp - Threads of a block as fibers --------------------------===//
//
// Each thread has its own stack and runs until it finishes or reaches a barrier
// or shuffle. The lanes of a warp run until all of them have finished or wait
// for the block; then the next warp runs. The threads of a kernel without
// barriers and shuffles run one after the other on the first stack.
//
//===----------------------------------------------------------------------===//
#include "Engine.h"
#include "Switch.h"

namespace cudasim {

namespace {

enum class WaitState : unsigned char {
  NotWaiting,
  ForBlock,
  ForWarp,
  ForXor,
  ForDown,
  Finished
};

const char *describe(WaitState waitState) {
  switch (waitState) {
  case WaitState::ForBlock:
    return "barrier of the block";
  case WaitState::ForWarp:
    return "barrier of the warp";
  case WaitState::ForXor:
  case WaitState::ForDown:
    return "shuffle";
  default:
    return "";
  }
}

struct Fiber {
  StackPointer stack;
  WaitState waitState;
  unsigned line;
  unsigned warpEpoch;
  unsigned operand;
  unsigned long long value;
};

constexpr unsigned kWarp = 32;
constexpr unsigned kMaximumThreads = 1024;

Fiber fibers[kMaximumThreads];
StackPointer scheduler;
unsigned blockEpoch;
void (*body)(void *);
void *bodyState;

unsigned runningThread() { return cudasim_context.self & kEpochMask; }

/// Sets the context's thread to `thread`.
void setCurrentThread(unsigned thread) {
  Context &context = cudasim_context;
  const Index3 &block = context.blockDim;
  context.threadIdx = {thread % block.x, thread / block.x % block.y,
                       thread / block.x / block.y};
  context.self = blockEpoch << kBlockEpochShift |
                 fibers[thread].warpEpoch << kWarpEpochShift | thread;
}

void resume(unsigned thread) {
  setCurrentThread(thread);
  fibers[thread].waitState = WaitState::NotWaiting;
  switchStack(&scheduler, fibers[thread].stack);
}

void wait(WaitState waitState, unsigned line) {
  Fiber &fiber = fibers[runningThread()];
  fiber.waitState = waitState;
  fiber.line = line;
  switchStack(&fiber.stack, scheduler);
}

void fiberMain() {
  body(bodyState);
  wait(WaitState::Finished, 0);
  __builtin_unreachable();
}

void blockMain() {
  body(bodyState);
  StackPointer finished;
  switchStack(&finished, scheduler);
  __builtin_unreachable();
}

/// Reports that `thread` waits at a point that `other` does not reach.
[[noreturn]] void reportDivergence(unsigned thread, unsigned other) {
  setCurrentThread(thread);
  const Fiber &waitingFiber = fibers[thread], &otherFiber = fibers[other];
  if (otherFiber.waitState == WaitState::Finished)
    reportFinding(
        "divergence: waits at the %s in line %u, but thread %s has left "
        "the kernel",
        describe(waitingFiber.waitState), waitingFiber.line,
        ThreadName(other).text);
  reportFinding(
      "divergence: waits at the %s in line %u, but thread %s waits at the "
      "%s in line %u",
      describe(waitingFiber.waitState), waitingFiber.line,
      ThreadName(other).text, describe(otherFiber.waitState), otherFiber.line);
}

/// Completes the barrier or shuffle at which the lanes of a warp wait. All
/// lanes must wait or have finished; `waiting` is a lane that waits for the
/// warp.
void completeWarp(unsigned first, unsigned last, unsigned waiting) {
  const Fiber &reference = fibers[waiting];
  for (unsigned lane = first; lane < last; ++lane) {
    const Fiber &fiber = fibers[lane];
    if (fiber.waitState == WaitState::Finished)
      continue; // allowed unless a shuffle reads from it
    if (fiber.waitState != reference.waitState || fiber.line != reference.line)
      reportDivergence(waiting, lane);
  }
  if (reference.waitState == WaitState::ForWarp) {
    for (unsigned lane = first; lane < last; ++lane)
      fibers[lane].warpEpoch = (fibers[lane].warpEpoch + 1) & kEpochMask;
    return;
  }
  unsigned long long received[kWarp] = {};
  for (unsigned lane = first; lane < last; ++lane) {
    const Fiber &fiber = fibers[lane];
    if (fiber.waitState == WaitState::Finished)
      continue;
    unsigned index = lane - first;
    unsigned source = reference.waitState == WaitState::ForXor
                          ? index ^ fiber.operand
                          : index + fiber.operand;
    // A source lane beyond the warp returns the lane's own value.
    if (source >= kWarp) {
      received[index] = fiber.value;
      continue;
    }
    bool absent = first + source >= last ||
                  fibers[first + source].waitState == WaitState::Finished;
    if (absent) {
      setCurrentThread(lane);
      reportFinding("the shuffle in line %u reads from lane %u, which is %s",
                    fiber.line, source,
                    first + source >= last ? "beyond the block's threads"
                                           : "no longer there");
    }
    received[index] = fibers[first + source].value;
  }
  for (unsigned lane = first; lane < last; ++lane)
    fibers[lane].value = received[lane - first];
}

/// Runs a warp until all its lanes wait for the block or have finished.
void runWarp(unsigned first, unsigned last) {
  for (;;) {
    unsigned waiting = last;
    for (unsigned lane = first; lane < last; ++lane) {
      Fiber &fiber = fibers[lane];
      if (fiber.waitState != WaitState::Finished &&
          fiber.waitState != WaitState::ForBlock)
        resume(lane);
      if (waiting == last && fiber.waitState != WaitState::Finished &&
          fiber.waitState != WaitState::ForBlock)
        waiting = lane;
    }
    if (waiting == last)
      return;
    completeWarp(first, last, waiting);
  }
}

/// Returns true if all threads wait at the same barrier, false if all have
/// finished. Otherwise reports a divergence.
bool completeBlockBarrier() {
  const Fiber &first = fibers[0];
  for (unsigned thread = 1; thread < launchState.threads; ++thread) {
    const Fiber &fiber = fibers[thread];
    if (fiber.waitState == first.waitState && fiber.line == first.line)
      continue;
    if (first.waitState == WaitState::Finished)
      reportDivergence(thread, 0);
    reportDivergence(0, thread);
  }
  return first.waitState == WaitState::ForBlock;
}

} // namespace

extern "C" {

void cudasim_run_fibers(void (*thread)(void *), void *state) {
  body = thread;
  bodyState = state;
  blockEpoch = 0;
  for (unsigned i = 0; i < launchState.threads; ++i)
    fibers[i] = {newStack(i, fiberMain), WaitState::NotWaiting, 0, 0, 0, 0};
  do {
    for (unsigned first = 0; first < launchState.threads; first += kWarp) {
      unsigned last = first + kWarp;
      if (last > launchState.threads)
        last = launchState.threads;
      for (unsigned lane = first; lane < last; ++lane)
        if (fibers[lane].waitState == WaitState::ForBlock)
          fibers[lane].waitState = WaitState::NotWaiting;
      runWarp(first, last);
    }
    blockEpoch = (blockEpoch + 1) & kEpochMask;
    if (blockEpoch % kBarriersOfNumber == 0)
      renumberBlock();
  } while (completeBlockBarrier());
}

void cudasim_run_sequentially(void (*block)(void *), void *state) {
  body = block;
  bodyState = state;
  switchStack(&scheduler, newStack(0, blockMain));
}

void cudasim_sync(unsigned line) { wait(WaitState::ForBlock, line); }

bool cudasim_last_block(unsigned *counter, unsigned blocks, unsigned line) {
  static bool isLast;
  wait(WaitState::ForBlock, line);
  // Thread 0 is the first to resume after the barrier.
  if (runningThread() == 0)
    isLast = arrive(counter, blocks, blockEpoch);
  wait(WaitState::ForBlock, line);
  return isLast;
}

void cudasim_sync_warp(unsigned line) { wait(WaitState::ForWarp, line); }

unsigned long long cudasim_shuffle(Shuffle kind, unsigned long long value,
                                   unsigned operand, unsigned line) {
  Fiber &fiber = fibers[runningThread()];
  fiber.value = value;
  fiber.operand = operand;
  wait(kind == Shuffle::Xor ? WaitState::ForXor : WaitState::ForDown, line);
  return fiber.value;
}
}

} // namespace cudasim
