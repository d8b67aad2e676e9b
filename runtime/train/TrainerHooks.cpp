//===- TrainerHooks.cpp - Hooks of a training run -------------------------===//

#include "runtime/train/TrainerHooks.h"

#include "formats/SolverStateFile.h"
#include "support/Error.h"

#include <utility>

namespace brew::runtime {

TrainerHooks::TrainerHooks(std::unique_ptr<TrainerAccess> trainerAccess,
                           Collectives &collectives,
                           ParameterChanges &parameterChanges, int testNets,
                           std::vector<std::string> folders)
    : access(std::move(trainerAccess)), ranks(collectives),
      changes(parameterChanges) {
  if (ranks.isRoot())
    hooks = std::make_unique<Hooks>(*access, testNets, std::move(folders));
}

TrainerHooks::~TrainerHooks() = default;

Hooks &TrainerHooks::get() {
  if (!hooks)
    throw usageError("only rank 0 has hooks, and this is another rank");
  return *hooks;
}

std::vector<BestMetric *> TrainerHooks::bestMetrics() const {
  return hooks ? hooks->bestMetrics() : std::vector<BestMetric *>();
}

void TrainerHooks::startAt(int iteration) {
  if (hooks)
    hooks->startAt(iteration);
}

std::uint32_t TrainerHooks::ownBits() const {
  if (!hooks)
    return 0;
  return (hooks->empty() ? 0 : kHasLines) | (hooks->mayStop() ? kMayStop : 0);
}

void TrainerHooks::beginCall() {
  anywhere = ranks.allReduceOr(ownBits(), /*countsWaits=*/false);
}

bool TrainerHooks::mayStop() const { return bits() & kMayStop; }

HookRequests TrainerHooks::run(HookTrigger trigger, int iteration, int net) {
  HookRequests own;
  if (hooks)
    own = bits() & kHasLines ? hooks->runDue(trigger, iteration, net)
                             : hooks->runOptions(trigger, iteration, net);
  if (own.stop && !stopReason)
    stopReason = own.stop;
  return own;
}

std::optional<std::string> TrainerHooks::takeStopReason() {
  return std::exchange(stopReason, std::nullopt);
}

TrainerHooks::Shared TrainerHooks::share(const HookRequests &own) {
  Shared shared;
  if (!(bits() & kHasLines)) // options request neither tests nor snapshots
    return shared;
  if (own.snapshot)
    shared.bits |= Shared::kSnapshot;
  if (own.restore)
    requireProgress(*own.restore);
  if (own.restore || changes.hasNew())
    shared.bits |= Shared::kChanges;
  for (int net : own.tests)
    shared.bits |= Shared::testBit(net);
  shared.bits = ranks.allReduceOr(shared.bits, /*countsWaits=*/false);
  if (shared.bits & Shared::kChanges)
    shared.statePath = shareChanges(own);
  return shared;
}

/// Throws Error (1) if a restore would lead back to itself: from the same
/// iteration to the same state with the same solver.
void TrainerHooks::requireProgress(const std::string &statePath) {
  const int snapshotIteration =
      formats::readSolverState(statePath).state.iter();
  const std::string key = std::to_string(access->iteration()) + " " +
                          std::to_string(snapshotIteration) + " " + statePath +
                          access->control().pendingSolver().SerializeAsString();
  if (std::exchange(lastRestore, key) == key)
    throw badInput("hooks restore '" + statePath + "' at iteration " +
                   std::to_string(access->iteration()) +
                   " again, and no field of the solver has changed: training "
                   "would repeat itself forever; let a hook 'load' the "
                   "weights, or another one 'set' a field");
}

/// Applies rank 0's changes of parameters on the other ranks. Returns the state
/// to restore, or "".
std::string TrainerHooks::shareChanges(const HookRequests &own) {
  SharedChanges shared{changes.take(), own.restore.value_or("")};
  if (ranks.isAlone())
    return shared.restore;
  const std::string fromRoot =
      ranks.gatherTexts(ranks.isRoot() ? shared.pack() : "").front();
  if (ranks.isRoot())
    return shared.restore;
  shared = SharedChanges::unpack(fromRoot);
  for (const ParameterChange &change : shared.changes)
    changes.apply(change);
  changes.take();
  return shared.restore;
}

void TrainerHooks::finish() {
  if (hooks)
    hooks->finish();
}

} // namespace brew::runtime
