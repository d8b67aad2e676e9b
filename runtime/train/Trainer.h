//===- Trainer.h - Caffe's solver loop over a plan --------------*- C++ -*-===//
//
// Runs the programs forward_backward, update and test_0, test_1, ... of a plan
// with the order, learning rates, log lines and snapshots of Caffe's solver.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/SolverStateFile.h"
#include "formats/caffe.pb.h"
#include "runtime/session/Session.h"
#include "runtime/train/Collectives.h"
#include "runtime/train/Iteration.h"
#include "runtime/train/ParameterChanges.h"
#include "runtime/train/ParameterUpdate.h"
#include "runtime/train/ProgressEvents.h"
#include "runtime/train/RequestPoller.h"
#include "runtime/train/SolverTests.h"
#include "runtime/train/TrainerControl.h"
#include "runtime/train/TrainerHooks.h"
#include "runtime/train/TrainerOptions.h"
#include "runtime/train/TrainingPrograms.h"
#include "runtime/train/TrainingState.h"
#include "runtime/train/snapshots/Snapshots.h"
#include "runtime/train/watch/RunLogs.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

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
  TrainerControl &control() { return trainerControl; }
  /// Replaces the solver at once, also within functions of the caller's nets.
  /// Only on the training thread. Throws Error if the plan cannot be trained
  /// with it: (1) fields that contradict each other or the plan, (3) a snapshot
  /// folder that cannot be written. The solver then stays.
  void setSolver(caffe::SolverParameter newSolver);
  /// Sets the function that polls for signals. It is called on the training
  /// thread after every iteration and before every test batch, and once more
  /// after it returned Snapshot.
  void setActionFunction(std::function<SolverAction()> source) {
    requests.setActionFunction(std::move(source));
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
  bool stopped() const { return ending == Ending::Requested; }

  /// Adds a hook (hooks/Hooks.h). Hooks must not be added or removed while a
  /// hook runs.
  void addHook(const std::string &line, HookFunction function = {}) {
    hooks->get().add(line, std::move(function));
  }
  void addHooks(const std::string &file) { hooks->get().addFile(file); }
  void removeHook(const std::string &name) { hooks->get().remove(name); }
  /// Returns the last value of a metric (MetricName.h), or nullopt before the
  /// first measurement. Throws Error (2) if there is no such metric.
  std::optional<double> metric(const std::string &name) {
    return hooks->get().value(name);
  }
  /// Makes criteria `external NAME` of hooks hold at their next evaluation. May
  /// be called from any thread.
  void raiseFlag(const std::string &name) {
    if (Hooks *own = hooks->ifRoot())
      own->raiseFlag(name);
  }

  int testNets() const { return tests.count(); }
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

  /// Takes over the iteration, the state of the learning rate, the last losses
  /// and the solver history of another trainer, which must not be in a call.
  /// Throws Error (1) and changes nothing if its parameters or the kind of its
  /// solver differ.
  void continueFrom(const Trainer &other);

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
  /// Ends a run that an exception has left. A no-op after endRun().
  void leaveRun();
  /// Sets a function that performs the tests of such runs: it runs `iterations`
  /// (of test_iter) of a net and returns the outputs, or nullopt after a stop
  /// request. Runs have no tests without it.
  using TestFunction = SolverTests::TestFunction;
  void setTestFunction(TestFunction function);

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
  void backward() { passes.backward(); }
  /// Keeps the gradients of the last backward(): the next ones are added to
  /// them, in the plan's precision. Throws Error (2) without a backward().
  void accumulate() { passes.accumulate(); }
  /// Takes the place of forward() and backward() for a caller that has written
  /// the parameter gradients itself (from other sessions). `loss` is the loss
  /// of the forward pass. Call update() next.
  void useCallerGradients(double loss);
  /// Updates the parameters with the sum of the kept gradients and those of the
  /// last backward(), clipped if the solver says so, divided by the solver's
  /// iter_size, at the learning rate of iteration(), and increments
  /// iteration(). The iteration's loss is the mean of its forward passes. Acts
  /// on requests. Throws Error (2) without a backward(). If the caller runs the
  /// nets, the call is the update alone, with the gradients in their memory.
  void update();

  /// Returns whether a stop is requested. For long work between two updates, on
  /// the training thread; cheap enough to call at every step. Requests,
  /// including those of the action function, remain pending for update() and
  /// step().
  bool isStopRequested() { return requests.isStopRequested(); }
  /// Clears a pending stop request that ended the caller's own work. stopped()
  /// then returns true.
  void takeStop();

  /// Sets numbers to store in snapshots, for callers that run the passes. After
  /// training resumes from a snapshot, callerStateOfSnapshot() returns its
  /// numbers (empty: none).
  void setCallerState(std::vector<double> values) {
    state.attached = std::move(values);
  }
  const std::vector<double> &callerStateOfSnapshot() const {
    return state.attached;
  }

  int iteration() const { return state.iteration; }
  /// Returns the displayed loss: the mean of the last average_loss iterations.
  double smoothedLoss() const { return state.losses.mean(); }
  /// Returns the learning rate of the next update. Between iterations it
  /// includes fields that were set since the last update.
  double learningRate() const;
  Parameters &parameters() { return session.parameters(); }

private:
  /// A call that may write snapshots. If the caller runs the nets, no lock file
  /// is left afterwards: programs may list the folder of snapshots, or have
  /// several solvers with one prefix.
  class SnapshotPeriod {
  public:
    explicit SnapshotPeriod(Trainer &trainer) : trainer(trainer) {}
    ~SnapshotPeriod() {
      if (trainer.options.callerNets)
        trainer.snapshots.release();
    }
    SnapshotPeriod(const SnapshotPeriod &) = delete;
    SnapshotPeriod &operator=(const SnapshotPeriod &) = delete;

  private:
    Trainer &trainer;
  };

  /// How the last solve(), step() or test() ended, or why it is ending.
  enum class Ending {
    Completed,
    ByHook,   ///< or by a rule, which is a hook too
    Requested ///< a stop request
  };

  // TrainerStart.cpp
  void startWithCallerNets();
  void createHooksAndLogs();
  void initialise();
  void addHooksOfOptions();
  void createNets();
  void loadWeights();
  void restoreReaders(const caffe::SolverState &position);
  void startHooksAndLogs();

  // Trainer.cpp
  bool isTestDue() const {
    return isDue(solver.test_interval(),
                 state.iteration - solver.test_offset());
  }
  void beginSolving();
  void beginCall();
  void beginLoop();
  void endLoop();
  void runTo(const std::function<int()> &end);
  void runIteration();
  void requireFinite(double loss);
  void testAll();
  void runTests(const std::function<bool(int)> &isSelected,
                bool repeatOnResume);
  void iterationBegins();
  void beginSeparateIteration();
  bool runHooks(HookTrigger trigger);
  bool hookRequestsStop();
  bool pollRequests(bool snapshotDue, RequestPoller::Scope scope);
  bool betweenIterations(bool snapshotDue);
  bool pauseUntilResumed();
  bool resetIfRequested();
  bool restoreIfRequested();
  void takeChanges(RequestPoller::Scope scope = RequestPoller::Scope::AllRanks);
  void solverChanged();
  void startSnapshot();

  Session &session;
  Events &events;
  TrainerOptions options; ///< its solver is in `trainerControl`
  const TrainingPrograms programs;
  const std::unique_ptr<Collectives> ranks;
  TrainerControl trainerControl;
  const caffe::SolverParameter &solver; ///< for the current iteration
  TrainingState state;
  const std::unique_ptr<NanCheck> nan; ///< null: no checks
  ProgressEvents progress;
  ParameterUpdate parameterUpdate;
  Iteration passes;
  SolverTests tests;
  RequestPoller requests;
  ParameterChanges parameterChanges;   ///< by hooks
  std::unique_ptr<RunLogs> logs;       ///< null until training can start
  std::unique_ptr<TrainerHooks> hooks; ///< null until training can start

  Ending ending = Ending::Completed;
  bool callerHandlesReset = false;
  bool lossesRestored = false;      ///< the next call continues with them
  bool snapshotDeferred = false;    ///< until the end of the tests
  std::string stateToRestore;       ///< at a hook's request; "": none
  int lastTested = -1;              ///< iteration of the last test of all nets
  caffe::SolverState startPosition; ///< position at the start of training
  std::vector<std::string> startFiles; ///< files that training started from

  Snapshots snapshots; ///< the last member: its destructor waits
};

} // namespace brew::runtime
