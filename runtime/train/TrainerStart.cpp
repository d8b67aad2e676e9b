//===- TrainerStart.cpp - Start and resumption of training ----------------===//

#include "runtime/train/Trainer.h"

#include "caffe/SolverRules.h"
#include "formats/SolverStateFile.h"
#include "runtime/train/HookAccess.h"
#include "runtime/train/RankExchange.h"
#include "runtime/train/SolverFields.h"
#include "runtime/train/hooks/OptionHooks.h"
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

/// Throws Error (1) if the plan cannot be trained with a solver.
void checkSolver(const caffe::SolverParameter &candidate,
                 const plan::Manifest &manifest) {
  for (const caffe::SolverConflict &conflict :
       caffe::solverConflicts(candidate))
    throw badInput("solver: " + conflict.text);
  checkSolverFields(candidate);
  const caffe::LearningRate policy(candidate); // throws for an invalid policy
  if (candidate.momentum() != 0)
    for (const plan::Parameter &parameter : manifest.parameters())
      if (parameter.has_gradient_buffer_index() &&
          parameter.state_buffer_indices_size() == 0)
        throw badInput("the plan was compiled without momentum, so momentum " +
                       log::number(candidate.momentum()) +
                       " requires recompiling it");
}

} // namespace

caffe::SolverParameter solverOf(const plan::Manifest &manifest) {
  if (!manifest.has_solver())
    throw badInput(
        "the plan has no solver, so it cannot be trained; compile "
        "a solver, or a net with a loss, without --deploy or --phase");
  caffe::SolverParameter solver;
  if (!solver.ParseFromString(manifest.solver().parameter()))
    throw badInput("damaged plan: its solver cannot be read");
  return solver;
}

Trainer::Trainer(Session &planSession, TrainerOptions trainerOptions)
    : session(planSession), events(session.events()),
      options(std::move(trainerOptions)), programs(session.executor()),
      ranks(Collectives::create(session)),
      trainerControl(
          std::exchange(options.solver, {}),
          [this](const caffe::SolverParameter &candidate,
                 const caffe::SolverParameter &before) {
            // Must not read state that changes while training, since any
            // thread may call this function.
            checkSolver(candidate, session.manifest());
            if (candidate.test_iter_size() != testNets())
              throw badInput("solver: test_iter must be given once for each "
                             "of the " +
                             std::to_string(testNets()) + " test nets");
            // Without an interval too: the end of the run and requests write
            // snapshots.
            // With nets of the caller, calls that write some check first.
            if (!options.callerNets &&
                ((candidate.snapshot() && !before.snapshot()) ||
                 candidate.snapshot_prefix() != before.snapshot_prefix()))
              snapshots.reserve(snapshots.resolvePrefix(candidate));
          }),
      solver(trainerControl.current()),
      nan(options.watch.checkNan ? std::make_unique<NanCheck>(session)
                                 : nullptr),
      progress(session, solver, programs, state, *ranks,
               /*countsItems=*/!options.callerNets),
      parameterUpdate(session, solver, programs, state, *ranks),
      passes(session, solver, programs, state, *ranks, parameterUpdate,
             progress, nan.get(), options.callerNets.get()),
      tests(session, solver, state, *ranks, options.distributeTests,
            options.callerNets.get()),
      requests(trainerControl, *ranks), parameterChanges(session),
      snapshots(session, solver, programs, state, *ranks, parameterUpdate,
                nan.get(), options.callerNets.get(), options.keepSnapshots) {
  checkRankSettings(session, options, solver, *ranks);
  checkSolver(solver, session.manifest());
  if (!options.callerNets)
    events.emit(event::SolverSetUp{&solver});
  snapshots.solverChanged();
  if (solver.snapshot() || !options.snapshotBest.empty())
    snapshots.requireWritable();
  if (options.resume)
    options.snapshot = snapshots.findResumePoint();
  if (!options.earlierSnapshots.empty())
    if (const auto later = snapshots.findLater(options.earlierSnapshots))
      options.snapshot = *later;
  if (options.resumeSince)
    if (const auto newest = snapshots.findNewest(options.resumeSince))
      options.snapshot = *newest;
  if (options.callerNets)
    startWithCallerNets();
  else
    initialise();
  synchronizeStart(session, solver, session.dataPipeline(programs.train),
                   state.iteration, *ranks);
  if (options.shardUpdate)
    parameterUpdate.shard();
}

Trainer::~Trainer() { snapshots.finishAfterError(); }

//===----------------------------------------------------------------------===//
// Starting
//===----------------------------------------------------------------------===//

/// Starts to train nets that the caller has initialised.
void Trainer::startWithCallerNets() {
  tests.createNets();
  createHooksAndLogs();
  startHooksAndLogs();
}

void Trainer::createHooksAndLogs() {
  logs = std::make_unique<RunLogs>(
      session, ranks->isRoot() ? options.watch.logFolder : "", testNets());
  hooks = std::make_unique<TrainerHooks>(
      std::make_unique<HookAccess>(HookedRun{
          session, trainerControl, programs, state, passes, tests, snapshots,
          parameterChanges, /*hasAllHistory=*/!options.shardUpdate,
          options.hasLearner, options.allowCommands}),
      *ranks, parameterChanges, testNets(), snapshots.lookupFolders());
  snapshots.setBestMetrics([this] { return hooks->bestMetrics(); });
  if (ranks->isRoot())
    addHooksOfOptions();
}

void Trainer::initialise() {
  const std::string &snapshotPath = options.snapshot;
  formats::SolverSnapshot start;
  if (!snapshotPath.empty())
    start = formats::readSolverState(snapshotPath);
  const bool hasPosition = start.state.has_brew_rng_seed();

  session.setSeed(ranks->shareSeed(
      session.rankSeed(hasPosition ? start.state.brew_rng_seed()
                       : solver.random_seed() >= 0
                           ? static_cast<std::uint64_t>(solver.random_seed())
                           : drawSeed())));
  events.emit(event::SeedChosen{session.seed()});
  session.fillParameters();

  createNets();
  createHooksAndLogs();
  if (hasPosition)
    restoreReaders(start.state);
  // Report missing sources now, not at the first test.
  session.dataPipeline(programs.train).open();
  tests.open();
  events.emit(event::SolverReady{});

  if (snapshotPath.empty()) {
    loadWeights();
  } else {
    startFiles = {snapshotPath};
    if (start.state.has_learned_net())
      startFiles.push_back(
          weightsOfState(start.state, snapshotPath, snapshots.lookupFolders()));
    snapshots.load(start, snapshotPath);
  }
  if (options.lossScale) {
    if (!session.persistentState().hasLossScale())
      throw Error(ExitStatus::Usage,
                  "--loss-scale needs a plan of brewc --precision=f16");
    session.persistentState().setLossScale(*options.lossScale);
  }
  session.prepare();
  startHooksAndLogs();
  startPosition = snapshots.capturePosition();
}

void Trainer::addHooksOfOptions() {
  Hooks &own = hooks->get();
  const MetricScope scope{session.manifest(), testNets(), /*hooks=*/nullptr,
                          options.hasLearner};
  // If both hold after a test, --patience names the reason.
  if (!options.watch.patience.empty())
    addPatience(own, options.watch.patience, scope);
  for (const std::string &rule : options.watch.stopWhen)
    addStopRule(own, rule, scope);
  if (!options.snapshotBest.empty())
    events.info(
        log::site::brew,
        "Keeping the best weights by " +
            addSnapshotBest(own, options.snapshotBest, scope).description());
  for (const std::string &file : options.hooks)
    own.addFile(file);
}

void Trainer::createNets() {
  const plan::Manifest &manifest = session.manifest();
  using event::NetSetUp;
  events.emit(NetSetUp{NetSetUp::Training, &manifest.programs(programs.train),
                       manifest.target().precision(), -1});
  snapshots.addInputs(session.inputs(programs.train));
  tests.createNets();
  for (const ProgramInputs *inputs : tests.inputs())
    snapshots.addInputs(*inputs);
}

void Trainer::loadWeights() {
  std::vector<std::string> lists = options.weights;
  if (lists.empty())
    lists.assign(solver.weights().begin(), solver.weights().end());
  std::vector<std::string> files =
      session.loadWeights(lists, {session.manifest().solver().folder()},
                          /*training=*/true);
  // A restart loads the same files, while other threads may read the list.
  if (startFiles.empty() && !files.empty())
    startFiles = std::move(files);
}

void Trainer::restoreReaders(const caffe::SolverState &position) {
  const std::vector<caffe::ReaderCursor> cursors(position.brew_reader().begin(),
                                                 position.brew_reader().end());
  session.inputs(programs.train).restore(cursors);
  tests.restore(cursors);
  state.restoreLosses(position, solver.average_loss());
  lossesRestored = true;
}

void Trainer::startHooksAndLogs() {
  parameterChanges.reset();
  logs->startAt(state.iteration);
  hooks->startAt(state.iteration);
}

//===----------------------------------------------------------------------===//
// Restarting
//===----------------------------------------------------------------------===//

void Trainer::requireRestartable() const {
  if (session.communicator())
    throw Error(ExitStatus::Usage, "training on several ranks cannot restart");
  if (options.callerNets)
    throw Error(ExitStatus::Usage,
                "training of nets that the caller runs cannot restart");
  for (const std::string &file : startFiles)
    if (std::error_code ignored; !fs::exists(file, ignored))
      throw unavailable("training cannot restart: " + file +
                        ", from which it started, is gone");
}

void Trainer::restart() {
  requireRestartable();
  passes.drainInFlight();
  passes.discard();
  snapshots.finish();
  snapshots.forgetPosition();
  stateToRestore.clear();
  hooks->takeStopReason();
  session.setSeed(
      session.rankSeed(startPosition.brew_rng_seed())); // restarts the readers
  restoreReaders(startPosition);
  session.fillParameters();
  session.resetState();
  if (options.snapshot.empty()) {
    loadWeights();
    state.restore(startPosition, "the beginning");
  } else {
    snapshots.load(formats::readSolverState(options.snapshot),
                   options.snapshot);
  }
  session.persistentState().restore(startPosition, "the beginning");
  session.prepare();
  lastTested = -1;
  startHooksAndLogs();
  events.emit(event::Reset{state.iteration});
}

void Trainer::continueFrom(const Trainer &other) {
  session.parameters().setHistory(other.session.parameters().history(),
                                  "the other trainer");
  state = other.state;
  lastTested = other.lastTested;
}

void Trainer::restore(const std::string &path) {
  snapshots.forgetPosition();
  stateToRestore.clear();
  snapshots.finish(); // `path` may be the snapshot that is being written
  const formats::SolverSnapshot snapshot = formats::readSolverState(path);
  session.parameters().checkHistory(snapshot.history, path);
  passes.drainInFlight();
  passes.discard();
  const bool hasPosition =
      snapshot.state.has_brew_rng_seed() && !options.callerNets;
  // Restarts the readers and moves them to the state's positions, if it has
  // any.
  session.setSeed(ranks->shareSeed(
      hasPosition ? session.rankSeed(snapshot.state.brew_rng_seed())
                  : session.rankSeed()));
  if (hasPosition)
    restoreReaders(snapshot.state);
  snapshots.load(snapshot, path);
  parameterUpdate.releaseHistory();
  session.prepare();
  lastTested = -1;
  startHooksAndLogs();
}

} // namespace brew::runtime
