//===- Iteration.h - One iteration of training ------------------*- C++ -*-===//
//
// The passes of an iteration over its batches, and its update: in one call of
// the solver's loop, or in separate calls:
//
//   for (...) { forward(); backward(); update(); }
//   for (...) { forward(); backward(); accumulate();
//               forward(); backward(); accumulate(); update(); }
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/session/Session.h"
#include "runtime/train/CallerNets.h"
#include "runtime/train/Collectives.h"
#include "runtime/train/DebugInfo.h"
#include "runtime/train/GradientAccumulator.h"
#include "runtime/train/ParameterUpdate.h"
#include "runtime/train/ProgressEvents.h"
#include "runtime/train/TrainingPrograms.h"
#include "runtime/train/TrainingState.h"
#include "runtime/train/watch/NanCheck.h"

#include <deque>
#include <memory>
#include <vector>

namespace brew::runtime {

/// Runs the iterations of training, one after the other.
class Iteration {
public:
  /// `nan`: checks values before each update; may be null. `callerNets`: the
  /// nets that iterations run; null: the plan's. The arguments must outlive
  /// this object.
  Iteration(Session &session, const caffe::SolverParameter &solver,
            const TrainingPrograms &programs, TrainingState &state,
            Collectives &ranks, ParameterUpdate &parameterUpdate,
            ProgressEvents &progress, NanCheck *nan,
            const CallerNets *callerNets);

  /// Whether an iteration has begun, so that it uses the current solver.
  bool hasBegun() const { return stage != Stage::None; }
  void begin() { stage = Stage::Begun; }
  void end() { stage = Stage::None; }
  /// Discards an unfinished iteration and its gradient sum, also after a
  /// failure.
  void discard();
  /// Waits for the losses of all iterations except the last `stillRunning`.
  void drainInFlight(std::size_t stillRunning = 0);

  //===--------------------------------------------------------------------===//
  // In the solver's loop
  //===--------------------------------------------------------------------===//

  /// Throws Error (2) if the caller must write output gradients: the loop
  /// leaves no time for that between the passes.
  void requireNoOutputGradients() const;
  /// Call this before the passes. With `timed`, measures the time of each step.
  void selectMode(bool timed);
  /// Returns whether the update is started together with the passes, because
  /// gradients are neither accumulated nor read in between.
  bool overlapsUpdate() const { return mode == Mode::Overlapped; }
  /// Starts the passes and the update of one iteration together. Waits for the
  /// loss only if it is displayed, so that the device computes while the next
  /// batch is read.
  void runOverlapped();
  /// Otherwise, runs the passes of all batches and sums their gradients over
  /// the batches and ranks. Returns the mean loss.
  double computeGradients();
  /// Then displays the iteration and updates the parameters.
  void applyGradients(double loss);
  /// Runs only the passes, for the loss after the last update.
  void runFinalPass();

  //===--------------------------------------------------------------------===//
  // In separate passes
  //===--------------------------------------------------------------------===//

  /// Feeds the next batch if `feed` is set, and runs the forward pass; returns
  /// its loss.
  double forward(bool feed);
  /// Runs the backward pass of the last forward(). Throws Error (2) without
  /// one.
  void backward();
  /// Keeps the gradients of the last backward(): the next ones are added to
  /// them. Throws Error (2) without a backward().
  void accumulate();
  /// Takes the place of forward() and backward() for a caller that has written
  /// the parameter gradients.
  void useCallerGradients(double loss);
  /// Updates the parameters; in a run of the caller, displays the iteration
  /// first. Throws Error (2) without a backward().
  void update();
  /// Updates the parameters with the gradients in memory; returns the learning
  /// rate.
  double updateParameters();

private:
  enum class Stage {
    None,     ///< between two iterations
    Begun,    ///< no pass has run, or the last one failed
    Forward,  ///< the forward pass of a batch has run
    Backward, ///< its gradients are computed
    Kept      ///< and are to be added to the sum
  };
  enum class Mode { Sequential, Overlapped, Timed };
  struct InFlight {
    int iteration;
    double learningRate;
  };

  ProgramInputs &inputs() { return session.inputs(programs.train); }
  double forwardBackward();
  void display(int iteration);
  bool showsDebugInfo() const;
  void requireGradients(const char *operation) const;

  Session &session;
  Executor &executor;
  const caffe::SolverParameter &solver;
  const TrainingPrograms &programs;
  TrainingState &state;
  Collectives &ranks;
  ParameterUpdate &parameterUpdate;
  ProgressEvents &progress;
  NanCheck *nan;
  const CallerNets *callerNets;
  GradientAccumulator accumulator;
  std::unique_ptr<DebugInfo> debug; ///< null: no debug_info

  Stage stage = Stage::None;
  Mode mode = Mode::Sequential;
  RunResults results;              ///< of the training program's last run
  std::deque<InFlight> inFlight;   ///< iterations whose loss is pending
  std::vector<double> passLosses;  ///< of the iteration in separate passes
  std::size_t keptLosses = 0;      ///< of those whose gradients are kept
  std::vector<double> stepSeconds; ///< of a timed iteration, over its batches
};

} // namespace brew::runtime
