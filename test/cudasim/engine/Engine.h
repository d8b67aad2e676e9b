//===- Engine.h - The simulator behind device/Context.h ---------*- C++ -*-===//
#ifndef CUDASIM_ENGINE_H
#define CUDASIM_ENGINE_H

#include "../device/Context.h"

#include <cstdint>
#include <vector>

namespace cudasim {

/// What the engine knows of the launch that runs.
struct LaunchState {
  const char *kernel = nullptr;
  Argument *arguments = nullptr;
  unsigned argumentCount = 0;
  unsigned threads = 0; // of a block
  /// Of a kernel with stages: blocks come to a counter once for each turn.
  bool hasStages = false;
  /// Number, in stamps, of the first block of the stage that runs.
  Stamp firstOfStage = 0;
  /// The next number that no block has.
  Stamp nextNumber = 0;
};
extern LaunchState launchState;

#pragma GCC visibility push(default)
/// Ends the program with status 70 after saying what was found, and where if a
/// launch is running: "cudasim: kernel 'k', block (1,0,0), thread (5,0,0):
/// ...".
[[noreturn]] void reportFinding(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
/// The same without a place.
[[noreturn]] void reportLaunchFinding(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
#pragma GCC visibility pop

/// "(x,y,z)" of a thread's number in its block.
struct ThreadName {
  explicit ThreadName(unsigned thread);
  char text[40];
};

/// What blocks know of each other in the launch that runs.
void beginArrivals();
/// Finds counters that do not end at 0.
void endArrivals();
void beginBlockArrivals();
/// Notes that the running block, at its barrier `epoch`, comes to `counter` as
/// one of `blocks`; whether it is the last.
bool arrive(unsigned *counter, unsigned blocks, unsigned epoch);
/// Whether what the block with stamps `upper` did before its barrier `epoch`
/// came before the running block went on.
bool happensBefore(unsigned upper, unsigned epoch);

/// Barriers of a block with one number, half of those that stamps tell apart.
constexpr unsigned kBarriersOfNumber = (kEpochMask + 1) / 2;
/// Gives the running block, all of whose threads are at a barrier, a new number
/// in the stamps of global memory.
void renumberBlock();
/// Notes that the block with stamps `before` goes on with stamps `after`.
void noteRenumbered(unsigned before, unsigned after);

/// Between these two, a thread that overflows its stack is a finding.
void beginStackWatch();
void endStackWatch();

/// Stamps for the written arguments of a launch, and the launch's number.
void prepareStamps(std::vector<Argument *> written);

extern "C" {
/// The driver's view of memory: whether [address, address + bytes) lies within
/// one live allocation. Without one, arguments are not checked.
using MemoryCheck = bool (*)(const void *address, std::uint64_t bytes);
__attribute__((visibility("default"))) void
cudasim_set_memory_check(MemoryCheck check);
/// Whether blocks of the launches that follow may wait for each other.
__attribute__((visibility("default"))) void
cudasim_set_cooperation(bool cooperates);
}

} // namespace cudasim

#endif // CUDASIM_ENGINE_H
