//===- Trainer.h - Caffe's solver loop over a plan --------------*- C++ -*-===//
//
// Runs the programs forward_backward, update and test_0, test_1, ... of a plan
// in the order, with the rates, the log lines and the snapshots of Caffe's
// solver.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/SolverStateFile.h"
#include "formats/caffe.pb.h"
#include "runtime/Executor.h"
#include "runtime/data/Feeder.h"
#include "runtime/train/CarriedState.h"
#include "runtime/train/DebugInfo.h"
#include "runtime/train/GradientAccumulator.h"
#include "runtime/train/LearningRate.h"
#include "runtime/train/Parameters.h"
#include "runtime/train/SignalActions.h"
#include "runtime/train/SolverScalars.h"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

struct TrainerOptions {
  /// The plan's solver with the caller's changes applied.
  caffe::SolverParameter solver;
  /// The plan's file: its folder is the last place to look files up, and
  /// without snapshot_prefix its name is the prefix.
  std::string planPath;
  /// Weight files to start from, instead of the solver's and the plan's own.
  std::vector<std::string> weights;
  /// Solver state to resume from; excludes `weights`.
  std::string snapshot;
  /// What f16's losses are multiplied by at first, instead of the plan's own
  /// and the snapshot's scale.
  std::optional<double> lossScale;
};

/// The plan's solver message. Throws Error (1) if the plan has no training
/// programs or the message is damaged.
caffe::SolverParameter solverOf(const plan::Manifest &manifest);

class Trainer {
public:
  /// Checks the solver, initialises the parameters (fillers, weights, or the
  /// snapshot) and opens all data sources. `executor` outlives the trainer.
  /// Throws Error: 1 for a solver, weights or state that do not fit, 2 for a
  /// scale of losses where none are scaled, 3 for files not found or a snapshot
  /// folder that cannot be written.
  Trainer(Executor &executor, TrainerOptions options);
  ~Trainer();

  /// Asked after every iteration and before every test batch.
  void setActionSource(std::function<SolverAction()> source) {
    nextAction = std::move(source);
  }

  /// Trains to max_iter with everything Caffe's Solve does around it.
  void solve();
  /// Trains `iterations` more, or until a stop is requested.
  void step(int iterations);
  /// Runs one test net and logs its mean outputs.
  void test(int net);
  /// Writes the weights, then the state that names them.
  void snapshot();

  int iteration() const { return currentIteration; }
  /// The loss as displayed: averaged over the last average_loss iterations.
  double smoothedLoss() const { return smoothed; }
  Parameters &parameters() { return *params; }

private:
  struct TestNet {
    int program;
    std::unique_ptr<DebugInfo> debug; ///< null: nothing to show
    int iterations;
    std::unique_ptr<Feeder> feeder;
  };

  void checkSolver() const;
  void initialise(const std::string &snapshotPath);
  void createNets();
  void restore(const formats::SolverSnapshot &state, const std::string &path);
  std::unique_ptr<DebugInfo> debugInfoOf(int program) const;
  bool showsDebugInfo() const;
  void loadWeights();
  void restoreCursors(const caffe::SolverState &state);
  std::vector<std::string> lookupFolders() const;
  std::string resolvePrefix() const;
  std::string snapshotName(const std::string &extension) const;
  void probeSnapshotFolder() const;
  void prepare();
  double forwardBackward();
  double setScalars();
  void logRate(double learningRate, int stepBefore) const;
  void applyUpdate();
  bool stepsTogether() const;
  void stepTogether();
  void settle(std::size_t stillRunning);
  double gradientSumOfSquares() const;
  double clipFactor() const;
  void smooth(double loss);
  void displayIteration(double seconds);
  void testAll();
  void pollDuringTest();
  void showProgress(bool force);
  void reportStarvation() const;

  Executor &executor;
  TrainerOptions options;
  const caffe::SolverParameter &solver;
  int trainProgram, updateProgram, prepareProgram, clipProgram;
  LearningRate rate;
  SolverScalars scalars;
  GradientAccumulator accumulator;
  CarriedState carried;
  std::unique_ptr<Parameters> params;
  std::unique_ptr<Feeder> feeder;
  std::vector<TestNet> testNets;
  std::unique_ptr<DebugInfo> debug; ///< of the training net; may be null
  std::function<SolverAction()> nextAction;

  std::uint64_t seed = 0;
  std::string prefix;       ///< snapshot_prefix with its folder looked up
  int currentIteration = 0; ///< the last that was started
  int currentStep = 0;
  bool stopRequested = false;

  RunResults trainResults;         ///< of the training program's last run
  std::deque<double> recentLosses; ///< oldest first
  double smoothed = 0;
  bool lossesRestored = false; ///< the next step() goes on with them

  using Clock = std::chrono::steady_clock;
  Clock::time_point stepBegin, displayBegin, progressShown;
  int stepBeginIteration = 0;
  int lastDisplayed = 0;
};

} // namespace brew::runtime
