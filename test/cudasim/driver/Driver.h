//===- Driver.h - State of the simulated driver -----------------*- C++ -*-===//
//
// Work is queued and runs as late as possible: when the host waits for it.
// Therefore a host that reads a result too early, overwrites a pinned buffer
// before its copy, or forgets an event between two streams always sees wrong
// values.
//
//===----------------------------------------------------------------------===//
#ifndef CUDASIM_DRIVER_H
#define CUDASIM_DRIVER_H

#include "../device/Context.h"
#include "Api.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cudasim {

/// Returns the mutex that every entry point locks: the simulated device runs
/// one operation at a time.
std::recursive_mutex &driverMutex();

/// Returns Success if cuInit was called and the calling thread has a context.
/// Entry points that need a context call it first.
__attribute__((visibility("default"))) Result checkContext();

/// Returns a number from the environment (e.g. CUDASIM_MEMORY), or `fallback`
/// if the variable is not set.
std::uint64_t environmentNumber(const char *name, std::uint64_t fallback);
/// Returns CUDASIM_DRIVER_VERSION.
int driverVersion();

//===----------------------------------------------------------------------===//
// Multiprocessors
//===----------------------------------------------------------------------===//

/// The limits of a multiprocessor.
struct Multiprocessor {
  static constexpr unsigned kRegisters = 65536;
  /// Bytes of shared memory per block without opt-in.
  static constexpr unsigned kSharedPerBlock = 48 * 1024;

  unsigned threads, blocks;
  /// Bytes of shared memory, and bytes that the driver reserves per block.
  unsigned shared, reservedShared;

  static Multiprocessor ofDevice();

  /// Returns the maximum number of registers per thread that the bounds allow
  /// the compiler.
  unsigned registersOf(const LaunchBounds &bounds) const;
  /// Returns how many blocks of a kernel are resident at once; 0 if a single
  /// block is too large.
  unsigned residentBlocks(const KernelAttributes &kernel, unsigned blockThreads,
                          std::size_t dynamicShared) const;
};

/// Returns CUDASIM_RESIDENT, the number of resident blocks on the device
/// regardless of their resources; the device then has one multiprocessor.
/// Returns 0 if the limits of Multiprocessor apply.
unsigned fixedResidentBlocks();
unsigned multiprocessorCount();

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Returns whether the bytes are within one live device allocation.
bool isDeviceRange(const void *address, std::uint64_t bytes);
/// Reports a finding unless the bytes are within one live device allocation.
/// `purpose` names the access, e.g. "copy to the device".
void requireDeviceRange(DevicePointer address, std::uint64_t bytes,
                        const char *purpose);
/// Returns whether the bytes are within pinned host memory.
bool isPinned(const void *address, std::uint64_t bytes);

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

using Work = std::function<void()>;

/// Queues work on a stream, or adds it to the graph that the stream captures.
/// A null stream is the legacy default stream.
Result enqueue(Stream *stream, Work work);
/// Runs all work of a stream. Fails during a capture.
Result synchronize(Stream *stream);
/// Runs the work of all streams. Fails if a capture forbids it.
Result synchronizeAll();
bool isCapturing(Stream *stream);
/// Returns Success unless a capture forbids this thread to allocate or to wait.
/// In that case it invalidates the capture.
Result requireNoCapture();

/// Enqueues work of a simulated library. `run` is called with `state` any
/// number of times, `release` once.
CUDASIM_API int cudasim_enqueue(Stream *stream, void (*run)(void *),
                                void (*release)(void *), void *state);
/// requireNoCapture() for simulated libraries, in functions whose originals
/// allocate or wait.
CUDASIM_API int cudasim_require_no_capture();
/// requireDeviceRange() for simulated libraries.
CUDASIM_API void cudasim_require_range(const void *address, std::uint64_t bytes,
                                       const char *purpose);

/// Returns the number of graph launches of this process, for tests.
CUDASIM_API unsigned long long cudasim_graph_launches();

} // namespace cudasim

#endif // CUDASIM_DRIVER_H
