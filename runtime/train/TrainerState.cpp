//===- TrainerState.cpp - Start and resumption of training ----------------===//

#include "runtime/train/Trainer.h"
#include "runtime/train/metrics/DetectionScores.h"

#include "caffe/SolverRules.h"
#include "formats/PathLookup.h"
#include "formats/SnapshotChecksum.h"
#include "formats/SolverStateFile.h"
#include "plan/Contract.h"
#include "runtime/comm/Communicator.h"
#include "runtime/train/SolverFields.h"
#include "support/AtomicFile.h"
#include "support/Error.h"

#include <filesystem>
#include <random>

namespace brew::runtime {
namespace {

namespace fs = std::filesystem;

std::uint64_t drawSeed() {
  std::random_device device;
  // 31 bits, so that it can be set as random_seed.
  return device() & 0x7fffffffu;
}

int requireProgram(Executor &executor, const char *name) {
  const int program = executor.findProgram(name);
  if (program < 0)
    throw badInput(std::string("the plan has no program '") + name +
                   "', so it cannot be trained; compile a solver, or a net "
                   "with a loss, without --phase");
  return program;
}

} // namespace

caffe::SolverParameter solverOf(const plan::Manifest &manifest) {
  if (!manifest.has_solver())
    throw badInput("the plan has no solver, so it cannot be trained; compile "
                   "a solver, or a net with a loss, without --phase");
  caffe::SolverParameter solver;
  if (!solver.ParseFromString(manifest.solver().parameter()))
    throw badInput("damaged plan: its solver cannot be read");
  return solver;
}

Trainer::Trainer(Session &planSession, TrainerOptions trainerOptions)
    : session(planSession), executor(session.executor()),
      events(session.events()), options(std::move(trainerOptions)),
      solver(options.solver),
      trainProgram(requireProgram(executor, plan::programs::kForwardBackward)),
      updateProgram(requireProgram(executor, plan::programs::kUpdate)),
      clipProgram(executor.findProgram(plan::programs::kClip)),
      reduceProgram(executor.findProgram(plan::programs::kReduce)),
      ranks(session.communicator()), rate(solver), scalars(executor),
      accumulator(executor),
      requests(solver,
               [this](const caffe::SolverParameter &candidate,
                      const caffe::SolverParameter &before) {
                 checkSolver(candidate);
                 if (candidate.snapshot() && isRoot() &&
                     (!before.snapshot() ||
                      candidate.snapshot_prefix() != before.snapshot_prefix()))
                   probeSnapshotFolder(resolvePrefix(candidate));
               }),
      writer(events) {
  checkRankSettings();
  hasRules = !options.watch.stopWhen.empty() || !options.watch.patience.empty();
  if (!isRoot()) {
    options.watch.logFolder.clear();
    options.watch.stopWhen.clear();
    options.watch.patience.clear();
  }
  checkSolver(solver);
  events.emit(event::SolverSetUp{&solver});
  prefix = resolvePrefix(solver);
  if ((solver.snapshot() || !options.snapshotBest.empty()) && isRoot())
    probeSnapshotFolder(prefix);
  if (options.resume)
    options.snapshot = findResumePoint();
  if (options.resumeSince)
    if (const auto newest = findNewest(options.resumeSince))
      options.snapshot = *newest;
  initialise(options.snapshot);
  synchronizeRanks();
}

Trainer::~Trainer() {
  // Report a write error that no call has reported, because training ended with
  // another error.
  if (const std::exception_ptr failure = writer.finish())
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception &error) {
      try {
        events.error(log::site::brew, error.what());
      } catch (...) { // thrown by a listener: a destructor must not throw
      }
    }
}

/// Must not read state that changes while training, since any thread may call
/// this function.
void Trainer::checkSolver(const caffe::SolverParameter &candidate) const {
  for (const caffe::SolverConflict &conflict :
       caffe::solverConflicts(candidate))
    throw badInput("solver: " + conflict.text);
  checkSolverFields(candidate);
  const caffe::LearningRate policy(candidate); // throws for an invalid policy
  if (netCount >= 0 && candidate.test_iter_size() != netCount)
    throw badInput("solver: test_iter must be given once for each of the " +
                   std::to_string(netCount) + " test nets");
  if (candidate.momentum() != 0)
    for (const plan::Parameter &parameter : executor.manifest().parameters())
      if (parameter.has_gradient_buffer_index() &&
          parameter.state_buffer_indices_size() == 0)
        throw badInput("the plan was compiled without momentum, so momentum " +
                       log::number(candidate.momentum()) +
                       " requires recompiling it");
}

std::vector<std::string> Trainer::lookupFolders() const {
  return {executor.manifest().solver().folder(), session.folder()};
}

//===----------------------------------------------------------------------===//
// Starting
//===----------------------------------------------------------------------===//

void Trainer::initialise(const std::string &snapshotPath) {
  formats::SolverSnapshot state;
  if (!snapshotPath.empty())
    state = formats::readSolverState(snapshotPath);
  const bool hasPosition = state.state.has_brew_rng_seed();

  session.setSeed(
      chooseSeed(hasPosition ? state.state.brew_rng_seed()
                 : solver.random_seed() >= 0
                     ? static_cast<std::uint64_t>(solver.random_seed())
                     : drawSeed()));
  events.emit(event::SeedChosen{session.seed()});
  session.fillParameters();

  createNets();
  if (!options.snapshotBest.empty()) {
    best = std::make_unique<BestMetric>(options.snapshotBest, metricScope());
    events.info(log::site::brew,
                "Keeping the best weights by " + best->description());
  }
  if (isRoot())
    openHooks();
  if (hasPosition)
    restoreCursors(state.state);
  // Report missing sources now, not at the first test.
  pipeline->open();
  if (isRoot() || distributesTests())
    for (TestNet &net : nets)
      net.pipeline->open();
  events.emit(event::SolverReady{});

  if (snapshotPath.empty()) {
    loadWeights();
  } else {
    startFiles = {snapshotPath};
    if (state.state.has_learned_net())
      startFiles.push_back(
          weightsOfState(state.state, snapshotPath, lookupFolders()));
    restoreState(state, snapshotPath);
  }
  if (options.lossScale) {
    if (!session.persistentState().hasLossScale())
      throw Error(ExitStatus::Usage,
                  "--loss-scale needs a plan of brewc --precision=f16");
    session.persistentState().setLossScale(*options.lossScale);
  }
  session.prepare();
  startWatching();
  startPosition = capturePosition();
}

void Trainer::startWatching() {
  watch->startAt(currentIteration);
  if (hooks)
    hooks->get().startAt(currentIteration);
}

void Trainer::requireRestartable() const {
  if (ranks)
    throw Error(ExitStatus::Usage, "training on several ranks cannot restart");
  for (const std::string &file : startFiles)
    if (std::error_code ignored; !fs::exists(file, ignored))
      throw unavailable("training cannot restart: " + file +
                        ", from which it started, is gone");
}

void Trainer::restart() {
  requireRestartable();
  drainInFlight(0);
  discardIteration();
  finishSnapshots();
  beforeTests.reset();
  session.setSeed(
      session.rankSeed(startPosition.brew_rng_seed())); // restarts the readers
  restoreCursors(startPosition);
  session.fillParameters();
  session.resetState();
  if (options.snapshot.empty()) {
    loadWeights();
    currentIteration = startPosition.iter();
    rateState.restore(startPosition);
    restoreCallerState(startPosition, "the beginning");
  } else {
    restoreState(formats::readSolverState(options.snapshot), options.snapshot);
  }
  session.persistentState().restore(startPosition, "the beginning");
  session.prepare();
  lastTested = -1;
  startWatching();
  events.emit(event::Reset{currentIteration});
}

void Trainer::createNets() {
  const plan::Manifest &manifest = executor.manifest();
  const plan::DataType precision = manifest.target().precision();
  using event::NetSetUp;
  events.emit(NetSetUp{NetSetUp::Training, &manifest.programs(trainProgram),
                       precision, -1});
  pipeline = &session.dataPipeline(trainProgram);
  debug = debugInfoOf(trainProgram);
  for (int i = 0; i < solver.test_iter_size(); ++i) {
    const int program = executor.findProgram(plan::programs::testName(i));
    if (program < 0)
      throw badInput("solver: test_iter is given " +
                     std::to_string(solver.test_iter_size()) +
                     " times, but the plan has " + std::to_string(i) +
                     " test nets");
    if (solver.eval_type() == "detection")
      DetectionScores::checkOutputs(manifest, program);
    events.emit(
        NetSetUp{NetSetUp::Test, &manifest.programs(program), precision, i});
    nets.push_back(
        {program, debugInfoOf(program), &session.dataPipeline(program)});
  }
  netCount = testNets();
  watch = std::make_unique<Watch>(session, options.watch, metricScope());
}

MetricScope Trainer::metricScope() const {
  return {executor.manifest(), testNets(), nullptr, options.hasLearner};
}

std::unique_ptr<DebugInfo> Trainer::debugInfoOf(int program) {
  const plan::Program &description = executor.manifest().programs(program);
  if (!solver.debug_info() || !DebugInfo::isCompiledIn(description))
    return nullptr;
  return std::make_unique<DebugInfo>(description, parameters(), events);
}

void Trainer::restore(const std::string &path) {
  beforeTests.reset();
  finishSnapshots(); // `path` may be the snapshot that is being written
  const formats::SolverSnapshot state = formats::readSolverState(path);
  drainInFlight(0);
  discardIteration();
  const bool hasPosition = state.state.has_brew_rng_seed();
  // Restarts the readers and moves them to the state's positions, if it has
  // any.
  session.setSeed(chooseSeed(hasPosition ? state.state.brew_rng_seed()
                             : ranks     ? session.rankSeed().common
                                         : session.seed()));
  if (hasPosition)
    restoreCursors(state.state);
  restoreState(state, path);
  if (sharded)
    sharded->releaseHistory();
  session.prepare();
  lastTested = -1;
  startWatching();
}

void Trainer::restoreState(const formats::SolverSnapshot &snapshot,
                           const std::string &path) {
  events.emit(event::SnapshotLoading{path, /*history=*/false});
  if (snapshot.state.has_learned_net()) {
    const std::string weights =
        weightsOfState(snapshot.state, path, lookupFolders());
    formats::verifyWeightChecksum(snapshot.state, path, weights);
    parameters().load(weights);
  }
  events.emit(event::SnapshotLoading{path, /*history=*/true});
  parameters().setHistory(snapshot.history, path);
  session.persistentState().restore(snapshot.state, path);
  currentIteration = snapshot.state.iter();
  rateState.restore(snapshot.state);
  if (options.keepSnapshots)
    keptSnapshots.restore(snapshot.state, path, prefix);
  if (best)
    restoreBest(*best, snapshot.state, path);
  if (hooks)
    for (BestMetric *metric : hooks->get().bestMetrics())
      restoreBest(*metric, snapshot.state, path);
  restoreCallerState(snapshot.state, path);
}

void Trainer::loadWeights() {
  std::vector<std::string> lists = options.weights;
  if (lists.empty())
    lists.assign(solver.weights().begin(), solver.weights().end());
  startFiles =
      session.loadWeights(lists, {executor.manifest().solver().folder()},
                          /*training=*/true);
}

void Trainer::restoreCursors(const caffe::SolverState &state) {
  const std::vector<caffe::ReaderCursor> cursors(state.brew_reader().begin(),
                                                 state.brew_reader().end());
  pipeline->restore(cursors);
  if (isRoot() || distributesTests())
    for (TestNet &net : nets)
      net.pipeline->restore(cursors);
  restoreLosses(state);
  lossesRestored = true;
}

//===----------------------------------------------------------------------===//
// Snapshot prefix
//===----------------------------------------------------------------------===//

// Like checkSolver(), these functions must not read state that changes while
// training.

std::string
Trainer::resolvePrefix(const caffe::SolverParameter &parameter) const {
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

/// Checks that snapshots can be written, before training computes anything.
void Trainer::probeSnapshotFolder(const std::string &snapshotPrefix) const {
  try {
    requireWritable(snapshotPrefix + "_iter_" +
                    std::to_string(currentIteration) + ".caffemodel");
  } catch (const Error &) {
    throw unavailable("cannot write to snapshot prefix '" + snapshotPrefix +
                      "': make sure that the folder exists and is writable");
  }
}

} // namespace brew::runtime
