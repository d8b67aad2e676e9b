//===- Session.h - A plan loaded for one command ----------------*- C++ -*-===//
#pragma once

#include <brew/brew.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace brew::run {

using api::Error;
inline Error usage(const std::string &text) { return {BREW_USAGE, text}; }
inline Error badInput(const std::string &text) {
  return {BREW_BAD_INPUT, text};
}
inline Error unavailable(const std::string &text) {
  return {BREW_UNAVAILABLE, text};
}

/// Options that every command with a plan takes.
struct PlanOptions {
  std::string plan;
  int threads = 0, readerThreads = 0;
  bool skipBadRecords = false;
  bool allowMissingWeights = false;
  std::string hostLayers; ///< files of plugins
  std::string timingCache; ///< "": beside the plan
  bool noTune = false;
  std::string gpu;
  // For plans compiled for a GPU.
  bool deterministic = false;
  std::uint64_t workspaceLimit = 1024; ///< MiB
  /// The ranks that train together; null: this process is alone. Only rank 0 of
  /// them logs.
  const api::Communicator *ranks = nullptr;
};

/// Declares the plan (positional, or with one of Caffe's flags `-solver` and
/// `-model`), --threads, -gpu and what goes with it. Caffe's --level and
/// --stage are refused with a hint, by Error (2).
void addPlanOptions(CLI::App &command, PlanOptions &options);

/// Declares --weights, for commands that compute with weights as they are, and
/// --allow-missing-weights.
void addWeightOptions(CLI::App &command, PlanOptions &options,
                      std::vector<std::string> &weights);

/// The numbers of -gpu: "all", "1" or "0,2", as Caffe takes them; none for "".
/// Throws Error (2) for what is no such list.
std::vector<int> gpuNumbers(const std::string &text);

/// A check of whole numbers whose message names the limit.
CLI::Validator atLeast(long long smallest);

/// The file that keeps the fastest ways to do the plan's calls.
std::string timingCachePath(const PlanOptions &options);

/// Opens the plan; throws Error (2) if none is named, Error (1) with a hint if
/// a prototxt is.
api::Plan openPlan(const PlanOptions &options);

/// A session of the plan that a command line names, with Caffe's log.
class Session : public api::Session {
public:
  /// Throws Error (2) for -gpu with a CPU plan, else as api::Session does.
  explicit Session(const PlanOptions &options, std::uint64_t seed = 0);

  api::Plan plan;
  int gpu; ///< its number, where the plan runs on one
  bool onGpu() const { return plan.info().cuda; }

  /// Number of program `name`; without a name, of the first of `preferred` that
  /// exists, else the only program. Throws Error (2) that lists the programs.
  int chooseProgram(const std::string &name,
                    const std::vector<std::string> &preferred) const;

private:
  Session(const PlanOptions &options, std::uint64_t seed, api::Plan opened);
};

/// What a command line asks for, to be run once it is parsed.
using Action = std::function<int()>;

// Each declares one command, whose parse sets `action`.
void addTrain(CLI::App &app, Action &action);
void addTest(CLI::App &app, Action &action);
void addEval(CLI::App &app, Action &action);
void addInfer(CLI::App &app, Action &action);
void addFeatures(CLI::App &app, Action &action);
void addEmbed(CLI::App &app, Action &action);
void addTime(CLI::App &app, Action &action);
void addTune(CLI::App &app, Action &action);
void addInspect(CLI::App &app, Action &action);
void addMonitor(CLI::App &app, Action &action);
void addDeviceQuery(CLI::App &app, Action &action);

} // namespace brew::run
