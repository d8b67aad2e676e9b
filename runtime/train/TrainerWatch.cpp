//===- TrainerWatch.cpp - Stop rules and NaN checks in training -----------===//

#include "runtime/train/Trainer.h"

#include "support/Error.h"

#include <algorithm>

namespace brew::runtime {

double Trainer::itemsPerIteration() const {
  const plan::Manifest &manifest = executor.manifest();
  const plan::Program &program = manifest.programs(trainProgram);
  if (program.data_inputs().empty() ||
      program.data_inputs(0).buffer_indices().empty())
    return 0;
  const plan::Buffer &top = manifest.buffers(
      static_cast<int>(program.data_inputs(0).buffer_indices(0)));
  return top.dims().empty() ? 0
                            : static_cast<double>(top.dims(0)) *
                                  solver.iter_size() * rankCount();
}

void Trainer::emitThroughput(int iteration, double perSecond) {
  event::Throughput throughput{iteration, perSecond * itemsPerIteration(),
                               std::max(0, callEnd - iteration) / perSecond, 0,
                               0};
  for (const DataPipeline::Stall &stall : pipeline->stalls()) {
    throughput.waits += stall.times;
    throughput.secondsWaiting += stall.seconds;
  }
  events.emit(throughput);
}

/// Returns whether a rule ends the call before the next iteration. Emits
/// StoppedByRule when a rule first holds. All ranks must call it: the rules of
/// rank 0 end training on all ranks.
bool Trainer::stopRuleHolds() {
  if (endedByRule)
    return true;
  if (!hasRules && !hasHooks())
    return false;
  if (!allReduceOr(watch->hasStopReason()))
    return false;
  drainInFlight(0);
  if (const std::optional<std::string> reason = watch->takeStopReason())
    events.emit(event::StoppedByRule{currentIteration, *reason});
  return endedByRule = true;
}

/// Ends training before the update if the loss or a gradient is not finite on
/// any rank.
void Trainer::requireFinite(double loss) {
  NanCheck *check = watch->nanCheck();
  if (!check || !allReduceOr(check->foundNonFinite(loss)))
    return;
  setReducesInSteps(false); // each rank checks its own gradients
  const NanCheck::Finding finding =
      earliestFinding(check->find(solver.iter_size()));
  discardIteration();
  std::string text =
      "iteration " + std::to_string(currentIteration) + ": " + finding.text;
  if (!finding.inParameters && solver.snapshot_after_train()) {
    try {
      snapshot();
      text += "; the snapshot contains the state before the iteration";
    } catch (const Error &error) {
      text += std::string("; there is no snapshot: ") + error.what();
    }
  }
  const Error error = badInput(text);
  throw rankCount() > 1 ? ranks->collectiveError(error) : error;
}

/// With --check-nan, throws Error (1) if a parameter is not finite, so that a
/// bad snapshot does not replace a good one.
void Trainer::requireFiniteParameters() {
  NanCheck *check = watch->nanCheck();
  const std::optional<std::string> problem =
      check ? check->badParameter() : std::nullopt;
  if (problem)
    throw badInput("iteration " + std::to_string(currentIteration) + ": " +
                   *problem +
                   " after the last update; no snapshot was written");
}

} // namespace brew::runtime
