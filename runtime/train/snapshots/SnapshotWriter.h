//===- SnapshotWriter.h - Writes snapshots while training goes on -*- C++ -*-=//
#pragma once

#include "formats/SolverStateFile.h"
#include "formats/WeightFile.h"
#include "runtime/events/Events.h"

#include <atomic>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace brew::runtime {

/// The files of one snapshot.
struct SnapshotPair {
  std::string weights, state;
};

/// Writes one snapshot at a time, on a thread of its own. All calls come from
/// one thread.
class SnapshotWriter {
public:
  struct Job {
    SnapshotPair files;
    formats::SnapshotFormat format;
    formats::Weights weights;
    /// Written once the weights are on the device, which it names.
    formats::SolverSnapshot state;
    /// Deleted once both are.
    std::vector<SnapshotPair> outdated;
  };

  /// `events` hears, at its next delivery, of what is done and of files that
  /// could not be deleted.
  explicit SnapshotWriter(Events &events) : events(events) {}
  /// Waits; what went wrong and was not asked for is lost.
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter &) = delete;
  SnapshotWriter &operator=(const SnapshotWriter &) = delete;

  /// Begins to write; wait() comes first. Where the system gives no thread, it
  /// is written here and now.
  void start(Job job);
  /// Throws what went wrong with what was started, once it is known: Error (3)
  /// for a full disk.
  void check();
  /// Whether one is being written.
  bool isWriting() const { return !done; }
  /// Waits until nothing is being written; throws as check() does.
  void wait();
  /// Waits; what went wrong is returned instead of thrown.
  std::exception_ptr finish();

private:
  void write(Job &job);
  void removeOutdated(const SnapshotPair &files);

  Events &events;
  std::thread thread;
  std::atomic<bool> done{true};
  std::exception_ptr failure; ///< of the thread, until it is joined
};

} // namespace brew::runtime
