//===- OptionTable.cpp - Options of sessions and trainers -----------------===//

#include "runtime/options/OptionTable.h"

#include <climits>
#include <random>

namespace brew::runtime {
namespace {

using Kind = OptionKind;
using Text = const std::string &;

// Commands of brew-run that take an option.
constexpr char kAll[] = "train test eval infer features embed time tune";
constexpr char kAllButTune[] = "train test eval infer features embed time";
constexpr char kInference[] = "test eval infer features embed time";
constexpr char kDataLayers[] = "train test eval features time";
constexpr char kTrain[] = "train";
constexpr char kEpisodes[] = "train test";

// Headings of the help.
constexpr char kReinforcement[] = "Reinforcement learning";
constexpr char kWatching[] = "Watching", kRanks[] = "Several ranks";

constexpr int kMaxThreads = 4096;
/// Maximum of --workspace-limit, in MiB.
constexpr int kMaxWorkspace = 1 << 20;

RunOption row(const char *name, const char *commands, Kind kind,
              const char *help) {
  RunOption result;
  result.name = name;
  result.commands = commands;
  result.kind = kind;
  result.help = help;
  if (kind == Kind::Flag)
    result.impliedText = "true";
  return result;
}

bool isNotEmpty(Text value) { return !value.empty(); }

std::vector<RunOption> sessionRows() {
  using Options = SessionOptions;
  return {
      row("threads", kAll, Kind::Integer,
          "Worker threads (0: OMP_NUM_THREADS, else one per core)")
          .withValueName("N")
          .withDefault("0")
          .withRange(0, kMaxThreads)
          .forSessions([](Options &o, Text v) {
            o.device.threads = static_cast<int>(optionInteger(v));
          }),
      row("keep-denormals", kAll, Kind::Flag,
          "Compute with denormal numbers, which is slow, instead of treating "
          "them as 0 (CPU)")
          .forSessions([](Options &o, Text v) {
            o.device.keepDenormals = optionFlag(v);
          }),
      row("reader-threads", kDataLayers, Kind::Integer,
          "Threads of each data layer that decode images (0: one per core)")
          .withValueName("N")
          .withDefault("0")
          .withRange(0, kMaxThreads)
          .forSessions([](Options &o, Text v) {
            o.readerOptions.threads = static_cast<unsigned>(optionInteger(v));
          }),
      row("skip-bad-records", kDataLayers, Kind::Flag,
          "Skip damaged or missing images of data layers with a warning for "
          "each, instead of failing")
          .forSessions([](Options &o, Text v) {
            o.readerOptions.skipBadRecords = optionFlag(v);
          }),
      row("init", kTrain, Kind::List,
          "Filler for parameters instead of the prototxt's, e.g. "
          "'ip*.weights=gaussian(0,0.01)' or 'conv?.bias=constant(0.1)' (may "
          "be repeated)")
          .withValueName("PATTERN=FILLER")
          .forSessions([](Options &o, Text v) { o.initialisers.push_back(v); }),
      row("allow-missing-weights", kInference, Kind::Flag,
          "Initialize layers without weights by their fillers, with a warning, "
          "instead of failing")
          .forSessions([](Options &o, Text v) {
            o.allowMissingWeights = optionFlag(v);
          }),
      row("timing-cache", kAll, Kind::Text,
          "Cache file of the fastest implementations of library calls "
          "(default: PLAN.timing)")
          .withValueName("FILE")
          .forSessions([](Options &o, Text v) { o.device.timingCache = v; }),
      row("no-tune", kAllButTune, Kind::Flag,
          "Use the default implementation of each library call and ignore the "
          "timing cache")
          .forSessions(
              [](Options &o, Text v) { o.device.tune = !optionFlag(v); }),
      row("workspace-limit", kAll, Kind::Integer,
          "Maximum scratch memory of a library call, in MiB")
          .withValueName("MIB")
          .withDefault("1024")
          .withRange(0, kMaxWorkspace)
          .withGroup("GPU")
          .forSessions([](Options &o, Text v) {
            o.device.workspaceLimit =
                static_cast<std::uint64_t>(optionInteger(v)) << 20;
          }),
      row("trainer", kEpisodes, Kind::Text,
          "PG.SIMPLE, PG.ST, PG.MT, PPO or A2C (default: TrainerType of the "
          "solver's custom_trainer_properties)")
          .withValueName("NAME")
          .withGroup(kReinforcement)
          .forSessions([](Options &o, Text v) { o.learner.trainer = v; }),
      row("trainer-properties", kEpisodes, Kind::Text,
          "Override the solver's custom_trainer_properties, e.g. "
          "'MiniBatch=10;UseRawInput=True'")
          .withValueName("KEY=VALUE;...")
          .withGroup(kReinforcement)
          .forSessions([](Options &o, Text v) { o.learner.properties = v; }),
      row("max-steps", kEpisodes, Kind::Integer,
          "Maximum steps of an episode (default: the environment's)")
          .withValueName("N")
          .withRange(1, INT_MAX)
          .withGroup(kReinforcement)
          .forSessions([](Options &o, Text v) {
            o.learner.maxSteps = optionInteger(v);
          }),
      row("deterministic", kAll, Kind::Flag,
          "Use only implementations with bitwise reproducible results; with "
          "several ranks, sum in the order of ranks")
          .withGroup("GPU")
          .forSessions([](Options &o, Text v) {
            o.device.deterministic = optionFlag(v);
          }),
  };
}

std::vector<RunOption> trainerRows() {
  using Options = TrainerOptions;
  return {
      row("weights", kTrain, Kind::List,
          "Weights to start from (files separated by commas)")
          .withValueName("FILES")
          .forTrainers([](Options &o, Text v) { o.weights.push_back(v); }),
      row("snapshot", kTrain, Kind::Text, "Solver state to resume from")
          .withValueName("FILE")
          .forTrainers([](Options &o, Text v) { o.snapshot = v; }),
      row("loss-scale", kTrain, Kind::Real,
          "f16: initial loss scale, instead of the plan's or the snapshot's")
          .withValueName("S")
          .forTrainers([](Options &o, Text v) { o.lossScale = optionReal(v); }),
      row("resume", kTrain, Kind::Flag,
          "Resume from the newest intact snapshot of the solver's "
          "snapshot_prefix, if there is one")
          .forTrainers([](Options &o, Text v) { o.resume = optionFlag(v); }),
      row("keep-snapshots", kTrain, Kind::Integer,
          "Delete all but the newest N snapshots that the run writes (0: none)")
          .withValueName("N")
          .withRange(0, INT_MAX)
          .forTrainers([](Options &o, Text v) {
            o.keepSnapshots = static_cast<int>(optionInteger(v));
          }),
      row("snapshot-best", kTrain, Kind::Text,
          "Also write PREFIX_best_METRIC.caffemodel and .solverstate whenever "
          "METRIC (test.accuracy, test1.loss) reaches its best value so far in "
          "a test; lower is better for losses, higher for accuracies; for "
          "other metrics use METRIC:min or METRIC:max")
          .withValueName("METRIC")
          .forTrainers([](Options &o, Text v) { o.snapshotBest = v; }),
      row("check-nan", kTrain, Kind::Flag,
          "Stop at the first NaN or Inf, before it reaches a parameter, and "
          "report its layer and blob")
          .withGroup(kWatching)
          .forTrainers(
              [](Options &o, Text v) { o.watch.checkNan = optionFlag(v); }),
      row("stop-when", kTrain, Kind::List,
          "Stop when the rule holds, e.g. 'test.accuracy >= 0.991 or time > "
          "3600' (may be repeated)")
          .withValueName("RULE")
          .withGroup(kWatching)
          .forTrainers(
              [](Options &o, Text v) { o.watch.stopWhen.push_back(v); }),
      row("patience", kTrain, Kind::Text,
          "Stop after N tests without improvement of METRIC (default: the "
          "first test net's accuracy, else loss)")
          .withValueName("N[:METRIC[:min|:max]]")
          .withConstraint("not be empty", isNotEmpty)
          .withGroup(kWatching)
          .forTrainers([](Options &o, Text v) { o.watch.patience = v; }),
      row("hooks", kTrain, Kind::List,
          "File of hooks: reports, learning rates, snapshots, tests and stops "
          "at certain events (may be repeated)")
          .withValueName("FILE")
          .withGroup(kWatching)
          .forTrainers([](Options &o, Text v) { o.hooks.push_back(v); }),
      row("allow-commands", kTrain, Kind::Flag,
          "Allow the action `run` of hooks, which runs programs")
          .withGroup(kWatching)
          .forTrainers(
              [](Options &o, Text v) { o.allowCommands = optionFlag(v); }),
      row("log-dir", kTrain, Kind::Text,
          "Folder for metrics.jsonl and TensorBoard's event files")
          .withValueName("FOLDER")
          .withConstraint("name a folder", isNotEmpty)
          .withGroup(kWatching)
          .forTrainers([](Options &o, Text v) { o.watch.logFolder = v; }),
      // brew-run sets it with --env.
      row("learner", "", Kind::Flag,
          "A learner (reinforcement.h) will run the trainer: rules and hooks "
          "may name metrics of episodes, and tests play episodes")
          .forTrainers(
              [](Options &o, Text v) { o.hasLearner = optionFlag(v); }),
      row("distributed-test", kTrain, Kind::Flag,
          "Distribute the batches of tests over the ranks; otherwise rank 0 "
          "tests")
          .withGroup(kRanks)
          .forTrainers(
              [](Options &o, Text v) { o.distributeTests = optionFlag(v); }),
      row("shard-update", kTrain, Kind::Flag,
          "Each rank updates its shard of the parameters and stores only the "
          "solver history of that shard")
          .withGroup(kRanks)
          .forTrainers(
              [](Options &o, Text v) { o.shardUpdate = optionFlag(v); }),
      row("resume-newest", kTrain, Kind::Integer,
          "Resume from the solver's snapshot of the latest iteration written "
          "at TIME (seconds since 1970) or later, if there is one; it then "
          "overrides --snapshot and --weights")
          .withValueName("TIME")
          .withGroup(kRanks)
          .forTrainers(
              [](Options &o, Text v) { o.resumeSince = optionInteger(v); }),
      row("earlier-snapshots", kTrain, Kind::Text,
          "List of snapshots, written at the start if FILE does not exist; "
          "otherwise resume from the latest snapshot that it lacks, if there "
          "is one. For restarts of one run")
          .withValueName("FILE")
          .withConstraint("name a file", isNotEmpty)
          .withGroup(kRanks)
          .forTrainers([](Options &o, Text v) { o.earlierSnapshots = v; }),
  };
}

Kind kindOf(SolverField::Kind kind) {
  switch (kind) {
  case SolverField::Number:
    return Kind::Real;
  case SolverField::Integer:
  case SolverField::Integer64:
    return Kind::Integer;
  case SolverField::Boolean:
    return Kind::Flag;
  case SolverField::Text:
    return Kind::Text;
  case SolverField::Integers:
    break;
  }
  return Kind::Integers;
}

/// Returns the row of a field. setSolverField() checks and applies its values.
RunOption rowOf(const SolverField &field) {
  RunOption result;
  result.name = field.flag;
  result.commands = kTrain;
  result.kind = kindOf(field.kind);
  result.help = field.help;
  result.group = "Solver fields (override the solver)";
  result.field = &field;
  return result;
}

/// The seed of a session that is not trained. A trainer sets its session's
/// seed.
void applySeed(SessionOptions &options, Text value) {
  caffe::SolverParameter solver;
  setSolverField(solver, "random_seed", value);
  const std::int64_t seed = solver.random_seed();
  options.seed = seed >= 0 ? static_cast<std::uint64_t>(seed)
                           : std::random_device()(); // as in Caffe's solver
}

} // namespace

RunOption RunOption::withGroup(const char *text) const {
  RunOption option = *this;
  option.group = text;
  return option;
}

RunOption RunOption::forSessions(ApplyToSession function) const {
  RunOption option = *this;
  option.applyToSession = function;
  return option;
}

RunOption RunOption::forTrainers(ApplyToTrainer function) const {
  RunOption option = *this;
  option.applyToTrainer = function;
  return option;
}

const std::vector<RunOption> &runOptions() {
  static const std::vector<RunOption> rows = [] {
    std::vector<RunOption> all = sessionRows();
    for (RunOption &option : trainerRows())
      all.push_back(std::move(option));
    for (const SolverField &field : solverFields()) {
      all.push_back(rowOf(field));
      if (std::string(field.name) == "random_seed") {
        all.back().commands = "train test eval features time";
        all.back().applyToSession = applySeed;
      }
    }
    return all;
  }();
  return rows;
}

} // namespace brew::runtime
