//===- SnapshotWriter.h - Background writer of snapshots --------*- C++ -*-===//
#pragma once

#include "formats/SolverStateFile.h"
#include "formats/WeightFile.h"
#include "runtime/events/Events.h"
#include "support/ForkCount.h"

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

/// Writes one snapshot at a time on its own thread. Not thread-safe: all calls
/// must come from one thread. A forked child leaves the snapshot that its
/// parent is writing to the parent.
class SnapshotWriter {
public:
  /// The content of a snapshot, and where to write it.
  struct Job {
    SnapshotPair files;
    formats::SnapshotFormat format;
    formats::Weights weights;
    /// Written after the weights are on disk, since it names their file.
    formats::SolverSnapshot state;
    /// Deleted after both are written.
    std::vector<SnapshotPair> outdated;
  };

  /// `events` receives, at its next delivery, completed snapshots and files
  /// that could not be deleted.
  explicit SnapshotWriter(Events &events) : events(events) {}
  /// Waits for the write. Discards an error that no call has returned.
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter &) = delete;
  SnapshotWriter &operator=(const SnapshotWriter &) = delete;

  /// Calls wait(), then starts to write. Writes synchronously if the system
  /// cannot create a thread.
  void start(Job job);
  /// Rethrows the error of the last write if it has finished: Error (3) for a
  /// full disk.
  void check();
  /// Returns whether a snapshot is being written.
  bool isWriting() {
    leaveToParent();
    return !done;
  }
  /// Waits for the write; throws as check() does.
  void wait();
  /// Waits for the write. Returns its error, or null, instead of throwing it.
  std::exception_ptr finish();

private:
  void leaveToParent();
  void write(Job &job);
  void removeOutdated(const SnapshotPair &files);

  Events &events;
  std::thread thread;
  int forks = forkCount(); ///< of the process that started the thread
  std::atomic<bool> done{true};
  std::exception_ptr failure; ///< of the thread, until joined
};

} // namespace brew::runtime
