//===- SolverTests.h - Test nets of a training run --------------*- C++ -*-===//
#pragma once

#include "runtime/session/Session.h"
#include "runtime/train/CallerNets.h"
#include "runtime/train/Collectives.h"
#include "runtime/train/DebugInfo.h"
#include "runtime/train/TrainingState.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime {

/// Runs the solver's test nets.
///
/// With several ranks, rank 0 runs all batches, or tests are distributed over
/// the ranks: rank i modulo N computes batch i. All ranks then read all
/// records, so that each batch has the same records as on one rank. Rank 0 adds
/// the outputs in batch order, so that the results are the same as if rank 0
/// computed all batches.
class SolverTests {
public:
  /// `distribute`: distributes tests over the ranks, if there are several.
  /// `callerNets`: the nets that are tested; null: the plan's. The arguments
  /// must outlive this object.
  SolverTests(Session &session, const caffe::SolverParameter &solver,
              const TrainingState &state, Collectives &ranks, bool distribute,
              const CallerNets *callerNets);

  /// Finds the solver's test nets in the plan and emits their events. Throws
  /// Error (1) if the plan has too few, or they do not fit the solver.
  void createNets();
  /// Returns the number of test nets. Callable from any thread.
  int count() const { return netCount; }
  /// Returns the program of a net. Throws Error (2) if the caller runs it.
  int program(int net) const { return netOf(net).program; }
  /// Returns the inputs of the nets.
  const std::vector<ProgramInputs *> &inputs() const { return netInputs; }

  /// Returns whether the ranks share tests.
  bool isDistributed() const { return distributed; }
  /// Returns whether this rank takes part in tests.
  bool runsHere() const { return ranks.isRoot() || distributed; }
  /// Opens the data sources if this rank takes part in tests.
  void open();
  /// Moves them to the cursors.
  void restore(const std::vector<caffe::ReaderCursor> &cursors);

  /// Throws Error (2) if there is no such net.
  void requireNet(int net) const;
  /// Sets a function that performs the tests in place of the nets: it runs
  /// `iterations` (of test_iter) and returns the outputs, or nullopt if it was
  /// interrupted. An empty function restores the nets.
  using TestFunction =
      std::function<std::optional<std::vector<OutputValue>>(int iterations)>;
  void setFunction(TestFunction newFunction) {
    function = std::move(newFunction);
  }
  bool hasFunction() const { return function != nullptr; }
  /// Polled before each batch; returns whether to interrupt the test.
  using Interrupt = std::function<bool()>;
  /// Runs a test on this rank; returns the emitted event, or nullopt if it was
  /// interrupted. `prepareFirst`: first computes the values that test programs
  /// derive from weights.
  std::optional<event::TestDone> run(int net, int batches, bool prepareFirst,
                                     const Interrupt &interrupt);
  /// Computes these values on all ranks of a distributed test, with the
  /// statistics of rank 0.
  void prepareDistributed();
  /// Runs a test on all ranks. `interrupt` is called on all ranks before the
  /// same batches, and must return the same. Returns the event on rank 0.
  std::optional<event::TestDone> runDistributed(int net, int batches,
                                                const Interrupt &interrupt);
  /// Runs a net over its batches without a test's events and calls `body` after
  /// each, until `interrupt` returns true.
  void forEachBatch(int net, const Interrupt &interrupt,
                    const std::function<void()> &body);

private:
  struct Net {
    int program;
    std::unique_ptr<DebugInfo> debug; ///< null: no debug_info
    ProgramInputs *inputs;
  };

  std::optional<event::TestDone> runFunction(int net, int iterations);
  /// Throws Error (2) if the caller runs the nets.
  const Net &netOf(int index) const;

  Session &session;
  Executor &executor;
  Events &events;
  const caffe::SolverParameter &solver;
  const TrainingState &state;
  Collectives &ranks;
  const bool distributed;
  const CallerNets *callerNets;
  int netCount = 0;
  std::vector<Net> nets;                  ///< of the plan
  std::vector<ProgramInputs *> netInputs; ///< of the nets
  TestFunction function;                  ///< empty: the nets test
};

} // namespace brew::runtime
