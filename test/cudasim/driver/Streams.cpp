//===- Streams.cpp - Queues, events, captures and graphs ------------------===//
#include "Driver.h"

#include "../engine/Engine.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <set>
#include <thread>

namespace cudasim {

using Lock = std::lock_guard<std::recursive_mutex>;
using Clock = std::chrono::steady_clock;

/// Work in topological order.
struct Graph {
  std::vector<Work> nodes;
};
struct GraphExec {
  std::vector<Work> nodes;
};

namespace {

/// CUstreamCaptureMode.
enum CaptureMode : int { kGlobal, kThreadLocal, kRelaxed };

/// A graph that is being captured from a stream and the streams that joined it.
struct Capture {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  Stream *origin;
  int mode; ///< CaptureMode
  std::thread::id thread;
  bool invalid = false, ended = false;

  /// Returns whether the capture forbids this thread to allocate or to wait.
  bool forbidsWaiting() const {
    return mode == kGlobal ||
           (mode == kThreadLocal && thread == std::this_thread::get_id());
  }
};

/// A call of cuEventRecord.
struct EventRecord {
  Stream *stream;
  bool done = false;
  Clock::time_point time;
  /// The capture in which the event was recorded, if any, and how much work of
  /// the stream it contained at that point.
  std::shared_ptr<Capture> capture;
  std::size_t captured = 0;
};

} // namespace

struct Stream {
  bool blocking; // synchronises with the legacy default stream
  std::deque<Work> queue;
  std::shared_ptr<Capture> capture;
  /// Number of work items that this stream added to the capture, and how many
  /// of them the origin stream has waited for.
  std::size_t captured = 0, joined = 0;
};

struct Event {
  bool timed;
  std::shared_ptr<EventRecord> record;
};

namespace {

std::set<Stream *> streams;
std::set<Event *> events;
std::set<Graph *> graphs;
std::set<GraphExec *> executables;
unsigned long long graphLaunches = 0;

/// Maximum length of a queue. Beyond it the oldest work runs, as on a device.
constexpr std::size_t kQueueLimit = 4096;

void runOldest(Stream *stream) {
  Work work = std::move(stream->queue.front());
  stream->queue.pop_front();
  work();
}

void drain(Stream *stream) {
  while (!stream->queue.empty())
    runOldest(stream);
}

void drainUntil(const EventRecord &record) {
  while (!record.done)
    runOldest(record.stream);
}

/// Invalidates a capture because of a forbidden call, and returns `reason`.
Result invalidate(Capture &capture, Result reason = StreamCaptureUnsupported) {
  capture.invalid = true;
  return reason;
}

/// Invalidates captures of blocking streams. The legacy default stream waits
/// for blocking streams, which captures of every mode forbid.
Result requireNoBlockingCapture() {
  Result result = Success;
  for (Stream *stream : streams)
    if (stream->blocking && stream->capture)
      result = invalidate(*stream->capture, StreamCaptureImplicit);
  return result;
}

Result check(Stream *stream) {
  if (Result error = checkContext())
    return error;
  return !stream || streams.count(stream) ? Success : InvalidHandle;
}

Result check(Event *event) {
  if (Result error = checkContext())
    return error;
  return events.count(event) ? Success : InvalidHandle;
}

} // namespace

// A capture in another thread forbids this thread to allocate or to wait only
// in global mode.
Result requireNoCapture() {
  Result result = Success;
  for (Stream *stream : streams)
    if (stream->capture && stream->capture->forbidsWaiting())
      result = invalidate(*stream->capture);
  return result;
}

bool isCapturing(Stream *stream) {
  return stream && streams.count(stream) && stream->capture;
}

int cudasim_require_no_capture() {
  Lock lock(driverMutex());
  return requireNoCapture();
}

Result enqueue(Stream *stream, Work work) {
  if (Result error = check(stream))
    return error;
  if (!stream) {
    if (Result error = requireNoBlockingCapture())
      return error;
    for (Stream *other : streams)
      if (other->blocking)
        drain(other);
    work();
    return Success;
  }
  if (stream->capture) {
    if (stream->capture->invalid)
      return StreamCaptureInvalidated;
    stream->capture->graph->nodes.push_back(std::move(work));
    ++stream->captured;
    return Success;
  }
  stream->queue.push_back(std::move(work));
  while (stream->queue.size() > kQueueLimit)
    runOldest(stream);
  return Success;
}

Result synchronize(Stream *stream) {
  if (Result error = check(stream))
    return error;
  if (!stream)
    return synchronizeAll();
  if (stream->capture)
    return invalidate(*stream->capture);
  drain(stream);
  return Success;
}

Result synchronizeAll() {
  if (Result error = requireNoCapture())
    return error;
  for (Stream *stream : streams)
    drain(stream);
  return Success;
}

int cudasim_enqueue(Stream *stream, void (*run)(void *),
                    void (*release)(void *), void *state) {
  Lock lock(driverMutex());
  std::shared_ptr<void> owned(state, release);
  return enqueue(stream, [run, owned] { run(owned.get()); });
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

CUDASIM_API int cuStreamCreate(Stream **stream, unsigned flags) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  constexpr unsigned kNonBlocking = 1;
  if (flags > kNonBlocking)
    return InvalidValue;
  *stream = new Stream{flags != kNonBlocking, {}, nullptr, 0, 0};
  streams.insert(*stream);
  return Success;
}

CUDASIM_API int cuStreamDestroy_v2(Stream *stream) {
  Lock lock(driverMutex());
  if (Result error = check(stream))
    return error;
  if (!stream)
    return InvalidHandle;
  drain(stream);
  streams.erase(stream);
  delete stream;
  return Success;
}

CUDASIM_API int cuStreamSynchronize(Stream *stream) {
  Lock lock(driverMutex());
  return synchronize(stream);
}

CUDASIM_API int cuCtxSynchronize() {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  return synchronizeAll();
}

CUDASIM_API int cuStreamWaitEvent(Stream *stream, Event *event,
                                  unsigned flags) {
  Lock lock(driverMutex());
  if (Result error = check(stream))
    return error;
  if (Result error = check(event))
    return error;
  if (!event->record)
    return Success; // never recorded
  std::shared_ptr<EventRecord> record = event->record;
  if (record->capture) {
    if (record->capture->ended)
      return CapturedEvent;
    if (!stream)
      return invalidate(*record->capture, StreamCaptureImplicit);
    if (stream->capture && stream->capture != record->capture) {
      invalidate(*stream->capture);
      return invalidate(*record->capture, StreamCaptureMerge);
    }
    if (!stream->capture) {
      stream->capture = record->capture;
      stream->captured = stream->joined = 0;
    }
    if (stream == record->capture->origin)
      record->stream->joined = record->captured;
    return Success;
  }
  if (stream && stream->capture)
    return invalidate(*stream->capture, StreamCaptureIsolation);
  return enqueue(stream, [record] { drainUntil(*record); });
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

CUDASIM_API int cuEventCreate(Event **event, unsigned flags) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  constexpr unsigned kDisableTiming = 2;
  *event = new Event{!(flags & kDisableTiming), nullptr};
  events.insert(*event);
  return Success;
}

CUDASIM_API int cuEventDestroy_v2(Event *event) {
  Lock lock(driverMutex());
  if (Result error = check(event))
    return error;
  events.erase(event);
  delete event;
  return Success;
}

CUDASIM_API int cuEventRecord(Event *event, Stream *stream) {
  Lock lock(driverMutex());
  if (Result error = check(stream))
    return error;
  if (Result error = check(event))
    return error;
  if (stream && stream->capture && stream->capture->invalid)
    return StreamCaptureInvalidated;
  auto record = std::make_shared<EventRecord>();
  record->stream = stream;
  event->record = record;
  if (stream && stream->capture) {
    record->capture = stream->capture;
    record->captured = stream->captured;
    return Success;
  }
  return enqueue(stream, [record] {
    record->time = Clock::now();
    record->done = true;
  });
}

namespace {
/// If the event was recorded in a capture, invalidates the capture and returns
/// CapturedEvent.
Result requireNotCaptured(const Event &event) {
  if (!event.record || !event.record->capture)
    return Success;
  return invalidate(*event.record->capture, CapturedEvent);
}
} // namespace

CUDASIM_API int cuEventSynchronize(Event *event) {
  Lock lock(driverMutex());
  if (Result error = check(event))
    return error;
  if (Result error = requireNotCaptured(*event))
    return error;
  if (Result error = requireNoCapture())
    return error;
  if (event->record)
    drainUntil(*event->record);
  return Success;
}

CUDASIM_API int cuEventQuery(Event *event) {
  Lock lock(driverMutex());
  if (Result error = check(event))
    return error;
  if (Result error = requireNotCaptured(*event))
    return error;
  if (Result error = requireNoCapture())
    return error;
  return !event->record || event->record->done ? Success : NotReady;
}

CUDASIM_API int cuEventElapsedTime(float *milliseconds, Event *start,
                                   Event *end) {
  Lock lock(driverMutex());
  for (Event *event : {start, end}) {
    if (Result error = check(event))
      return error;
    if (!event->timed || !event->record)
      return InvalidHandle;
    if (Result error = requireNotCaptured(*event))
      return error;
    if (!event->record->done)
      return NotReady;
  }
  *milliseconds = std::chrono::duration<float, std::milli>(end->record->time -
                                                           start->record->time)
                      .count();
  return Success;
}

// Newer drivers export cuEventElapsedTime under this name, too.
CUDASIM_API int cuEventElapsedTime_v2(float *milliseconds, Event *start,
                                      Event *end) {
  return cuEventElapsedTime(milliseconds, start, end);
}

//===----------------------------------------------------------------------===//
// Captures and graphs
//===----------------------------------------------------------------------===//

CUDASIM_API int cuStreamBeginCapture_v2(Stream *stream, int mode) {
  Lock lock(driverMutex());
  if (Result error = check(stream))
    return error;
  if (!stream || stream->capture || environmentNumber("CUDASIM_NO_GRAPHS", 0))
    return StreamCaptureUnsupported;
  if (mode < kGlobal || mode > kRelaxed)
    return InvalidValue;
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream;
  stream->capture->mode = mode;
  stream->capture->thread = std::this_thread::get_id();
  return Success;
}

CUDASIM_API int cuStreamEndCapture(Stream *stream, Graph **graph) {
  Lock lock(driverMutex());
  if (Result error = check(stream))
    return error;
  *graph = nullptr;
  if (!stream || !stream->capture)
    return IllegalState;
  std::shared_ptr<Capture> capture = stream->capture;
  if (capture->origin != stream)
    return invalidate(*capture, StreamCaptureUnmatched);
  if (capture->mode != kRelaxed &&
      capture->thread != std::this_thread::get_id())
    return invalidate(*capture, StreamCaptureWrongThread);
  capture->ended = true;
  bool unjoined = false;
  for (Stream *member : streams)
    if (member->capture == capture) {
      unjoined |= member != stream && member->joined != member->captured;
      member->capture = nullptr;
    }
  if (capture->invalid)
    return StreamCaptureInvalidated;
  if (unjoined)
    return StreamCaptureUnjoined;
  *graph = capture->graph.release();
  graphs.insert(*graph);
  return Success;
}

CUDASIM_API int cuGraphGetNodes(Graph *graph, void **nodes,
                                std::size_t *count) {
  Lock lock(driverMutex());
  if (!graphs.count(graph))
    return InvalidHandle;
  std::size_t size = graph->nodes.size();
  if (nodes)
    for (std::size_t i = 0; i < std::min(*count, size); ++i)
      nodes[i] = &graph->nodes[i];
  *count = nodes ? std::min(*count, size) : size;
  return Success;
}

CUDASIM_API int cuGraphInstantiateWithFlags(GraphExec **executable,
                                            Graph *graph,
                                            unsigned long long flags) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  if (!graphs.count(graph))
    return InvalidHandle;
  *executable = new GraphExec{graph->nodes};
  executables.insert(*executable);
  return Success;
}

CUDASIM_API int cuGraphLaunch(GraphExec *executable, Stream *stream) {
  Lock lock(driverMutex());
  if (Result error = check(stream))
    return error;
  if (!executables.count(executable))
    return InvalidHandle;
  ++graphLaunches;
  for (const Work &node : executable->nodes)
    if (Result error = enqueue(stream, node))
      return error;
  return Success;
}

CUDASIM_API unsigned long long cudasim_graph_launches() {
  Lock lock(driverMutex());
  return graphLaunches;
}

CUDASIM_API int cuGraphExecDestroy(GraphExec *executable) {
  Lock lock(driverMutex());
  if (!executables.erase(executable))
    return InvalidHandle;
  delete executable;
  return Success;
}

CUDASIM_API int cuGraphDestroy(Graph *graph) {
  Lock lock(driverMutex());
  if (!graphs.erase(graph))
    return InvalidHandle;
  delete graph;
  return Success;
}

} // namespace cudasim
