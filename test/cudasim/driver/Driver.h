//===- Driver.h - State of the stand-in driver ------------------*- C++ -*-===//
//
// Work is queued and runs as late as the calls allow: when someone waits for
// it. A host that reads a result too early, overwrites a pinned buffer that is
// still to be copied, or forgets an event between two streams therefore sees
// wrong values every time.
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

/// Every entry contains it: the simulated device does one thing at a time.
std::recursive_mutex &driverMutex();

/// Success if cuInit was called and this thread has a context; each entry that
/// needs them begins with it.
__attribute__((visibility("default"))) Result ready();

/// A number from the environment, e.g. CUDASIM_MEMORY.
std::uint64_t setting(const char *name, std::uint64_t fallback);
/// CUDASIM_DRIVER_VERSION.
int driverVersion();

//===----------------------------------------------------------------------===//
// Multiprocessors
//===----------------------------------------------------------------------===//

/// What a multiprocessor has room for.
struct Multiprocessor {
  static constexpr unsigned kRegisters = 65536;
  /// Bytes of shared memory of a block that does not opt in to more.
  static constexpr unsigned kSharedPerBlock = 48 * 1024;

  unsigned threads, blocks;
  /// Bytes of shared memory, and those of each block that the driver takes.
  unsigned shared, reservedShared;

  static Multiprocessor ofDevice();

  /// The most registers of a thread that the bounds allow the compiler.
  unsigned registersOf(const LaunchBounds &bounds) const;
  /// AllocationMap of a kernel that are resident together; 0 if one alone is too
  /// large.
  unsigned residentBlocks(const KernelAttributes &kernel, unsigned blockThreads,
                          std::size_t dynamicShared) const;
};

/// CUDASIM_RESIDENT: blocks that are resident on the device, which then has one
/// multiprocessor, whatever they need. 0: the limits of Multiprocessor apply.
unsigned fixedResidentBlocks();
unsigned multiprocessorCount();

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Whether the bytes lie within one live allocation on the device.
bool isDeviceRange(const void *address, std::uint64_t bytes);
/// A finding unless they do; `purpose` names the access: "copy to the device".
void requireDeviceRange(DevicePointer address, std::uint64_t bytes,
                        const char *purpose);
/// Whether the bytes lie within pinned host memory.
bool isPinned(const void *address, std::uint64_t bytes);

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

using Work = std::function<void()>;

/// Queues work on a stream, or adds it to the graph that the stream captures.
/// A null stream is the legacy default stream.
Result enqueue(Stream *stream, Work work);
/// Waits for everything on a stream.
Result synchronize(Stream *stream);
/// Waits for every stream; captures forbid it.
Result synchronizeAll();
bool isCapturing(Stream *stream);
/// Success unless a capture forbids this thread to allocate or to wait, which
/// then makes the capture invalid.
Result requireNoCapture();

/// What a stand-in library calls to put its work on a stream; `run` is called
/// with `state` any number of times, `release` once.
CUDASIM_API int cudasim_enqueue(Stream *stream, void (*run)(void *),
                                void (*release)(void *), void *state);
/// requireNoCapture for such libraries, where the real ones allocate or wait.
CUDASIM_API int cudasim_require_no_capture();
/// isDeviceRange for such libraries; a finding names `purpose`.
CUDASIM_API void cudasim_require_range(const void *address, std::uint64_t bytes,
                                       const char *purpose);

/// Graphs that this process has started, for tests.
CUDASIM_API unsigned long long cudasim_graph_launches();

} // namespace cudasim

#endif // CUDASIM_DRIVER_H
