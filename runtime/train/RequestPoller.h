//===- RequestPoller.h - Polls the requests to a trainer --------*- C++ -*-===//
#pragma once

#include "runtime/train/Collectives.h"
#include "runtime/train/TrainerControl.h"

#include <chrono>
#include <functional>
#include <vector>

namespace brew::runtime {

/// Polls the requests of signals and of other threads (TrainerControl), on this
/// rank or on all ranks.
class RequestPoller {
public:
  /// The arguments must outlive this object.
  RequestPoller(TrainerControl &control, Collectives &ranks)
      : control(control), ranks(ranks) {}

  /// Sets the function that polls for signals.
  void setActionFunction(std::function<SolverAction()> source) {
    nextAction = std::move(source);
  }

  /// The ranks whose requests count.
  enum class Scope {
    ThisRank,
    AllRanks ///< all ranks must poll
  };
  /// Returns and clears the requests of a stop and a snapshot, and whether a
  /// snapshot is due anyway. In the scope of all ranks, also exchanges whether
  /// any rank has changed fields of the solver or is paused.
  TrainerControl::Requests poll(bool snapshotDue, Scope scope);
  /// Returns whether a rank was paused at the last poll of all ranks.
  bool isPaused() const { return pausedAnywhere; }
  /// Ends a pause on this rank.
  void clearPause() { pausedAnywhere = false; }

  /// Returns whether a stop is requested, without clearing the request. Cheap
  /// enough to call at every step.
  bool isStopRequested();

  /// Exchanges whether any rank has changed fields of the solver. All ranks
  /// must call it.
  void exchangeChangeFlags();
  /// Applies the changes to the solver that exchangeChangeFlags() or poll() has
  /// announced, and returns them. All ranks must call it in the scope of all
  /// ranks; in the scope of this rank, takes no changes of several ranks.
  std::vector<TrainerControl::FieldChange> applyChanges(Scope scope);

private:
  SolverAction nextSignalAction() {
    return nextAction ? nextAction() : SolverAction::None;
  }

  TrainerControl &control;
  Collectives &ranks;
  std::function<SolverAction()> nextAction;
  std::chrono::steady_clock::time_point lastPolled; ///< by isStopRequested()
  bool changesPending = false;                      ///< on any rank
  bool pausedAnywhere = false;
};

} // namespace brew::runtime
