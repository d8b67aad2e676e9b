//===- Engine.h - The engine that executes simulated kernels ----*- C++ -*-===//
#ifndef CUDASIM_ENGINE_H
#define CUDASIM_ENGINE_H

#include "../device/Context.h"

#include <cstdint>
#include <vector>

namespace cudasim {

/// State of the running launch.
struct LaunchState {
  const char *kernel = nullptr;
  Argument *arguments = nullptr;
  unsigned argumentCount = 0;
  unsigned threads = 0; // per block
  /// Whether the kernel has stages: a block then arrives at a counter once per
  /// turn.
  bool hasStages = false;
  /// Number, in stamps, of the first block of the running stage.
  Stamp firstOfStage = 0;
  /// Number of the first block of the first stage since the last barrier of all
  /// blocks.
  Stamp firstSinceBarrier = 0;
  /// The next unused block number.
  Stamp nextNumber = 0;
};
extern LaunchState launchState;

#pragma GCC visibility push(default)
/// Prints a finding with its location, "cudasim: kernel 'k', block (1,0,0),
/// thread (5,0,0): ...", and ends the program with status 70.
[[noreturn]] void reportFinding(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
/// Like reportFinding(), but without block and thread. May also be called
/// outside of launches.
[[noreturn]] void reportLaunchFinding(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
#pragma GCC visibility pop

/// Formats a thread's number in its block as "(x,y,z)".
struct ThreadName {
  explicit ThreadName(unsigned thread);
  char text[40];
};

/// Starts to record the arrivals of a launch's blocks at counters, which order
/// the blocks.
void beginArrivals();
/// Reports counters that are not 0 at the end.
void endArrivals();
/// Starts a block, before which no other block is ordered yet.
void beginBlockArrivals();
/// Notes that the running block arrives at `counter` at its barrier `epoch`.
/// Returns whether it is the last of `blocks`.
bool arrive(unsigned *counter, unsigned blocks, unsigned epoch);
/// Returns whether the accesses of the block with stamps `upper` in its barrier
/// epoch `epoch` happen before the current access of the running block.
bool happensBefore(unsigned upper, unsigned epoch);

/// Number of barriers after which a block is renumbered: half of the epochs
/// that stamps can distinguish.
constexpr unsigned kBarriersOfNumber = (kEpochMask + 1) / 2;
/// Assigns the running block, all of whose threads are at a barrier, a new
/// number in the stamps of global memory.
void renumberBlock();
/// Notes that the block with stamps `before` continues with stamps `after`.
void noteRenumbered(unsigned before, unsigned after);

/// Between these calls, a stack overflow of a simulated thread is reported as a
/// finding.
void installStackOverflowHandler();
void removeStackOverflowHandler();

/// Assigns stamps to the written arguments of a launch and begins a new launch
/// number.
void prepareStamps(std::vector<Argument *> written);

extern "C" {
/// Returns whether [address, address + bytes) is within one live allocation.
/// The driver sets this function; without it, arguments are not checked.
using MemoryCheck = bool (*)(const void *address, std::uint64_t bytes);
__attribute__((visibility("default"))) void
cudasim_set_memory_check(MemoryCheck check);
/// Sets whether blocks of later launches may wait for each other.
__attribute__((visibility("default"))) void
cudasim_set_cooperation(bool cooperates);
}

} // namespace cudasim

#endif // CUDASIM_ENGINE_H
