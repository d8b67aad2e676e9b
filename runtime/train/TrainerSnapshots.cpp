//===- TrainerSnapshots.cpp - Snapshots of a training run -----------------===//

#include "runtime/train/Trainer.h"

#include "formats/PathLookup.h"
#include "formats/SolverStateFile.h"
#include "support/Error.h"

#include <chrono>
#include <filesystem>
#include <thread>

namespace brew::runtime {
namespace {

/// Name of the smoothed loss and the losses that it averages. They are stored
/// in double, since the state's own fields have single precision.
constexpr char kLosses[] = "/losses";
/// Name of the numbers of setCallerState().
constexpr char kCallerState[] = "/attached";

} // namespace

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void Trainer::snapshot() {
  startSnapshotOnAllRanks();
  finishSnapshots();
}

/// Starts a snapshot that was requested on this rank only.
void Trainer::startSnapshot() {
  if (sharded) // needs the other ranks, which have parts of the history
    snapshotAfterTests = true;
  else if (isRoot())
    startSnapshotOnAllRanks();
}

/// Starts a snapshot on all ranks, which must all call this function.
void Trainer::startSnapshotOnAllRanks() {
  drainInFlight(0);
  if (!isRoot() && !sharded)
    return;
  const bool hdf5 = solver.snapshot_format() == caffe::SolverParameter::HDF5;
  const SnapshotPair files = snapshotFiles(prefix, currentIteration, hdf5);
  if (options.keepSnapshots)
    keptSnapshots.add(currentIteration, hdf5);
  writeSnapshot(files, /*countsTowardsLimit=*/true);
}

/// Starts the snapshot of the best value so far of `metric`.
void Trainer::startBestSnapshot(const BestMetric &metric) {
  if (isRoot())
    events.info(log::site::brew, metric.name() + " = " +
                                     log::number(*metric.best()) +
                                     " is the best so far");
  const bool hdf5 = solver.snapshot_format() == caffe::SolverParameter::HDF5;
  const std::string base = prefix + "_" + metric.fileTag();
  const std::string suffix = hdf5 ? ".h5" : "";
  writeSnapshot({base + ".caffemodel" + suffix, base + ".solverstate" + suffix},
                /*countsTowardsLimit=*/false);
}

/// Copies the weights and the state, and starts to write them. With
/// `countsTowardsLimit`, the snapshot is one of those that keepSnapshots
/// limits.
void Trainer::writeSnapshot(const SnapshotPair &files,
                            bool countsTowardsLimit) {
  drainInFlight(0); // the losses must match the weights
  std::exception_ptr failure;
  try {
    finishSnapshots(); // frees memory for the next copy
  } catch (...) {
    failure = std::current_exception();
  }
  if (sharded) // even if this rank failed, since the others wait for it
    sharded->gatherHistory(solver.snapshot_diff());
  if (failure)
    std::rethrow_exception(failure);
  if (isRoot())
    copySnapshot(files, countsTowardsLimit);
  if (sharded)
    sharded->releaseHistory();
}

void Trainer::copySnapshot(const SnapshotPair &files, bool countsTowardsLimit) {
  requireFiniteParameters();
  const bool hdf5 = solver.snapshot_format() == caffe::SolverParameter::HDF5;
  using event::SnapshotWriting;
  events.emit(SnapshotWriting{SnapshotWriting::Weights, files.weights, hdf5});
  SnapshotWriter::Job job;
  job.files = files;
  job.format = hdf5 ? formats::SnapshotFormat::Hdf5
                    : formats::SnapshotFormat::BinaryProto;
  job.weights = parameters().save(solver.snapshot_diff(),
                                  &executor.manifest().programs(trainProgram));
  caffe::SolverState &state = job.state.state;
  state = beforeTests ? *beforeTests : capturePosition();
  state.set_learned_net(files.weights);
  if (hooks)
    for (const BestMetric *metric : hooks->get().bestMetrics())
      metric->save(state);
  if (best)
    best->save(state);
  keptSnapshots.save(state);
  job.state.history = parameters().history();
  if (countsTowardsLimit && options.keepSnapshots)
    // The state also lists snapshots about to be deleted: deletion may be
    // interrupted.
    job.outdated = keptSnapshots.takeOutdated(
        prefix, static_cast<std::size_t>(options.keepSnapshots));
  events.emit(SnapshotWriting{SnapshotWriting::State, files.state, hdf5});
  writer.start(std::move(job));
}

/// Returns the position of training: a solver state without files and history.
caffe::SolverState Trainer::capturePosition() const {
  caffe::SolverState state;
  state.set_iter(currentIteration);
  rateState.save(state);
  state.set_brew_rng_seed(session.seed());
  auto addCursors = [&](const DataPipeline &source) {
    for (const caffe::ReaderCursor &cursor : source.cursors())
      *state.add_brew_reader() = cursor;
  };
  addCursors(*pipeline);
  for (const TestNet &net : nets)
    addCursors(*net.pipeline);
  state.set_brew_smoothed_loss(static_cast<float>(lossWindow.mean()));
  std::vector<double> losses = {lossWindow.mean()};
  for (double loss : lossWindow.losses()) {
    state.add_brew_recent_loss(static_cast<float>(loss));
    losses.push_back(loss);
  }
  formats::setNamedValues(state, kLosses, losses);
  if (!callerState.empty())
    formats::setNamedValues(state, kCallerState, callerState);
  session.persistentState().save(state);
  return state;
}

/// Saves the position before the end of an iteration reads further records, so
/// that a resumed run reads them again.
void Trainer::rememberPosition() {
  if (!beforeTests || beforeTests->iter() != currentIteration)
    beforeTests = capturePosition();
}

void Trainer::finishSnapshots() {
  // Other ranks must not mistake a slow disk for a hanging rank.
  while (rankCount() > 1 && writer.isWriting()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    reportProgress();
  }
  writer.wait();
  events.deliver();
}

//===----------------------------------------------------------------------===//
// Resuming
//===----------------------------------------------------------------------===//

std::optional<std::string>
Trainer::findNewest(std::optional<std::int64_t> since) {
  return newestIntactSnapshot(
      prefix, lookupFolders(),
      [&](const std::string &reason) {
        events.warning(log::site::brew, "Snapshot skipped: " + reason);
      },
      since);
}

std::string Trainer::findResumePoint() {
  // Only rank 0 deletes unfinished files. The other ranks ignore them.
  if (const std::size_t count =
          isRoot() ? removeUnfinishedSnapshots(prefix) : 0)
    events.info(log::site::brew,
                "Deleted " + std::to_string(count) +
                    " files of snapshots that were never finished");
  const std::optional<std::string> found = findNewest();
  if (!found)
    events.info(log::site::brew, "No snapshot of prefix '" + prefix +
                                     "' to resume from: training from the "
                                     "beginning");
  return found.value_or("");
}

void Trainer::restoreLosses(const caffe::SolverState &state) {
  // The stored mean is not read: the window computes its own.
  const std::vector<double> exactLosses =
      formats::namedValues(state, kLosses, "solver state");
  if (exactLosses.empty())
    lossWindow.assign(
        {state.brew_recent_loss().begin(), state.brew_recent_loss().end()});
  else
    lossWindow.assign({exactLosses.begin() + 1, exactLosses.end()});
  lossWindow.shrink(solver.average_loss());
}

void Trainer::restoreCallerState(const caffe::SolverState &state,
                                 const std::string &path) {
  callerState = formats::namedValues(state, kCallerState, path);
}

void Trainer::restoreBest(BestMetric &metric, const caffe::SolverState &state,
                          const std::string &path) {
  metric.restore(state, path);
  // A better snapshot may have been written after the one that is resumed.
  for (const char *suffix : {".solverstate", ".solverstate.h5"}) {
    const std::string file = prefix + "_" + metric.fileTag() + suffix;
    std::error_code error;
    if (!std::filesystem::exists(file, error))
      continue;
    try {
      metric.restore(formats::readSolverState(file).state, file);
    } catch (const Error &damaged) {
      events.warning(log::site::brew,
                     std::string("Best snapshot skipped: ") + damaged.what());
    }
  }
  if (metric.best())
    events.info(log::site::brew, "The best " + metric.name() + " so far is " +
                                     log::number(*metric.best()) +
                                     ", of iteration " +
                                     std::to_string(metric.bestIteration()));
}

} // namespace brew::runtime
