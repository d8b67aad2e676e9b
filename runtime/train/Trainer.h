//===- Trainer.h - Caffe's solver loop over a plan --------------*- C++ -*-===//
//
// Runs the programs forward_backward, update and test_0, test_1, ... of a plan
// in the order, with the rates, the log lines and the snapshots of Caffe's
// solver.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "caffe/LearningRate.h"
#include "formats/SolverStateFile.h"
#include "formats/caffe.pb.h"
#include "runtime/session/Session.h"
#include "runtime/train/TrainerControl.h"
#include "runtime/train/DebugInfo.h"
#include "runtime/train/GradientAccumulator.h"
#include "runtime/train/ShardedUpdate.h"
#include "runtime/train/SolverScalars.h"
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
  /// (newestIntactSnapshot()); only if there is none, begin as without.
  bool resume = false;
  /// How many snapshots to keep of those that the run writes; 0: all. Older
  /// ones are deleted once a newer one is on the device.
  int keepSnapshots = 0;
  /// A metric (BestMetric.h): whenever a test of the solver gives it its best
  /// value so far, PREFIX_best_METRIC.caffemodel and .solverstate are written.
  std::string snapshotBest;
  /// Resume from the newest intact snapshot that was written then (seconds
  /// since 1970) or later instead, if there is one.
  std::optional<std::int64_t> resumeSince;
  /// What f16's losses are multiplied by at first, instead of the plan's own
  /// and the snapshot's scale.
  std::optional<double> lossScale;
  /// On several ranks: each tests its share of the batches, instead of rank 0
  /// all of them. Not with eval_type "detection".
  bool distributeTests = false;
  /// On several ranks: each updates its part of the parameters and keeps the
  /// solver history of that (ShardedUpdate.h). For the CPU.
  bool shardUpdate = false;
  WatchOptions watch = {};
  /// Files of hooks (hooks/Hooks.h). On several ranks they are rank 0's.
  std::vector<std::string> hooks = {};
};

/// The plan's solver message. Throws Error (1) if the plan has no training
/// programs or the message is damaged.
caffe::SolverParameter solverOf(const plan::Manifest &manifest);

class Trainer {
public:
  /// Checks the solver, initialises the parameters (fillers, weights, or the
  /// snapshot) and the session's seed, and opens all data sources. The session
  /// outlives the trainer; feeds that its pipelines were given are kept. Throws
  /// Error: 1 for a solver, weights or state that do not fit, 2 for a scale of
  /// losses where none are scaled, 3 for files not found or a snapshot folder
  /// that cannot be written.
  Trainer(Session &session, TrainerOptions options);
  ~Trainer();

  /// Requests from any thread.
  TrainerControl &control() { return requests; }
  /// CallbackInput after every iteration and before every test batch, on the training
  /// thread, and once more after a Snapshot: for signals.
  void setActionFunction(std::function<SolverAction()> source) {
    nextAction = std::move(source);
  }

  //===--------------------------------------------------------------------===//
  // Caffe's loop
  //===--------------------------------------------------------------------===//

  /// Trains to max_iter with everything Caffe's Solve does around it.
  void solve();
  /// Trains `iterations` more, or until a stop is requested, with tests,
  /// displays and snapshots where the solver asks for them. Like solve(),
  /// throws Error (2) for a plan whose gradients the caller writes (brewc
  /// --output-gradient).
  void step(int iterations);
  /// Whether a request has ended the last solve(), step() or test().
  bool stopped() const { return stopRequested; }

  /// Adds and takes away hooks (hooks/Hooks.h); not while one runs.
  void addHook(const std::string &line, HookFunction function = {});
  void addHooks(const std::string &file) { requireHooks().addFile(file); }
  void removeHook(const std::string &name) { requireHooks().remove(name); }
  /// The last value of a metric that hooks and rules name (MetricName.h);
  /// nothing before it was measured. Throws Error (2) if there is none of this
  /// name.
  std::optional<double> metric(const std::string &name) {
    return requireHooks().value(name);
  }
  /// Criteria `external NAME` of hooks hold when they are looked at next. Any
  /// thread.
  void raise(const std::string &name) {
    if (hooks)
      hooks->get().raise(name);
  }

  int testNets() const { return static_cast<int>(nets.size()); }
  /// Runs one test net over its test_iter batches, or over `batches`; returns
  /// what it told the listeners, or nothing if a request has interrupted it.
  /// Throws Error (2) if there is no such net.
  std::optional<event::TestDone> test(int net, int batches = 0);
  /// Writes the weights, then the state that names them. Snapshots that the
  /// solver's loop makes are copied between two iterations and written while it
  /// goes on, one at a time; what goes wrong with one is thrown between two
  /// later iterations, or at the loop's end, which waits.
  void snapshot();
  /// Goes on from a snapshot: weights, history, iteration and readers.
  void restore(const std::string &path);

  /// Begins again as training was begun: parameters, history, iteration,
  /// readers, seed and what was callerState. What TrainerControl::reset() asks for, which
  /// solve() and step() do between two iterations by themselves.
  void restart();
  /// Throws Error if that cannot be: (2) with several ranks, (3) where a file
  /// that training was begun with is gone. Any thread.
  void requireRestartable() const;
  /// Leaves resets that are requested to whoever has the iterations in hand;
  /// step() then only ends a pause for one.
  void setCallerHandlesReset(bool leave) { callerHandlesReset = leave; }

  //===--------------------------------------------------------------------===//
  // An iteration in the caller's hands
  //===--------------------------------------------------------------------===//
  //
  //   for (...) { forward(); backward(); update(); }
  //   for (...) { forward(); backward(); accumulate();
  //               forward(); backward(); accumulate(); update(); }
  //
  // Between forward() and backward() the caller may look at outputs and write
  // gradients that the plan takes from it. No tests, displays or snapshots are
  // made on their own.

  /// Feeds the next batch (unless `feed` is false: then the inputs that the
  /// caller has written) and runs the forward pass; returns the weighted sum of
  /// its losses.
  double forward(bool feed = true);
  /// Runs the backward pass of the last forward(), whose gradients replace
  /// those of the last backward() unless accumulate() keeps them. Throws Error
  /// (2) without a forward().
  void backward();
  /// Keeps the gradients of the last backward(): what the next one computes is
  /// added to them. They are summed in the plan's precision. Throws Error (2)
  /// without a backward().
  void accumulate();
  /// The caller has written the parameters' gradients, those of other sessions,
  /// in place of a forward pass with this loss and its backward pass: update()
  /// takes them.
  void useCallerGradients(double loss);
  /// Updates the parameters with the sum of the gradients kept and those of the
  /// last backward(), clipped if the solver says so, divided by the solver's
  /// iter_size, at the rate of iteration(), which it then raises. The
  /// iteration's loss is the mean of its forward passes. Acts on requests.
  /// Throws Error (2) without a backward().
  void update();

  /// Whether a stop is requested, for long work between two updates: cheap
  /// enough to be asked at every step of it, on the training thread. Requests
  /// stay for update() and step(), those of the action source too.
  bool isStopRequested();
  /// Takes a requested stop that nothing has acted on: it has ended what the
  /// caller did.
  void takeStop();

  /// Numbers of whoever has the iterations in hand, which go into snapshots and
  /// come from the one that training goes on from (none: empty).
  void setCallerState(std::vector<double> values) { callerState = std::move(values); }
  const std::vector<double> &getCallerState() const { return callerState; }

  int iteration() const { return currentIteration; }
  /// The loss as displayed: averaged over the last average_loss iterations.
  double smoothedLoss() const { return lossWindow.mean(); }
  /// The rate of the next update. Between iterations, fields that were set
  /// since the last one count.
  double learningRate() const;
  Parameters &parameters() { return session.parameters(); }

private:
  struct TestNet {
    int program;
    std::unique_ptr<DebugInfo> debug; ///< null: nothing to show
    DataPipeline *pipeline;
  };

  static bool isDue(int interval, int iteration) {
    return interval && iteration % interval == 0;
  }
  static double secondsSince(std::chrono::steady_clock::time_point begin);
  void checkSolver(const caffe::SolverParameter &candidate) const;
  void initialise(const std::string &snapshotPath);
  void createNets();
  void restoreState(const formats::SolverSnapshot &state,
                    const std::string &path);
  std::unique_ptr<DebugInfo> debugInfoOf(int program);
  bool showsDebugInfo() const;
  void loadWeights();
  void restoreCursors(const caffe::SolverState &state);
  std::vector<std::string> lookupFolders() const;
  std::string resolvePrefix(const caffe::SolverParameter &of) const;
  void probeSnapshotFolder(const std::string &of) const;
  std::string findResumePoint();
  std::optional<std::string> findNewest(std::optional<std::int64_t> since = {});
  void startSnapshot();
  void startSnapshotOfAll();
  void startBestSnapshot(const BestMetric &found);
  void writeSnapshot(const SnapshotPair &files, bool counts);
  void copySnapshot(const SnapshotPair &files, bool counts);
  caffe::SolverState capturePosition() const;
  void rememberPosition();
  void finishSnapshots();
  void restoreLosses(const caffe::SolverState &state);
  void restoreCallerState(const caffe::SolverState &state,
                       const std::string &path);
  void restoreBest(BestMetric &sought, const caffe::SolverState &state,
                   const std::string &path);
  void requireNoOutputGradients() const;
  bool isRoot() const;
  int rankCount() const;
  void requireRanks() const;
  std::uint64_t chooseSeed(std::uint64_t own) const;
  void synchronizeRanks();
  void exchangeChangeFlags();
  std::vector<TrainerControl::FieldChange> gatherChanges();
  NanCheck::Finding earliestFinding(const NanCheck::Finding &own) const;
  bool distributesTests() const;
  // TrainerHooks.cpp
  friend class TrainerHooks;
  void openHooks();
  Hooks &requireHooks();
  bool hasHooks() const;
  void startWatching();
  bool runHooks(HookTrigger moment);
  void broadcastStatistics();
  std::optional<event::TestDone> runDistributedTest(int net, int batches);
  void allReduceInSteps(bool inSteps);
  void allReduceGradients();
   true);=std::uint32_t allReduceOr(std::uint32_t bits, bool countsWaits = true);= true) const;
  void warnOfStraggler(double seconds);
  void reportProgress() const;
  void beginSteps();
  void discardIteration();
  void runTo(const std::function<int()> &stop);
  double forwardBackward();
  bool resetIfWanted();
  double setScalars();
  double applyUpdate();
  void runUpdate();
  bool canOverlapUpdate() const;
  void runOverlappedIteration();
  void drainInFlight(std::size_t stillRunning);
  double gradientSumOfSquares();
  double clipFactor();
  void requireGradients(const char *what) const;
  void addGradients();
  // TrainerTests.cpp
  void testAll();
  void testNetsOf(const std::function<bool(int)> &isSelected, bool again);
  std::optional<event::TestDone> runTest(int net, int batches,
                                         bool prepareFirst);
  // Trainer.cpp
  bool pollRequests(bool snapshotDue, bool all = false);
  bool betweenIterations(bool snapshotDue);
  void takeChanges();
  // TrainerEvents.cpp
  void display(int iteration);
  void emitLearningRate(int iteration, double learningRate, int stepBefore);
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
  caffe::SolverParameter solver; ///< as it holds for the current iteration
  int trainProgram, updateProgram, clipProgram;
  int reduceProgram;   ///< of plans for several ranks
  Communicator *ranks; ///< null: alone
  caffe::LearningRate rate;
  SolverScalars scalars;
  GradientAccumulator accumulator;
  TrainerControl requests;
  DataPipeline *pipeline = nullptr;
  std::vector<TestNet> nets;
  int netCount = -1; ///< of `nets` once they are there; for any thread
  std::unique_ptr<DebugInfo> debug; ///< of the training net; may be null
  std::function<SolverAction()> nextAction;
  std::chrono::steady_clock::time_point lastPolled; ///< by isStopRequested()

  std::string prefix;       ///< snapshot_prefix with its folder looked up
  int currentIteration = 0; ///< updates that were started: the next one's
  int currentStep = 0;
  bool iterating = false; ///< in an iteration, which `solver` holds for
  bool stopRequested = false;
  std::unique_ptr<Watch> watch;        ///< null until training can begin
  bool endedByRule = false;            ///< the last solve() or step()
  bool hasRules = false;               ///< on some rank
  std::unique_ptr<TrainerHooks> hooks; ///< null: on another rank than 0
  bool hooksAnywhere = false;          ///< of several ranks, in this call
  int lastTested = -1;          ///< iteration of the last test of all nets
  caffe::SolverState startPosition; ///< where training was begun
  std::vector<std::string> startFiles; ///< files
  bool callerHandlesReset = false;
  bool timing = false;             ///< of this iteration, with a clock
  std::vector<double> stepSeconds; ///< then, of its batches
  int callEnd = 0;                 ///< iteration at which the call ends

  RunResults trainResults; ///< of the training program's last run
  LossWindow lossWindow;
  bool lossesRestored = false; ///< the next step() goes on with them

  // Of several ranks.
  std::unique_ptr<ShardedUpdate> sharded;  ///< null: each updates all
  std::vector<TrainerControl::FieldChange> ownChanges; ///< that the others do not know yet
  bool changesPending = false;           ///< of any rank
  bool pausedAnywhere = false;
  bool testing = false, snapshotAfterTests = false;

  KeptSnapshots kept; ///< with keepSnapshots
  /// While the solver tests: a run that resumes makes these tests again.
  std::optional<caffe::SolverState> beforeTests;
  std::unique_ptr<BestMetric> best; ///< null: none is sought

  struct InFlight {
    int iteration;
    double learningRate;
  };
  std::deque<InFlight> inFlight; ///< iterations whose loss is not known yet

  // Of an iteration in the caller's hands.
  std::optional<Pass> lastPass;   ///< Forward or Backward
  bool keepGradients = false;     ///< the last gradients wait for the sum
  std::vector<double> passLosses; ///< of the iteration
  bool lossKept = false;          ///< the last of them is of gradients kept
  std::vector<double> callerState;   ///< the caller's

  using Clock = std::chrono::steady_clock;
  Clock::time_point stepBegin, displayBegin;
  int stepBeginIteration = 0;
  int lastDisplayed = 0;

  SnapshotWriter writer; ///< the last: it waits
};

} // namespace brew::runtime
