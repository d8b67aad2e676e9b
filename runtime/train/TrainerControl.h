//===- TrainerControl.h - Requests to a trainer from other threads -----*- C++ -*-===//
//
// All of it may be called from any thread, while the trainer trains or not. A
// trainer acts on requests between two iterations (stop and snapshot also
// between two batches of a test) and, in training step by step, in update().
// Signal handlers set a flag that an action source (Trainer.h) reads.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime {

/// What a signal or a caller asks of the solver at its next safe point.
enum class SolverAction { None, Stop, Snapshot };

class TrainerControl {
public:
  /// Throws Error for a solver that the plan cannot be trained with instead of
  /// the one before; called from whichever thread sets a field.
  using Check = std::function<void(const caffe::SolverParameter &candidate,
                                   const caffe::SolverParameter &before)>;
  TrainerControl(caffe::SolverParameter solver, Check check);

  /// Makes the trainer wait after its iteration until resume() or stop().
  void pause();
  void resume();
  bool isPaused() const;
  /// Ends solve(), step() or test() after the iteration or batch; solve() with
  /// the snapshot that snapshot_after_train asks for. It ends a pause. A stop
  /// that comes while nothing runs holds for the next call.
  void stop();
  /// Asks for a snapshot after the iteration; also acts while paused.
  void snapshot();

  /// Has training begin again as it was begun; also acts while paused.
  void reset();
  /// Has the next iteration timed step by step.
  void requestStepTimes();

  /// Changes a field of the solver, by Caffe's name of it ("base_lr"), from the
  /// next iteration on; lists take values separated by commas. Throws Error:
  /// (2) if there is no such field, it can only be set before training
  /// (SolverFields.h) or the text is no value of it; (1) if the solver would no
  /// longer suit the plan (e.g. momentum where there is no room for its
  /// history); (3) if snapshots that are to be written could not be. The field
  /// then stays as it is.
  void set(const std::string &field, const std::string &value);
  /// Throws where the plan could not be trained with this solver.
  void validate(const caffe::SolverParameter &candidate) const {
    check(candidate, candidate);
  }
  /// The value that holds from the next iteration on, as set() takes it. Throws
  /// Error (2) if there is no such field.
  std::string get(const std::string &field) const;

  //===--------------------------------------------------------------------===//
  // For the trainer
  //===--------------------------------------------------------------------===//

  struct Requests {
    bool snapshot, stop;
  };
  /// All that was requested since the last call.
  Requests takeRequests();
  /// Whether a stop is requested; the request stays.
  bool isStopRequested() const;
  /// Takes a requested stop alone.
  bool takeStop();
  /// Likewise of a reset, and of timing.
  bool isResetRequested() const;
  bool takeReset();
  bool takeStepTimes();
  /// Waits while paused, and nothing else is requested, at most a tenth of a
  /// second.
  void wait();

  struct FieldChange {
    std::string field, value;
  };
  /// The fields changed since the last call, in their order.
  std::vector<FieldChange> takeChanges();
  /// Changes that were made on other ranks, where they were checked.
  void applyRemoteChanges(const std::vector<FieldChange> &changes);
  /// The solver with the changes that are still to be taken.
  caffe::SolverParameter pendingSolver() const;

private:
  mutable std::mutex mutex;
  std::condition_variable changed;
  caffe::SolverParameter solver;
  Check check;
  std::vector<FieldChange> changes;
  bool paused = false, stopping = false, snapshotWanted = false;
  bool resetting = false, timing = false;
};

} // namespace brew::runtime
