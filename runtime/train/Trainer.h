//===- Trainer.h - Caffe's solver loop over a plan --------------*- C++ -*-===//
//
// Runs the programs forward_backward, update and test_0, test_1, ... of a plan
// with the order, learning rates, log lines and snapshots of Caffe's solver.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "caffe/LearningRate.h"
#include "formats/SolverStateFile.h"
#include "formats/caffe.pb.h"
#include "runtime/session/Session.h"
#include "runtime/train/DebugInfo.h"
#include "runtime/train/GradientAccumulator.h"
#include "runtime/train/ShardedUpdate.h"
#include "runtime/train/SolverScalars.h"
#include "runtime/train/TrainerControl.h"
#include "runtime/train/TrainerHooks.h"
#include "runtime/train/metrics/BestMetric.h"
#include "runtime/train/metrics/LossWindow.h"
#include "runtime/train/snapshots/SnapshotFolder.h"
#include "runtime/train/snapshots/SnapshotWriter.h"
#include "runtime/train/watch/Watch.h"

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
  /// Weight files to start from, instead of the solver's and the plan's own.
  std::vector<std::string> weights;
  /// Solver state to resume from; excludes `weights`.
  std::string snapshot;
  /// Resume from the newest intact snapshot of the solver's prefix
  /// (newestIntactSnapshot()); without one, start as if this were false.
  bool resume = false;
  /// The number of snapshots of this run to keep; 0: all. Older ones are
  /// deleted once a newer one is on disk.
  int keepSnapshots = 0;
  /// A metric (BestMetric.h): whenever a test of the solver yields its best
  /// value so far, PREFIX_best_METRIC.caffemodel and .solverstate are written.
  std::string snapshotBest;
  /// If set, and if an intact snapshot was written at this time (seconds since
  /// 1970) or later, resume from the newest one instead of `snapshot`.
  std::optional<std::int64_t> resumeSince;
  /// f16: the initial loss scale, instead of the plan's or the snapshot's
  /// scale.
  std::optional<double> lossScale;
  /// On several ranks: each rank tests its share of the batches; else rank 0
  /// tests all. Not supported for eval_type "detection".
  bool distributeTests = false;
  /// On several ranks, on the CPU: each rank updates its shard of the
  /// parameters and keeps its solver history (ShardedUpdate.h).
  bool shardUpdate = false;
  WatchOptions watch = {};
  /// A learner (extras/reinforcement) runs the iterations: there are metrics of
  /// episodes, and tests play episodes.
  bool hasLearner = false;
  /// Files of hooks (hooks/Hooks.h). On several ranks only rank 0 has hooks.
  std::vector<std::string> hooks = {};
};

/// Parses the plan's solver. Throws Error (1) if the plan has no training
/// programs or its solver is damaged.
caffe::SolverParameter solverOf(const plan::Manifest &manifest);

class Trainer {
public:
  /// Checks the solver, initialises the parameters (fillers, weights, or the
  /// snapshot) and the session's seed, and opens all data sources. The session
  /// must outlive the trainer; inputs that the caller overrides stay
  /// overridden. Throws Error: 1 for a solver, weights or state that do not
  /// fit, 2 for a loss scale without scaled losses, 3 for files not found or a
  /// snapshot folder that cannot be written.
  Trainer(Session &session, TrainerOptions options);
  ~Trainer();

  /// Returns the object that takes requests from any thread.
  TrainerControl &control() { return requests; }
  /// Sets the function that polls for signals. It is called on the training
  /// thread after every iteration and before every test batch, and once more
  /// after it returned Snapshot.
  void setActionFunction(std::function<SolverAction()> source) {
    nextAction = std::move(source);
  }

  //===--------------------------------------------------------------------===//
  // Caffe's loop
  //===--------------------------------------------------------------------===//

  /// Trains to max_iter as Caffe's Solve does.
  void solve();
  /// Trains `iterations` more, or until a stop is requested, with the solver's
  /// tests, displays and snapshots. Like solve(), throws Error (2) for a plan
  /// whose output gradients the caller writes (brewc --output-gradient).
  void step(int iterations);
  /// Returns whether a request ended the last solve(), step() or test().
  bool stopped() const { return stopRequested; }

  /// Adds a hook (hooks/Hooks.h). Hooks must not be added or removed while a
  /// hook runs.
  void addHook(const std::string &line, HookFunction function = {});
  void addHooks(const std::string &file) { requireHooks().addFile(file); }
  void removeHook(const std::string &name) { requireHooks().remove(name); }
  /// Returns the last value of a metric (MetricName.h), or nullopt before the
  /// first measurement. Throws Error (2) if there is no such metric.
  std::optional<double> metric(const std::string &name) {
    return requireHooks().value(name);
  }
  /// Makes criteria `external NAME` of hooks hold at their next evaluation. May
  /// be called from any thread.
  void raiseFlag(const std::string &name) {
    if (hooks)
      hooks->get().raiseFlag(name);
  }

  int testNets() const { return static_cast<int>(nets.size()); }
  /// Runs one test net over its test_iter batches, or over `batches`; returns
  /// the emitted event, or nullopt if a request interrupted the test. Throws
  /// Error (2) if there is no such net.
  std::optional<event::TestDone> test(int net, int batches = 0);
  /// Writes the weights, then the state that names them. The solver's loop
  /// copies its snapshots between two iterations and writes them in the
  /// background, one at a time; a write error is thrown between two later
  /// iterations, or at the loop's end, which waits for the write.
  void snapshot();
  /// Restores weights, history, iteration and readers from a snapshot.
  void restore(const std::string &path);

  /// Restarts training from its start: parameters, history, iteration, readers,
  /// seed and the caller's state. Carries out TrainerControl::reset(); solve()
  /// and step() do it themselves between two iterations.
  void restart();
  /// Throws Error if training cannot restart: (2) with several ranks, (3) if a
  /// file that training started from is gone. Callable from any thread.
  void requireRestartable() const;
  /// If set, the caller of step() or of a run carries out reset requests;
  /// step() only ends a pause for them.
  void setCallerHandlesReset(bool handles) { callerHandlesReset = handles; }

  //===--------------------------------------------------------------------===//
  // A run whose iterations the caller performs
  //===--------------------------------------------------------------------===//
  //
  //   beginRun();
  //   while (beginIteration()) {
  //     ... iterate(), or the passes below and update()
  //   }
  //   endRun();
  //
  // Hooks, rules, logs, displays, tests and snapshots work as in solve().

  void beginRun();
  /// Tests if a test is due. Returns false if the run must end: after max_iter
  /// (0: no limit), by a rule or by a request.
  bool beginIteration();
  /// Performs an iteration as solve() does, with the inputs that are set.
  void iterate();
  /// Restarts training (restart()) within the run.
  void restartRun();
  /// Also takes the last snapshot and runs the last test, as solve() does.
  void endRun();
  /// Sets a function that performs the tests of such runs: it runs `iterations`
  /// (of test_iter) of a net and returns the outputs, or nullopt after a stop
  /// request. Runs have no tests without it.
  using TestFunction =
      std::function<std::optional<std::vector<OutputValue>>(int iterations)>;
  void setTestFunction(TestFunction function) {
    callerTest = std::move(function);
  }

  //===--------------------------------------------------------------------===//
  // An iteration in separate passes
  //===--------------------------------------------------------------------===//
  //
  //   for (...) { forward(); backward(); update(); }
  //   for (...) { forward(); backward(); accumulate();
  //               forward(); backward(); accumulate(); update(); }
  //
  // Between forward() and backward() the caller may read outputs and write
  // output gradients. Outside of a run, these calls neither test, display nor
  // write snapshots.

  /// Feeds the next batch (unless `feed` is false: then uses the inputs that
  /// the caller has written) and runs the forward pass; returns the weighted
  /// sum of its losses.
  double forward(bool feed = true);
  /// Runs the backward pass of the last forward(). Its gradients replace those
  /// of the last backward() unless accumulate() keeps them. Throws Error (2)
  /// without a forward().
  void backward();
  /// Keeps the gradients of the last backward(): the next ones are added to
  /// them, in the plan's precision. Throws Error (2) without a backward().
  void accumulate();
  /// Takes the place of forward() and backward() for a caller that has written
  /// the parameter gradients itself (from other sessions). `loss` is the loss
  /// of the forward pass. Call update() next.
  void useCallerGradients(double loss);
  /// Updates the parameters with the sum of the kept gradients and those of the
  /// last backward(), clipped if the solver says so, divided by the solver's
  /// iter_size, at the learning rate of iteration(), and increments
  /// iteration(). The iteration's loss is the mean of its forward passes. Acts
  /// on requests. Throws Error (2) without a backward().
  void update();

  /// Returns whether a stop is requested. For long work between two updates, on
  /// the training thread; cheap enough to call at every step. Requests,
  /// including those of the action function, remain pending for update() and
  /// step().
  bool isStopRequested();
  /// Clears a pending stop request that ended the caller's own work. stopped()
  /// then returns true.
  void takeStop();

  /// Sets numbers to store in snapshots, for callers that run the passes. After
  /// training resumes from a snapshot, callerStateOfSnapshot() returns its
  /// numbers (empty: none).
  void setCallerState(std::vector<double> values) {
    callerState = std::move(values);
  }
  const std::vector<double> &callerStateOfSnapshot() const {
    return callerState;
  }

  int iteration() const { return currentIteration; }
  /// Returns the displayed loss: the mean of the last average_loss iterations.
  double smoothedLoss() const { return lossWindow.mean(); }
  /// Returns the learning rate of the next update. Between iterations it
  /// includes fields that were set since the last update.
  double learningRate() const;
  Parameters &parameters() { return session.parameters(); }

private:
  struct TestNet {
    int program;
    std::unique_ptr<DebugInfo> debug; ///< null: no debug_info
    DataPipeline *pipeline;
  };

  static bool isDue(int interval, int iteration) {
    return interval && iteration % interval == 0;
  }
  bool isTestDue() const {
    return isDue(solver.test_interval(),
                 currentIteration - solver.test_offset());
  }
  static double secondsSince(std::chrono::steady_clock::time_point begin);
  void checkSolver(const caffe::SolverParameter &candidate) const;
  void initialise(const std::string &snapshotPath);
  void createNets();
  MetricScope metricScope() const;
  void restoreState(const formats::SolverSnapshot &state,
                    const std::string &path);
  std::unique_ptr<DebugInfo> debugInfoOf(int program);
  bool showsDebugInfo() const;
  void loadWeights();
  void restoreCursors(const caffe::SolverState &state);
  std::vector<std::string> lookupFolders() const;
  std::string resolvePrefix(const caffe::SolverParameter &parameter) const;
  void probeSnapshotFolder(const std::string &snapshotPrefix) const;
  std::string findResumePoint();
  std::optional<std::string> findNewest(std::optional<std::int64_t> since = {});
  void startSnapshot();
  void startSnapshotOnAllRanks();
  void startBestSnapshot(const BestMetric &metric);
  void writeSnapshot(const SnapshotPair &files, bool countsTowardsLimit);
  void copySnapshot(const SnapshotPair &files, bool countsTowardsLimit);
  caffe::SolverState capturePosition() const;
  void rememberPosition();
  void finishSnapshots();
  void restoreLosses(const caffe::SolverState &state);
  void restoreCallerState(const caffe::SolverState &state,
                          const std::string &path);
  void restoreBest(BestMetric &metric, const caffe::SolverState &state,
                   const std::string &path);
  void requireNoOutputGradients() const;
  bool isRoot() const;
  int rankCount() const;
  void checkRankSettings() const;
  caffe::RankSeed chooseSeed(std::uint64_t seed) const;
  void synchronizeRanks();
  void exchangeChangeFlags();
  std::vector<TrainerControl::FieldChange> gatherChanges();
  NanCheck::Finding earliestFinding(const NanCheck::Finding &ownFinding) const;
  bool distributesTests() const;
  // TrainerHooks.cpp
  friend class TrainerHooks;
  void openHooks();
  Hooks &requireHooks();
  bool hasHooks() const;
  void startWatching();
  bool runHooks(HookTrigger trigger);
  void broadcastStatistics();
  std::optional<event::TestDone> runDistributedTest(int net, int batches);
  void setReducesInSteps(bool inSteps);
  void allReduceGradients();
  std::uint32_t allReduceOr(std::uint32_t bits, bool countsWaits = true) const;
  void warnOfStraggler(double seconds);
  void reportProgress() const;
  void beginSteps();
  void discardIteration();
  void runTo(const std::function<int()> &stop);
  void beginSolving();
  void beginLoop();
  void runIteration();
  void endLoop();
  std::optional<event::TestDone> runCallerTest(int net, int iterations);
  double forwardBackward();
  bool resetIfRequested();
  double setScalars();
  double applyUpdate();
  void runUpdate();
  bool canOverlapUpdate() const;
  void runOverlappedIteration();
  void drainInFlight(std::size_t stillRunning);
  double gradientSumOfSquares();
  double clipFactor();
  void requireGradients(const char *operation) const;
  void addGradients();
  // TrainerTests.cpp
  void testAll();
  void testNetsOf(const std::function<bool(int)> &isSelected,
                  bool repeatOnResume);
  std::optional<event::TestDone> runTest(int net, int batches,
                                         bool prepareFirst);
  // TrainerRates.cpp
  double takeLearningRate();
  void emitLearningRate(int iteration, double learningRate, int stepBefore);
  // Trainer.cpp
  bool pollRequests(bool snapshotDue, bool onAllRanks = false);
  bool betweenIterations(bool snapshotDue);
  void takeChanges();
  // TrainerEvents.cpp
  void display(int iteration, bool passes = false);
  void emitIteration(int iteration, double loss, double learningRate);
  void emitProgress(bool last);
  void emitDataStalls();
  // TrainerWatch.cpp
  void emitThroughput(int iteration, double iterationsPerSecond);
  double itemsPerIteration() const;
  void requireFinite(double loss);
  void requireFiniteParameters();
  bool stopRuleHolds();

  Session &session;
  Executor &executor;
  Events &events;
  TrainerOptions options;
  caffe::SolverParameter solver; ///< for the current iteration
  int trainProgram, updateProgram, clipProgram;
  int reduceProgram;   ///< of plans for several ranks
  Communicator *ranks; ///< null: a single process
  caffe::LearningRate rate;
  SolverScalars scalars;
  GradientAccumulator accumulator;
  TrainerControl requests;
  DataPipeline *pipeline = nullptr;
  std::vector<TestNet> nets;
  int netCount = -1; ///< size of `nets` once they are created; for any thread
  std::unique_ptr<DebugInfo> debug; ///< of the training net; may be null
  std::function<SolverAction()> nextAction;
  std::chrono::steady_clock::time_point lastPolled; ///< by isStopRequested()

  std::string prefix;       ///< snapshot_prefix with its folder resolved
  int currentIteration = 0; ///< number of updates started
  caffe::LearningRateState rateState;
  bool iterating = false; ///< in an iteration, which uses `solver`
  bool stopRequested = false;
  std::unique_ptr<Watch> watch;        ///< null until training can start
  bool endedByRule = false;            ///< of the last solve() or step()
  bool hasRules = false;               ///< on any rank
  std::unique_ptr<TrainerHooks> hooks; ///< null on ranks other than 0
  bool hooksAnywhere = false;          ///< on any rank, in this call
  int lastTested = -1;              ///< iteration of the last test of all nets
  caffe::SolverState startPosition; ///< position at the start of training
  std::vector<std::string> startFiles; ///< files that training started from
  bool callerHandlesReset = false;
  bool inCallerRun = false;        ///< between beginRun() and endRun()
  TestFunction callerTest;         ///< may be empty
  bool timing = false;             ///< times the steps of this iteration
  std::vector<double> stepSeconds; ///< summed over its batches
  int callEnd = 0;                 ///< iteration at which the call ends

  RunResults trainResults; ///< of the training program's last run
  LossWindow lossWindow;
  bool lossesRestored = false; ///< the next step() continues with them

  // On several ranks.
  /// Null: each rank updates all parameters.
  std::unique_ptr<ShardedUpdate> sharded;
  /// Changes of solver fields that the other ranks do not know yet.
  std::vector<TrainerControl::FieldChange> ownChanges;
  bool changesPending = false; ///< on any rank
  bool pausedAnywhere = false;
  bool testing = false, snapshotAfterTests = false;

  KeptSnapshots keptSnapshots; ///< empty unless options.keepSnapshots is set
  /// The position before the solver's tests, which a run resumed from a
  /// snapshot repeats.
  std::optional<caffe::SolverState> beforeTests;
  std::unique_ptr<BestMetric> best; ///< null: no snapshot_best

  struct InFlight {
    int iteration;
    double learningRate;
  };
  std::deque<InFlight> inFlight; ///< iterations whose loss is pending

  // State of an iteration in separate passes.
  std::optional<Pass> lastPass; ///< Forward or Backward
  bool keepGradients = false; ///< the last gradients are to be added to the sum
  std::vector<double> passLosses;  ///< of the iteration
  bool lossKept = false;           ///< the gradients of the last loss are kept
  std::vector<double> callerState; ///< saved in snapshots

  using Clock = std::chrono::steady_clock;
  Clock::time_point stepBegin, displayBegin;
  int stepBeginIteration = 0;
  int lastDisplayed = 0;

  SnapshotWriter writer; ///< the last member: its destructor waits
};

} // namespace brew::runtime
