//===- TrainerState.cpp - Starting, resuming and saving a training run ----===//

#include "runtime/train/Trainer.h"

#include "formats/Error.h"
#include "formats/PathLookup.h"
#include "formats/SolverRules.h"
#include "formats/SolverStateFile.h"
#include "formats/WeightFile.h"
#include "runtime/log/Log.h"
#include "runtime/plan/Contract.h"
#include "runtime/train/NetLog.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

namespace brew::runtime {
namespace {

namespace fs = std::filesystem;

/// The files of a list that people separate with commas.
std::vector<std::string> splitList(const std::string &list) {
  std::vector<std::string> names;
  std::string name;
  for (char c : list + ",") {
    if (c != ',') {
      name += c;
      continue;
    }
    const std::size_t first = name.find_first_not_of(" \t");
    if (first != name.npos)
      names.push_back(
          name.substr(first, name.find_last_not_of(" \t") - first + 1));
    name.clear();
  }
  return names;
}

std::uint64_t freshSeed() {
  std::random_device device;
  // 31 bits, so that it can be given back as random_seed.
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

Trainer::Trainer(Executor &planExecutor, TrainerOptions trainerOptions)
    : executor(planExecutor), options(std::move(trainerOptions)),
      solver(options.solver),
      trainProgram(requireProgram(executor, plan::programs::kForwardBackward)),
      updateProgram(requireProgram(executor, plan::programs::kUpdate)),
      prepareProgram(executor.findProgram(plan::programs::kPrepare)),
      clipProgram(executor.findProgram(plan::programs::kClip)), rate(solver),
      scalars(executor), accumulator(executor), carried(executor),
      params(std::make_unique<Parameters>(executor)) {
  checkSolver();
  log::info(log::site::solverParameters,
            "Initializing solver from parameters: \n" + solver.DebugString());
  prefix = resolvePrefix();
  if (solver.snapshot())
    probeSnapshotFolder();
  initialise(options.snapshot);
}

Trainer::~Trainer() = default;

void Trainer::checkSolver() const {
  for (const formats::SolverConflict &conflict :
       formats::solverConflicts(solver))
    throw badInput("solver: " + conflict.text);
  if (solver.average_loss() < 1)
    throw badInput("solver: average_loss must be at least 1");
  if (solver.iter_size() < 1)
    throw badInput("solver: iter_size must be at least 1");
  if (solver.max_iter() < 0 || solver.display() < 0 || solver.snapshot() < 0 ||
      solver.test_interval() < 0)
    throw badInput("solver: max_iter, display, snapshot and test_interval "
                   "must not be negative");
  for (int iterations : solver.test_iter())
    if (iterations < 0)
      throw badInput("solver: test_iter must not be negative");
  if (solver.momentum() != 0)
    for (const plan::Parameter &parameter : executor.manifest().parameters())
      if (parameter.has_gradient_buffer_index() &&
          parameter.state_buffer_indices_size() == 0)
        throw badInput("the plan was compiled without momentum, so momentum " +
                       log::number(solver.momentum()) +
                       " needs it compiled again");
}

std::vector<std::string> Trainer::lookupFolders() const {
  return {executor.manifest().solver().folder(),
          formats::folderOfFile(options.planPath)};
}

//===----------------------------------------------------------------------===//
// Starting
//===----------------------------------------------------------------------===//

void Trainer::initialise(const std::string &snapshotPath) {
  formats::SolverSnapshot state;
  if (!snapshotPath.empty())
    state = formats::readSolverState(snapshotPath);
  const bool exact = state.state.has_brew_rng_seed();

  if (exact)
    seed = state.state.brew_rng_seed();
  else if (solver.random_seed() >= 0)
    seed = static_cast<std::uint64_t>(solver.random_seed());
  else
    seed = freshSeed();
  log::info(log::site::brew, "Random seed: " + std::to_string(seed));

  bool embedded = false;
  for (const plan::Arena &arena : executor.manifest().arenas())
    embedded |=
        arena.kind() == plan::PARAMETERS && arena.has_initial_segment_index();
  if (!embedded)
    params->fill(seed);

  createNets();
  if (exact)
    restoreCursors(state.state);
  // Missing sources should be known now, not at the first test.
  feeder->open();
  for (TestNet &net : testNets)
    net.feeder->open();
  log::info(log::site::scaffoldingDone, "Solver scaffolding done.");

  if (snapshotPath.empty())
    loadWeights();
  else
    restore(state, snapshotPath);
  if (options.lossScale) {
    if (!carried.hasLossScale())
      throw Error(ExitStatus::Usage,
                  "--loss-scale is for plans of brewc --precision=f16");
    carried.setLossScale(*options.lossScale);
  }
  prepare();
}

void Trainer::createNets() {
  const plan::Manifest &manifest = executor.manifest();
  const plan::DataType precision = manifest.target().precision();
  const std::string folder = formats::folderOfFile(options.planPath);
  logTrainNet(manifest.programs(trainProgram), precision);
  feeder = std::make_unique<Feeder>(executor, trainProgram, seed, folder);
  debug = debugInfoOf(trainProgram);
  for (int i = 0; i < solver.test_iter_size(); ++i) {
    const int program = executor.findProgram(plan::programs::test(i));
    if (program < 0)
      throw badInput("solver: test_iter is given " +
                     std::to_string(solver.test_iter_size()) +
                     " times, but the plan has " + std::to_string(i) +
                     " test nets");
    logTestNet(manifest.programs(program), i, precision);
    testNets.push_back(
        {program, debugInfoOf(program), solver.test_iter(i),
         std::make_unique<Feeder>(executor, program, seed, folder)});
  }
}

std::unique_ptr<DebugInfo> Trainer::debugInfoOf(int program) const {
  const plan::Program &description = executor.manifest().programs(program);
  if (!solver.debug_info() || !DebugInfo::isIn(description))
    return nullptr;
  return std::make_unique<DebugInfo>(description, *params);
}

void Trainer::restore(const formats::SolverSnapshot &snapshot,
                      const std::string &path) {
  log::info(log::site::resume, "Resuming from " + path);
  if (snapshot.state.has_learned_net()) {
    std::vector<std::string> folders = lookupFolders();
    folders.insert(folders.begin(), formats::folderOfFile(path));
    params->load(formats::requirePath(snapshot.state.learned_net(), folders,
                                      "weight file that '" + path + "' names"));
  }
  log::info(log::site::restoreHistory, "SGDSolver: restoring history");
  params->setHistory(snapshot.history, path);
  carried.restore(snapshot.state, path);
  currentIteration = snapshot.state.iter();
  currentStep = snapshot.state.current_step();
}

void Trainer::loadWeights() {
  std::vector<std::string> lists(solver.weights().begin(),
                                 solver.weights().end());
  std::vector<std::string> folders = lookupFolders();
  const plan::Manifest &manifest = executor.manifest();
  if (!options.weights.empty()) {
    lists = options.weights;
  } else if (lists.empty() && manifest.has_initial_weights()) {
    lists = {manifest.initial_weights()};
    folders.insert(folders.begin(), manifest.initial_weights_folder());
  }
  for (const std::string &list : lists)
    for (const std::string &name : splitList(list)) {
      log::info(log::site::finetune, "Finetuning from " + name);
      params->load(formats::requirePath(name, folders, "weight file"));
    }
}

void Trainer::prepare() {
  if (prepareProgram >= 0)
    executor.run(prepareProgram);
}

void Trainer::restoreCursors(const caffe::SolverState &state) {
  const std::vector<caffe::ReaderCursor> cursors(state.brew_reader().begin(),
                                                 state.brew_reader().end());
  feeder->restore(cursors);
  for (TestNet &net : testNets)
    net.feeder->restore(cursors);
  recentLosses.assign(state.brew_recent_loss().begin(),
                      state.brew_recent_loss().end());
  const auto window = static_cast<std::size_t>(solver.average_loss());
  while (recentLosses.size() > window)
    recentLosses.pop_front();
  smoothed = state.brew_smoothed_loss();
  lossesRestored = true;
}

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

std::string Trainer::resolvePrefix() const {
  std::string name = solver.snapshot_prefix();
  if (name.empty()) {
    // Caffe names snapshots after the solver's file; the plan stands for it.
    const fs::path plan(options.planPath);
    return (plan.parent_path() / plan.stem()).string();
  }
  const std::string folder = formats::folderOfFile(name);
  if (folder.empty())
    return name;
  const std::optional<std::string> found =
      formats::findPath(folder, lookupFolders());
  // Not found: keep the name, which the error about it then shows.
  return found ? (fs::path(*found) / fs::path(name).filename()).string() : name;
}

std::string Trainer::snapshotName(const std::string &extension) const {
  return prefix + "_iter_" + std::to_string(currentIteration) + extension;
}

void Trainer::probeSnapshotFolder() const {
  const std::string probe = snapshotName(".tempfile");
  std::ofstream stream(probe);
  if (!stream.good())
    throw machineLacks("cannot write to snapshot prefix '" + prefix +
                       "': make sure that the folder exists and is writable");
  stream.close();
  std::remove(probe.c_str());
}

void Trainer::snapshot() {
  settle(0); // the losses go with the weights
  const bool hdf5 = solver.snapshot_format() == caffe::SolverParameter::HDF5;
  const formats::SnapshotFormat format =
      hdf5 ? formats::SnapshotFormat::Hdf5
           : formats::SnapshotFormat::BinaryProto;
  const std::string suffix = hdf5 ? ".h5" : "";
  const std::string model = snapshotName(".caffemodel" + suffix);
  if (hdf5)
    log::info(log::site::snapshotHdf5, "Snapshotting to HDF5 file " + model);
  else
    log::info(log::site::snapshotBinary,
              "Snapshotting to binary proto file " + model);
  formats::writeWeights(
      model,
      params->save(solver.snapshot_diff(),
                   &executor.manifest().programs(trainProgram)),
      format);

  formats::SolverSnapshot snapshot;
  snapshot.history = params->history();
  caffe::SolverState &state = snapshot.state;
  state.set_iter(currentIteration);
  state.set_learned_net(model);
  state.set_current_step(currentStep);
  state.set_brew_rng_seed(seed);
  auto addCursors = [&](const Feeder &source) {
    for (const caffe::ReaderCursor &cursor : source.cursors())
      *state.add_brew_reader() = cursor;
  };
  addCursors(*feeder);
  for (const TestNet &net : testNets)
    addCursors(*net.feeder);
  state.set_brew_smoothed_loss(static_cast<float>(smoothed));
  for (double loss : recentLosses)
    state.add_brew_recent_loss(static_cast<float>(loss));
  carried.save(state);

  const std::string name = snapshotName(".solverstate" + suffix);
  if (hdf5)
    log::info(log::site::stateHdf5,
              "Snapshotting solver state to HDF5 file " + name);
  else
    log::info(log::site::stateBinary,
              "Snapshotting solver state to binary proto file " + name);
  // Only now: a state must never name weights that are not whole.
  formats::writeSolverState(name, snapshot, format);
}

} // namespace brew::runtime
