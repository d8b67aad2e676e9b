//===- SnapshotFolder.h - The snapshots under one prefix --------*- C++ -*-===//
//
// Which snapshots a run finds when it is started again, and which of its own it
// deletes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/SolverStateFile.h"
#include "runtime/train/snapshots/SnapshotWriter.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

/// PREFIX_iter_N.caffemodel and .solverstate, with .h5 behind them in HDF5.
SnapshotPair snapshotFiles(const std::string &prefix, int iteration, bool hdf5);

/// The weights that the state at `path` names: as they are named there or in
/// `folders`, else beside the state, where both were moved together. Throws
/// Error (3) if they are not found.
std::string weightsOfState(const caffe::SolverState &state,
                           const std::string &path,
                           const std::vector<std::string> &folders);

/// The state of the newest intact snapshot of `prefix`, by iterations: one
/// whose state and weights can be read and are what was written. `skipped`
/// is told, once each, what is wrong with newer ones. Nothing if there is none.
/// With `since` (seconds since 1970), states written before do not count.
/// Throws Error (3) if the folder is there but cannot be read.
std::optional<std::string>
newestIntactSnapshot(const std::string &prefix,
                     const std::vector<std::string> &folders,
                     const std::function<void(const std::string &)> &skipped,
                     std::optional<std::int64_t> since = {});

/// Deletes what killed processes had begun to write under `prefix`; returns how
/// many files it were. Those of processes that still run here stay.
std::size_t removeUnfinishedSnapshots(const std::string &prefix);

/// The snapshots that a run has written under its prefix and not yet deleted,
/// in their order. States hold it, so that a resumed run goes on with it.
class KeptSnapshots {
public:
  /// Adds the snapshot of an iteration, or moves it to the end.
  void add(int iteration, bool hdf5);
  /// Takes all but the newest `count` out of the list.
  std::vector<SnapshotPair> takeOutdated(const std::string &prefix,
                                         std::size_t count);

  void save(caffe::SolverState &state) const;
  /// Takes over what the run of the state at `path` has left, if it is one of
  /// `prefix`. Throws Error (1) if it is damaged.
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
