//===- TrainerControl.h - Requests to a trainer -----------------*- C++ -*-===//
//
// All functions may be called from any thread, whether the trainer trains or
// not. A trainer carries out requests between two iterations (stop and snapshot
// also between two batches of a test) and, if the caller runs the passes, in
// update(). Signal handlers set a flag that an action function (Trainer.h)
// reads.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime {

/// An action that a signal or a caller requests from the solver.
enum class SolverAction { None, Stop, Snapshot };

/// Requests of other threads to a trainer.
class TrainerControl {
public:
  /// Throws Error if the plan cannot be trained with solver `candidate` in
  /// place of `before`. Called on the thread that sets a field.
  using Check = std::function<void(const caffe::SolverParameter &candidate,
                                   const caffe::SolverParameter &before)>;
  TrainerControl(caffe::SolverParameter solver, Check check);

  /// Makes the trainer wait after its iteration until resume() or stop().
  void pause();
  void resume();
  bool isPaused() const;
  /// Ends solve(), step() or test() after the current iteration or batch;
  /// solve() writes the snapshot of snapshot_after_train first. Also ends a
  /// pause. If nothing is running, the next call stops.
  void stop();
  /// Requests a snapshot after the iteration; also carried out while paused.
  void snapshot();

  /// Requests a restart of training from its start; also carried out while
  /// paused.
  void reset();
  /// Requests the time of each step in the next iteration.
  void requestStepTimes();

  /// Changes a field of the solver, by Caffe's name ("base_lr"), from the next
  /// iteration on; lists are values separated by commas. Throws Error: (2) if
  /// there is no such field, it can only be set before training
  /// (SolverFields.h), or the text is not a valid value; (1) if the plan does
  /// not support the new solver (e.g. momentum without memory for its history);
  /// (3) if snapshots could not be written. The field then keeps its value.
  void set(const std::string &field, const std::string &value);
  /// Replaces the solver at once; only on the thread that trains. Throws Error
  /// as set() does; the solver then stays.
  void replace(caffe::SolverParameter candidate);
  /// Throws Error if the plan cannot be trained with this solver.
  void validate(const caffe::SolverParameter &candidate) const {
    check(candidate, candidate);
  }
  /// Returns the value from the next iteration on, in the format of set().
  /// Throws Error (2) if there is no such field.
  std::string get(const std::string &field) const;

  //===--------------------------------------------------------------------===//
  // For the trainer
  //===--------------------------------------------------------------------===//

  struct Requests {
    bool snapshot, stop;
  };
  /// Returns and clears all requests since the last call.
  Requests takeRequests();
  /// Returns whether a stop is requested; does not clear the request.
  bool isStopRequested() const;
  /// Returns and clears only a stop request.
  bool takeStop();
  /// The same for requests of a reset and of step times.
  bool isResetRequested() const;
  bool takeReset();
  bool takeStepTimes();
  /// While paused, waits for another request, but at most a tenth of a second.
  void wait();

  struct FieldChange {
    std::string field, value;
  };
  /// Returns the solver of the current iteration. Only for the thread that
  /// trains; the reference remains valid.
  const caffe::SolverParameter &current() const { return solver; }
  /// Announces the fields changed so far; returns whether there are any.
  bool announceChanges();
  /// Returns the announced changes that are not applied yet, in order.
  std::vector<FieldChange> announcedChanges() const;
  /// Applies `changes` to the current solver: the announced changes, merged
  /// with those of other ranks.
  void applyChanges(const std::vector<FieldChange> &changes);
  /// Returns the solver, including changes that are not applied yet.
  caffe::SolverParameter pendingSolver() const;

private:
  caffe::SolverParameter withChanges() const;

  mutable std::mutex mutex;
  std::condition_variable changed;
  /// The solver of the current iteration. Only the thread that trains changes
  /// it, and therefore reads it without the lock.
  caffe::SolverParameter solver;
  Check check;
  std::vector<FieldChange> changes; ///< not applied yet, in order
  std::size_t announced = 0;        ///< the number of changes announced
  bool paused = false, stopping = false, snapshotWanted = false;
  bool resetting = false, timing = false;
};

} // namespace brew::runtime
