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

#include "Api.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cudasim {

/// Every entry holds it: the simulated device does one thing at a time.
std::recursive_mutex &driverMutex();

/// Success if cuInit was called and this thread has a context; each entry that
/// needs them begins with it.
__attribute__((visibility("default"))) Result ready();

/// A number from the environment, e.g. CUDASIM_MEMORY.
std::uint64_t setting(const char *name, std::uint64_t otherwise);

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

/// What a stand-in library calls to put its work on a stream; `run` is called
/// with `state` any number of times, `release` once.
CUDASIM_API int cudasim_enqueue(Stream *stream, void (*run)(void *),
                                void (*release)(void *), void *state);
/// isDeviceRange for such libraries; a finding names `purpose`.
CUDASIM_API void cudasim_require_range(const void *address, std::uint64_t bytes,
                                       const char *purpose);

/// Graphs that this process has started, for tests.
CUDASIM_API unsigned long long cudasim_graph_launches();

} // namespace cudasim

#endif // CUDASIM_DRIVER_H
