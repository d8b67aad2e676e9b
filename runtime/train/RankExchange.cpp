//===- RankExchange.cpp - Exchange between the ranks of training ----------===//

#include "runtime/train/RankExchange.h"

#include "plan/Contract.h"
#include "runtime/comm/Communicator.h"
#include "support/Error.h"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace brew::runtime {

void checkRankSettings(Session &session, const TrainerOptions &options,
                       const caffe::SolverParameter &solver,
                       Collectives &ranks) {
  if (ranks.isAlone())
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
  ranks.checkAllEqual({{"plan", std::to_string(session.plan().checksum())},
                       {"--check-nan, --stop-when, --patience, --hooks, "
                        "--distributed-test or --shard-update",
                        settings}});
  if (session.executor().findProgram(plan::programs::kReduce) < 0)
    throw ranks.collectiveError(
        badInput(session.plan().path() +
                 ": was compiled without --distributed, so its gradients "
                 "cannot be summed "
                 "over " +
                 std::to_string(ranks.count()) +
                 " ranks; recompile the solver with `brewc --distributed`"));
  const plan::Manifest &manifest = session.manifest();
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
    throw ranks.collectiveError(Error(
        ExitStatus::Usage,
        "--distributed-test does not support test nets that keep state from "
        "batch to batch, as recurrent layers do; omit it, and rank 0 runs the "
        "tests"));
  if (options.distributeTests && solver.eval_type() == "detection")
    throw ranks.collectiveError(Error(
        ExitStatus::Usage,
        "--distributed-test does not support eval_type \"detection\", whose "
        "scores are ranked over all batches; omit it, and rank 0 runs the "
        "tests"));
}

void synchronizeStart(Session &session, const caffe::SolverParameter &solver,
                      const DataPipeline &pipeline, int iteration,
                      Collectives &ranks) {
  if (ranks.isAlone())
    return;
  ranks.checkAllEqual(
      {{"solver (its fields on the command line)", solver.SerializeAsString()},
       {"content of the data, or list of weights (boost_file)",
        pipeline.identity()},
       {"first iteration", std::to_string(iteration)},
       {"order of reductions (--deterministic)",
        std::to_string(session.communicator()->isDeterministic())}});
  for (const plan::Parameter &parameter : session.manifest().parameters()) {
    ranks.broadcastBuffer(parameter.buffer_index());
    for (std::uint32_t state : parameter.state_buffer_indices())
      ranks.broadcastBuffer(state);
  }
  session.prepare();
}

void broadcastStatistics(Session &session, Collectives &ranks) {
  for (const plan::Parameter &parameter : session.manifest().parameters())
    if (!parameter.has_gradient_buffer_index())
      ranks.broadcastBuffer(parameter.buffer_index());
}

std::vector<TrainerControl::FieldChange>
mergeChanges(const std::vector<TrainerControl::FieldChange> &own,
             Collectives &ranks) {
  if (ranks.isAlone())
    return own;
  std::string packed;
  for (const TrainerControl::FieldChange &change : own)
    (((packed += change.field) += '\0') += change.value) += '\0';
  std::vector<TrainerControl::FieldChange> merged;
  for (const std::string &text : ranks.gatherTexts(packed)) {
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
  return merged;
}

NanCheck::Finding earliestFinding(const NanCheck::Finding &own,
                                  Collectives &ranks) {
  if (ranks.isAlone())
    return own;
  std::string packed(sizeof own.order, '\0');
  std::memcpy(packed.data(), &own.order, sizeof own.order);
  const std::vector<std::string> findings =
      ranks.gatherTexts(packed + (own.inParameters ? '1' : '0') + own.text);
  NanCheck::Finding first = own;
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

} // namespace brew::runtime
