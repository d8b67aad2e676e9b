//===- Snapshots.cpp - Snapshots of a training run ------------------------===//

#include "runtime/train/snapshots/Snapshots.h"

#include "formats/PathLookup.h"
#include "formats/SnapshotChecksum.h"
#include "formats/SolverStateFile.h"
#include "support/AtomicFile.h"
#include "support/Error.h"

#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

namespace brew::runtime {
namespace {

namespace fs = std::filesystem;

} // namespace

Snapshots::Snapshots(Session &trainedSession,
                     const caffe::SolverParameter &currentSolver,
                     const TrainingPrograms &trainingPrograms,
                     TrainingState &trainingState, Collectives &collectives,
                     ParameterUpdate &update, const NanCheck *nanCheck,
                     const CallerNets *netsOfCaller, int count)
    : session(trainedSession), events(session.events()), solver(currentSolver),
      programs(trainingPrograms), state(trainingState), ranks(collectives),
      parameterUpdate(update), nan(nanCheck), callerNets(netsOfCaller),
      keep(count), writer(events) {}

//===----------------------------------------------------------------------===//
// Prefix
//===----------------------------------------------------------------------===//

// resolvePrefix(), requireWritable() and reserve() must not read state that
// changes while training, since any thread may call them.

std::vector<std::string> Snapshots::lookupFolders() const {
  return {session.manifest().solver().folder(), session.folder()};
}

std::string
Snapshots::resolvePrefix(const caffe::SolverParameter &parameter) const {
  std::string name = parameter.snapshot_prefix();
  if (name.empty()) {
    // Caffe names snapshots after the solver file; Brew uses the plan's name.
    const fs::path plan(session.plan().path());
    return (plan.parent_path() / plan.stem()).string();
  }
  const std::string folder = formats::folderOfFile(name);
  if (folder.empty())
    return name;
  const std::optional<std::string> found =
      formats::findPath(folder, lookupFolders());
  // Not found: keep the name for the error message.
  return found ? (fs::path(*found) / fs::path(name).filename()).string() : name;
}

void Snapshots::requireWritable(const std::string &snapshotPrefix) const {
  if (!ranks.isRoot())
    return;
  try {
    // Any iteration: another thread may call this during training.
    brew::requireWritable(snapshotPrefix + "_iter_0.caffemodel");
  } catch (const Error &error) {
    const std::string text = error.what();
    throw unavailable("cannot write to snapshot prefix '" + snapshotPrefix +
                      "': make sure that the folder exists and is writable (" +
                      text.substr(text.rfind(": ") + 2) + ")");
  }
}

void Snapshots::reserve(const std::string &snapshotPrefix) {
  if (!ranks.isRoot())
    return;
  requireWritable(snapshotPrefix);
  const std::lock_guard<std::mutex> lock(lockMutex);
  if (locks.find(snapshotPrefix) == locks.end())
    locks.emplace(snapshotPrefix, PrefixLock(snapshotPrefix));
}

void Snapshots::release() {
  const std::lock_guard<std::mutex> lock(lockMutex);
  locks.clear();
}

void Snapshots::solverChanged() {
  const std::string oldPrefix = std::exchange(prefix, resolvePrefix(solver));
  if (prefix != oldPrefix)
    keptSnapshots = {}; // its names are relative to the old prefix
}

//===----------------------------------------------------------------------===//
// Position
//===----------------------------------------------------------------------===//

caffe::SolverState Snapshots::capturePosition() const {
  caffe::SolverState position;
  if (!callerNets) // the trainer knows neither their seed nor their readers
    position.set_brew_rng_seed(session.seed());
  for (const ProgramInputs *program : inputs)
    for (const caffe::ReaderCursor &cursor : program->cursors())
      *position.add_brew_reader() = cursor;
  state.save(position);
  session.persistentState().save(position);
  return position;
}

void Snapshots::rememberPosition() {
  if (!remembered || remembered->iter() != state.iteration)
    remembered = capturePosition();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void Snapshots::start() {
  if (!ranks.isRoot() && !parameterUpdate.isSharded())
    return;
  const SnapshotPair files = snapshotFiles(prefix, state.iteration, isHdf5());
  if (keep)
    keptSnapshots.add(state.iteration, isHdf5());
  write(files, /*countsTowardsLimit=*/true);
  lastFiles = writtenFiles[state.iteration] = files;
}

void Snapshots::startBest(const BestMetric *metric) {
  if (!ranks.isRoot())
    return write({}, /*countsTowardsLimit=*/false);
  events.info(log::site::brew, metric->name() + " = " +
                                   log::number(*metric->best()) +
                                   " is the best so far");
  write(bestFiles(*metric), /*countsTowardsLimit=*/false);
}

SnapshotPair Snapshots::bestFiles(const BestMetric &metric) const {
  const std::string base = prefix + "_" + metric.fileTag();
  const std::string suffix = isHdf5() ? ".h5" : "";
  return {base + ".caffemodel" + suffix, base + ".solverstate" + suffix};
}

/// Copies the weights and the state, and starts to write them. With
/// `countsTowardsLimit`, the snapshot is one of those that `keep` limits.
void Snapshots::write(const SnapshotPair &files, bool countsTowardsLimit) {
  std::exception_ptr failure;
  try {
    finish(); // frees memory for the next copy
  } catch (...) {
    failure = std::current_exception();
  }
  // Even if this rank failed, since the others wait for it.
  parameterUpdate.gatherHistory(solver.snapshot_diff());
  if (failure)
    std::rethrow_exception(failure);
  if (ranks.isRoot())
    copy(files, countsTowardsLimit);
  parameterUpdate.releaseHistory();
}

void Snapshots::copy(const SnapshotPair &files, bool countsTowardsLimit) {
  requireFiniteParameters();
  reserve();
  const bool hdf5 = isHdf5();
  using event::SnapshotWriting;
  events.emit(SnapshotWriting{SnapshotWriting::Weights, files.weights, hdf5});
  SnapshotWriter::Job job;
  job.files = files;
  job.format = hdf5 ? formats::SnapshotFormat::Hdf5
                    : formats::SnapshotFormat::BinaryProto;
  job.weights = callerNets ? callerNets->weights(solver.snapshot_diff())
                           : session.parameters().save(
                                 solver.snapshot_diff(),
                                 &session.manifest().programs(programs.train));
  caffe::SolverState &written = job.state.state;
  written = remembered ? *remembered : capturePosition();
  written.set_learned_net(files.weights);
  for (const BestMetric *metric : bestMetrics())
    metric->save(written);
  keptSnapshots.save(written);
  job.state.history = session.parameters().history();
  if (countsTowardsLimit && keep)
    // The state also lists snapshots about to be deleted: deletion may be
    // interrupted.
    job.outdated =
        keptSnapshots.takeOutdated(prefix, static_cast<std::size_t>(keep));
  events.emit(SnapshotWriting{SnapshotWriting::State, files.state, hdf5});
  writer.start(std::move(job));
}

/// With --check-nan, throws Error (1) if a parameter is not finite, so that a
/// bad snapshot does not replace a good one.
void Snapshots::requireFiniteParameters() const {
  const std::optional<std::string> problem =
      nan ? nan->badParameter() : std::nullopt;
  if (problem)
    throw badInput("iteration " + std::to_string(state.iteration) + ": " +
                   *problem +
                   " after the last update; no snapshot was written");
}

void Snapshots::finish() {
  // Other ranks must not mistake a slow disk for a hanging rank.
  while (!ranks.isAlone() && writer.isWriting()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ranks.reportProgress();
  }
  writer.wait();
  events.deliver();
}

void Snapshots::finishAfterError() {
  if (const std::exception_ptr failure = writer.finish())
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception &error) {
      try {
        events.error(log::site::brew, error.what());
      } catch (...) { // thrown by a listener
      }
    }
}

//===----------------------------------------------------------------------===//
// Resuming
//===----------------------------------------------------------------------===//

std::optional<std::string> Snapshots::findNewest(
    const std::function<bool(const std::string &)> &isEligible) {
  return newestIntactSnapshot(
      prefix, lookupFolders(),
      [&](const std::string &reason) {
        events.warning(log::site::brew, "Snapshot skipped: " + reason);
      },
      isEligible);
}

std::optional<std::string>
Snapshots::findNewest(std::optional<std::int64_t> since) {
  return findNewest([since](const std::string &path) {
    return !since || writtenAt(path) >= *since;
  });
}

std::optional<std::string> Snapshots::findLater(const std::string &listFile) {
  std::error_code error;
  if (!fs::exists(listFile, error)) {
    if (ranks.isRoot())
      writeSnapshotList(listFile, prefix);
    return std::nullopt;
  }
  const std::set<std::string> earlier = readSnapshotList(listFile);
  return findNewest([&](const std::string &path) {
    return earlier.count(versionOfFile(path)) == 0;
  });
}

std::string Snapshots::findResumePoint() {
  // Only rank 0 deletes unfinished files. The other ranks ignore them.
  if (const std::size_t count =
          ranks.isRoot() ? removeUnfinishedSnapshots(prefix) : 0)
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

void Snapshots::abandonAfter(int iteration) {
  finish();
  for (auto entry = writtenFiles.upper_bound(iteration);
       entry != writtenFiles.end(); entry = writtenFiles.erase(entry))
    for (const std::string &file : {entry->second.state, entry->second.weights})
      if (std::error_code error; fs::exists(file, error)) {
        fs::rename(file, file + ".abandoned", error);
        if (error)
          events.warning(log::site::brew, "Cannot rename the abandoned '" +
                                              file + "': " + error.message());
      }
}

void Snapshots::load(const formats::SolverSnapshot &snapshot,
                     const std::string &path) {
  events.emit(event::SnapshotLoading{path, /*history=*/false});
  session.parameters().checkHistory(snapshot.history, path);
  if (snapshot.state.has_learned_net()) {
    const std::string weights =
        weightsOfState(snapshot.state, path, lookupFolders());
    lastFiles = SnapshotPair{weights, path};
    formats::verifyWeightChecksum(snapshot.state, path, weights);
    if (callerNets)
      callerNets->loadWeights(weights);
    else
      session.parameters().load(weights);
  }
  events.emit(event::SnapshotLoading{path, /*history=*/true});
  session.parameters().setHistory(snapshot.history, path);
  session.persistentState().restore(snapshot.state, path);
  state.restore(snapshot.state, path);
  if (keep)
    keptSnapshots.restore(snapshot.state, path, prefix);
  for (BestMetric *metric : bestMetrics())
    restoreBest(*metric, snapshot.state, path);
}

void Snapshots::restoreBest(BestMetric &metric,
                            const caffe::SolverState &snapshotState,
                            const std::string &path) {
  metric.restore(snapshotState, path);
  // A better snapshot may have been written after the one that is resumed.
  for (const char *suffix : {".solverstate", ".solverstate.h5"}) {
    const std::string file = prefix + "_" + metric.fileTag() + suffix;
    std::error_code error;
    if (!fs::exists(file, error))
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
