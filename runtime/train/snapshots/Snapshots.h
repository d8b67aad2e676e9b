//===- Snapshots.h - Snapshots of a training run ----------------*- C++ -*-===//
#pragma once

#include "runtime/session/Session.h"
#include "runtime/train/CallerNets.h"
#include "runtime/train/Collectives.h"
#include "runtime/train/ParameterUpdate.h"
#include "runtime/train/TrainingPrograms.h"
#include "runtime/train/TrainingState.h"
#include "runtime/train/metrics/BestMetric.h"
#include "runtime/train/snapshots/PrefixLock.h"
#include "runtime/train/snapshots/SnapshotFolder.h"
#include "runtime/train/snapshots/SnapshotWriter.h"
#include "runtime/train/watch/NanCheck.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

/// Writes and loads the snapshots of a training run. Copies them between two
/// iterations and writes them in the background, one at a time. Rank 0 writes;
/// the other ranks only contribute their shards of the solver history.
class Snapshots {
public:
  /// `nan`: checks parameters before they are written; may be null.
  /// `callerNets`: the nets whose weights snapshots contain; null: the plan's.
  /// `keep`: the number of snapshots to keep; 0: all. The arguments must
  /// outlive this object.
  Snapshots(Session &session, const caffe::SolverParameter &solver,
            const TrainingPrograms &programs, TrainingState &state,
            Collectives &ranks, ParameterUpdate &parameterUpdate,
            const NanCheck *nan, const CallerNets *callerNets, int keep);

  /// Sets the function that returns the metrics whose best values snapshots
  /// contain.
  void setBestMetrics(std::function<std::vector<BestMetric *>()> function) {
    bestMetricsFunction = std::move(function);
  }
  std::vector<BestMetric *> bestMetrics() const {
    return bestMetricsFunction();
  }
  /// Returns the last snapshot that this run has written, or the one that it
  /// was resumed from; nullopt without one.
  const std::optional<SnapshotPair> &last() const { return lastFiles; }
  /// Returns the names of the snapshot of the metric's best value.
  SnapshotPair bestFiles(const BestMetric &metric) const;

  //===--------------------------------------------------------------------===//
  // Prefix
  //===--------------------------------------------------------------------===//

  /// Returns snapshot_prefix with its folder resolved. Callable from any
  /// thread.
  std::string resolvePrefix(const caffe::SolverParameter &parameter) const;
  /// On rank 0, throws Error (3) if snapshots with this prefix cannot be
  /// written. Callable from any thread.
  void requireWritable(const std::string &snapshotPrefix) const;
  void requireWritable() const { requireWritable(prefix); }
  /// On rank 0, calls requireWritable(), and keeps other processes from writing
  /// snapshots with this prefix until this object is destroyed. Throws Error
  /// (3) if another one does. Callable from any thread.
  void reserve(const std::string &snapshotPrefix);
  void reserve() { reserve(prefix); }
  /// Ends the reservations of all prefixes.
  void release();
  /// Call this when fields of the solver are set.
  void solverChanged();
  /// Returns the folders in which files are searched.
  std::vector<std::string> lookupFolders() const;

  //===--------------------------------------------------------------------===//
  // Position
  //===--------------------------------------------------------------------===//

  /// Returns the position of training: a solver state without files and
  /// history.
  caffe::SolverState capturePosition() const;
  /// Saves the position before the end of an iteration reads further records,
  /// so that a run resumed from a snapshot reads them again.
  void rememberPosition();
  /// Discards the saved position: snapshots continue from the current one.
  void forgetPosition() { remembered.reset(); }
  /// Adds inputs whose cursors positions contain.
  void addInputs(const ProgramInputs &added) { inputs.push_back(&added); }

  //===--------------------------------------------------------------------===//
  // Writing
  //===--------------------------------------------------------------------===//

  /// Starts a snapshot of the current iteration. All ranks must call it.
  void start();
  /// Starts the snapshot of the best value so far of `metric`. All ranks must
  /// call it if the update is sharded; the metric of ranks other than 0 may be
  /// null.
  void startBest(const BestMetric *metric);
  /// Throws the error of the last write if it has finished.
  void check() { writer.check(); }
  /// Waits for the write. Throws its error.
  void finish();
  /// Waits for the write. Reports an error that no call has reported, because
  /// training ended with another error. Does not throw.
  void finishAfterError();

  //===--------------------------------------------------------------------===//
  // Resuming
  //===--------------------------------------------------------------------===//

  /// Returns the newest intact snapshot of the prefix. With `since` (seconds
  /// since 1970), ignores older ones.
  std::optional<std::string> findNewest(std::optional<std::int64_t> since = {});
  /// Returns the newest intact snapshot that the list in a file lacks. Without
  /// the file, writes the list of all snapshots of the prefix on rank 0, and
  /// returns nullopt. Throws Error (3) if the file cannot be read or written.
  std::optional<std::string> findLater(const std::string &listFile);
  /// Returns the newest intact snapshot, or "" after a message. Deletes files
  /// that were never finished.
  std::string findResumePoint();
  /// Renames the snapshots that this run has written after the iteration
  /// `iteration`, to *.abandoned, so that no later run resumes from them. Call
  /// it when training goes back. Rank 0 only.
  void abandonAfter(int iteration);
  /// Loads the weights, history and state of a snapshot that was read from
  /// `path`, but neither its seed nor its cursors and losses.
  void load(const formats::SolverSnapshot &snapshot, const std::string &path);

private:
  std::optional<std::string>
  findNewest(const std::function<bool(const std::string &)> &isEligible);
  void write(const SnapshotPair &files, bool countsTowardsLimit);
  void copy(const SnapshotPair &files, bool countsTowardsLimit);
  void requireFiniteParameters() const;
  void restoreBest(BestMetric &metric, const caffe::SolverState &snapshotState,
                   const std::string &path);
  bool isHdf5() const {
    return solver.snapshot_format() == caffe::SolverParameter::HDF5;
  }

  Session &session;
  Events &events;
  const caffe::SolverParameter &solver;
  const TrainingPrograms &programs;
  TrainingState &state;
  Collectives &ranks;
  ParameterUpdate &parameterUpdate;
  const NanCheck *nan;
  const CallerNets *callerNets;
  const int keep;
  std::function<std::vector<BestMetric *>()> bestMetricsFunction;
  std::vector<const ProgramInputs *> inputs;

  std::string prefix; ///< of the current solver, resolved
  std::optional<SnapshotPair> lastFiles;
  std::map<int, SnapshotPair> writtenFiles; ///< of start(), by iteration
  KeptSnapshots keptSnapshots;              ///< empty if all are kept
  std::optional<caffe::SolverState> remembered;
  std::mutex lockMutex;                    ///< guards `locks`
  std::map<std::string, PrefixLock> locks; ///< by prefix
  SnapshotWriter writer; ///< the last member: its destructor waits
};

} // namespace brew::runtime
