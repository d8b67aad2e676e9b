//===- TrainerRanks.cpp - Training on several ranks -----------------------===//
//
// As in Caffe's parallel.cpp, every rank trains on its share of the records
// with the same parameters, and gradients are averaged over the ranks. Rank 0
// tests, logs and writes snapshots.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/Trainer.h"

#include "plan/Contract.h"
#include "runtime/comm/Communicator.h"
#include "support/Error.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <utility>

namespace brew::runtime {

bool Trainer::isRoot() const { return !ranks || ranks->isRoot(); }
int Trainer::rankCount() const { return ranks ? ranks->ranks() : 1; }

/// Checks that all ranks have the same plan and options, and that these support
/// several ranks. Errors are collective.
void Trainer::checkRankSettings() const {
  if (rankCount() == 1)
    return;
  const WatchOptions &watchOptions = options.watch;
  std::string settings = std::to_string(watchOptions.checkNan) +
                         std::to_string(options.distributeTests) +
                         std::to_string(options.shardUpdate) +
                         watchOptions.patience;
  for (const std::string &rule : watchOptions.stopWhen)
    settings += "\n" + rule;
  for (const std::string &file : options.hooks)
    settings += "\n" + file;
  ranks->checkAllEqual({{"plan", std::to_string(session.plan().checksum())},
                        {"--check-nan, --stop-when, --patience, --hooks, "
                         "--distributed-test or --shard-update",
                         settings}});
  if (reduceProgram < 0)
    throw ranks->collectiveError(
        badInput(session.plan().path() +
                 ": was compiled without --distributed, so its gradients "
                 "cannot be summed "
                 "over " +
                 std::to_string(rankCount()) +
                 " ranks; recompile the solver with `brewc --distributed`"));
  const plan::Manifest &manifest = executor.manifest();
  const auto isPersistent = [&](std::uint32_t buffer) {
    return std::any_of(manifest.persistent().begin(),
                       manifest.persistent().end(),
                       [&](const plan::NamedBuffer &entry) {
                         return entry.buffer_index() == buffer;
                       });
  };
  const auto keepsState = [&](const plan::Program &program) {
    for (const plan::Step &step : program.steps())
      for (const plan::Operand &operand : step.operands())
        if (program.test_phase() && isPersistent(operand.buffer_index()))
          return true;
    return false;
  };
  if (options.distributeTests &&
      std::any_of(manifest.programs().begin(), manifest.programs().end(),
                  keepsState))
    throw ranks->collectiveError(Error(
        ExitStatus::Usage,
        "--distributed-test does not support test nets that keep state from "
        "batch to batch, as recurrent layers do; omit it, and rank 0 runs the "
        "tests"));
  if (options.distributeTests && solver.eval_type() == "detection")
    throw ranks->collectiveError(Error(
        ExitStatus::Usage,
        "--distributed-test does not support eval_type \"detection\", whose "
        "scores are ranked over all batches; omit it, and rank 0 runs the "
        "tests"));
}

/// Returns this rank's seed. With a communicator, rank 0's `seed` becomes the
/// common seed of all ranks. Without one, `seed` already includes the rank.
caffe::RankSeed Trainer::chooseSeed(std::uint64_t seed) const {
  if (!ranks)
    return session.rankSeed(seed);
  return {ranks->broadcastFromRoot(seed),
          static_cast<std::uint64_t>(ranks->rank())};
}

/// Checks that all ranks start from the same solver, data and iteration.
/// Broadcasts rank 0's parameters and solver history.
void Trainer::synchronizeRanks() {
  if (rankCount() == 1)
    return;
  ranks->checkAllEqual(
      {{"solver (its fields on the command line)", solver.SerializeAsString()},
       {"content of the data, or list of weights (boost_file)",
        pipeline->identity()},
       {"first iteration", std::to_string(currentIteration)},
       {"order of reductions (--deterministic)",
        std::to_string(ranks->isDeterministic())}});
  const plan::Manifest &manifest = executor.manifest();
  auto broadcastBuffer = [&](std::uint32_t index) {
    executor.modify(index, [&](std::byte *bytes) {
      ranks->broadcast(bytes, manifest.buffers(static_cast<int>(index)).size());
    });
  };
  for (const plan::Parameter &parameter : manifest.parameters()) {
    broadcastBuffer(parameter.buffer_index());
    for (std::uint32_t state : parameter.state_buffer_indices())
      broadcastBuffer(state);
  }
  session.prepare();
  if (options.shardUpdate) {
    sharded = std::make_unique<ShardedUpdate>(executor, updateProgram, *ranks);
    sharded->releaseHistory();
  }
}

void Trainer::setReducesInSteps(bool inSteps) {
  if (ranks)
    ranks->reducesInSteps = inSteps && rankCount() > 1;
}

/// All-reduces the gradients with a program, unless the steps did it.
void Trainer::allReduceGradients() {
  if (rankCount() == 1 || ranks->reducesInSteps)
    return;
  ranks->reducesInSteps = true;
  executor.run(reduceProgram);
  executor.synchronize(); // finish on all ranks before one of them continues
  ranks->reducesInSteps = false;
}

std::uint32_t Trainer::allReduceOr(std::uint32_t bits, bool countsWaits) const {
  return rankCount() > 1 ? ranks->allReduceOr(bits, countsWaits) : bits;
}

/// Exchanges whether any rank has changed fields of the solver. All ranks must
/// call it.
void Trainer::exchangeChangeFlags() {
  for (TrainerControl::FieldChange &change : requests.takeChanges())
    ownChanges.push_back(std::move(change));
  changesPending |=
      allReduceOr(!ownChanges.empty(), /*countsWaits=*/false) != 0;
}

/// Returns the fields changed on any rank, in rank order, if
/// exchangeChangeFlags() or pollRequests() announced changes. All ranks then
/// continue with the same solver.
std::vector<TrainerControl::FieldChange> Trainer::gatherChanges() {
  if (rankCount() == 1) {
    for (TrainerControl::FieldChange &change : requests.takeChanges())
      ownChanges.push_back(std::move(change));
    return std::exchange(ownChanges, {});
  }
  if (!std::exchange(changesPending, false))
    return {};
  std::string packed;
  for (const TrainerControl::FieldChange &change : ownChanges)
    (((packed += change.field) += '\0') += change.value) += '\0';
  ownChanges.clear();
  // If several ranks set a field, the highest rank's last value wins.
  std::vector<TrainerControl::FieldChange> merged;
  for (const std::string &text : ranks->gatherTexts(packed)) {
    std::istringstream fields(text);
    for (TrainerControl::FieldChange change;
         std::getline(fields, change.field, '\0') &&
         std::getline(fields, change.value, '\0');) {
      merged.erase(
          std::remove_if(merged.begin(), merged.end(),
                         [&](const TrainerControl::FieldChange &other) {
                           return other.field == change.field;
                         }),
          merged.end());
      merged.push_back(change);
    }
  }
  requests.applyRemoteChanges(merged);
  return merged;
}

/// Returns the earliest finding of all ranks.
NanCheck::Finding
Trainer::earliestFinding(const NanCheck::Finding &ownFinding) const {
  if (rankCount() == 1)
    return ownFinding;
  std::string packed(sizeof ownFinding.order, '\0');
  std::memcpy(packed.data(), &ownFinding.order, sizeof ownFinding.order);
  const std::vector<std::string> findings = ranks->gatherTexts(
      packed + (ownFinding.inParameters ? '1' : '0') + ownFinding.text);
  NanCheck::Finding first = ownFinding;
  int rank = -1;
  for (std::size_t r = 0; r < findings.size(); ++r) {
    std::uint64_t order = 0;
    std::memcpy(&order, findings[r].data(), sizeof order);
    if (rank >= 0 && order >= first.order)
      continue;
    first = {findings[r].substr(sizeof order + 1),
             findings[r][sizeof order] == '1', order};
    rank = static_cast<int>(r);
  }
  if (first.order != NanCheck::kNotReproduced && !first.inParameters)
    first.text = "rank " + std::to_string(rank) + ": " + first.text;
  return first;
}

/// Warns about the rank that kept the others waiting.
void Trainer::warnOfStraggler(double seconds) {
  if (rankCount() == 1)
    return;
  const std::optional<comm::Straggler> straggler =
      ranks->takeStraggler(seconds);
  if (!straggler || !isRoot())
    return;
  char text[128];
  std::snprintf(text, sizeof text,
                "Rank %d is slower than the others, which waited for it %.3g s "
                "of the last %.3g s",
                straggler->rank, straggler->seconds, seconds);
  events.emit(event::LogLine{log::Severity::Warning, log::site::brew, text});
}

void Trainer::reportProgress() const {
  if (ranks)
    ranks->reportProgress();
}

} // namespace brew::runtime
