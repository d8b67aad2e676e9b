//===- SnapshotFolder.h - Snapshots under one prefix ------------*- C++ -*-===//
//
// Finds the snapshots to resume from, and selects those to delete.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/SolverStateFile.h"
#include "runtime/train/snapshots/SnapshotWriter.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace brew::runtime {

/// Returns PREFIX_iter_N.caffemodel and PREFIX_iter_N.solverstate, with the
/// suffix .h5 for HDF5.
SnapshotPair snapshotFiles(const std::string &prefix, int iteration, bool hdf5);

/// Finds the weight file that the state at `path` names: under that name, in
/// `folders`, or in the folder of the state, for snapshots that were moved.
/// Throws Error (3) if it is not found.
std::string weightsOfState(const caffe::SolverState &state,
                           const std::string &path,
                           const std::vector<std::string> &folders);

/// Finds the state of the newest intact snapshot of `prefix`, by iteration: its
/// state and weights are readable and match their checksums. Calls `skipped`
/// once for each newer, damaged snapshot. Ignores files for which `isEligible`
/// returns false. Returns nullopt if there is none. Throws Error (3) if the
/// folder exists but cannot be read.
std::optional<std::string> newestIntactSnapshot(
    const std::string &prefix, const std::vector<std::string> &folders,
    const std::function<void(const std::string &)> &skipped,
    const std::function<bool(const std::string &)> &isEligible);

/// Returns the time of the last change in seconds since 1970; 0 if the file is
/// gone.
std::int64_t writtenAt(const std::string &path);

/// Returns a text that differs for a file that has replaced another one of the
/// same name, whatever the clocks of the writers say.
std::string versionOfFile(const std::string &path);
/// Writes the versions of all snapshots of `prefix` to a file. Throws Error (3)
/// if the folder or the file cannot be accessed.
void writeSnapshotList(const std::string &listFile, const std::string &prefix);
/// Returns these versions. Throws Error (3) if the file cannot be read.
std::set<std::string> readSnapshotList(const std::string &listFile);

/// Deletes unfinished files under `prefix` whose writers have ended
/// (support/TemporaryName.h); returns their number.
std::size_t removeUnfinishedSnapshots(const std::string &prefix);

/// The snapshots that a run has written under its prefix and not yet deleted,
/// in order. Saved in states for resumed runs.
class KeptSnapshots {
public:
  /// Adds the snapshot of an iteration, or moves it to the end.
  void add(int iteration, bool hdf5);
  /// Removes all but the newest `count` from the list and returns them.
  std::vector<SnapshotPair> takeOutdated(const std::string &prefix,
                                         std::size_t count);

  void save(caffe::SolverState &state) const;
  /// Restores the list from the state at `path` if it has the same prefix.
  /// Throws Error (1) if it is damaged.
  void restore(const caffe::SolverState &state, const std::string &path,
               const std::string &prefix);

private:
  struct Entry {
    int iteration;
    bool hdf5;
  };
  std::vector<Entry> entries; ///< oldest first
};

} // namespace brew::runtime
