//===- RequestPoller.cpp - Polls the requests to a trainer ----------------===//

#include "runtime/train/RequestPoller.h"

#include "runtime/train/RankExchange.h"

#include <utility>

namespace brew::runtime {

TrainerControl::Requests RequestPoller::poll(bool snapshotDue, Scope scope) {
  SolverAction signalAction = nextSignalAction();
  if (signalAction == SolverAction::Snapshot) {
    snapshotDue = true;
    signalAction = nextSignalAction(); // a second signal may be pending
  }
  const TrainerControl::Requests requested = control.takeRequests();
  bool stop = requested.stop || signalAction == SolverAction::Stop;
  snapshotDue |= requested.snapshot;
  if (scope == Scope::AllRanks) {
    constexpr std::uint32_t kStop = 1, kSnapshot = 2, kChange = 4, kPause = 8;
    const std::uint32_t requestBits =
        ranks.allReduceOr((stop ? kStop : 0) | (snapshotDue ? kSnapshot : 0) |
                              (control.announceChanges() ? kChange : 0) |
                              (control.isPaused() ? kPause : 0),
                          /*countsWaits=*/!pausedAnywhere);
    stop = requestBits & kStop;
    if (stop)
      control.resume(); // end the pause on every rank
    snapshotDue = requestBits & kSnapshot;
    changesPending |= (requestBits & kChange) != 0;
    pausedAnywhere = requestBits & kPause;
  }
  return {snapshotDue, stop};
}

bool RequestPoller::isStopRequested() {
  // The function may take a lock, or do more than check for signals.
  constexpr auto kInterval = std::chrono::milliseconds(20);
  if (const auto now = std::chrono::steady_clock::now();
      nextAction && now - lastPolled >= kInterval) {
    lastPolled = now;
    switch (nextAction()) {
    case SolverAction::None:
      break;
    case SolverAction::Stop:
      control.stop();
      break;
    case SolverAction::Snapshot:
      control.snapshot();
      break;
    }
  }
  return control.isStopRequested();
}

void RequestPoller::exchangeChangeFlags() {
  changesPending |= ranks.allReduceOr(control.announceChanges(),
                                      /*countsWaits=*/false) != 0;
}

std::vector<TrainerControl::FieldChange>
RequestPoller::applyChanges(Scope scope) {
  if (ranks.isAlone())
    exchangeChangeFlags(); // includes changes since the last announcement
  else if (scope == Scope::ThisRank)
    return {};
  if (!std::exchange(changesPending, false))
    return {};
  const std::vector<TrainerControl::FieldChange> changes =
      mergeChanges(control.announcedChanges(), ranks);
  control.applyChanges(changes);
  return changes;
}

} // namespace brew::runtime
