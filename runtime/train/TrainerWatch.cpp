//===- TrainerWatch.cpp - What looks after a training run -----------------===//

#include "runtime/train/Trainer.h"

#include "formats/Error.h"

#include <algorithm>

namespace brew::runtime {

double Trainer::itemsPerIteration() const {
  const plan::Manifest &manifest = executor.manifest();
  const plan::Program &program = manifest.programs(trainProgram);
  if (program.feeds().empty() || program.feeds(0).buffer_indices().empty())
    return 0;
  const plan::Buffer &top =
      manifest.buffers(static_cast<int>(program.feeds(0).buffer_indices(0)));
  return top.dims().empty()
             ? 0
             : static_cast<double>(top.dims(0)) * solver.iter_size() *
                   rankCount();
}

void Trainer::tellSpeed(int iteration, double perSecond) {
  event::Speed speed{iteration, perSecond * itemsPerIteration(),
                     std::max(0, callEnd - iteration) / perSecond, 0, 0};
  for (const Feeder::Starvation &starved : feeder->starvation()) {
    speed.waits += starved.times;
    speed.secondsWaiting += starved.seconds;
  }
  events.emit(speed);
}

/// Whether a rule ends the call here: before an iteration, all before it done.
bool Trainer::ruleEnds() {
  if (endedByRule)
    return true;
  if (watch->hasStopReason())
    settle(0);
  const std::optional<std::string> reason = watch->takeStopReason();
  if (!reason)
    return false;
  events.emit(event::StoppedByRule{currentIteration, *reason});
  return endedByRule = true;
}

/// Ends training where an iteration's loss or gradients are not finite, before
/// its update.
void Trainer::requireFinite(double loss) {
  NanCheck *check = watch->nanCheck();
  if (!check || !check->suspects(loss))
    return;
  const NanCheck::Finding finding = check->find(solver.iter_size());
  abandonIteration();
  std::string text =
      "iteration " + std::to_string(currentIteration) + ": " + finding.text;
  if (!finding.inParameters && solver.snapshot_after_train()) {
    try {
      snapshot();
      text += "; the snapshot is of what was there before the iteration";
    } catch (const Error &error) {
      text += std::string("; there is no snapshot: ") + error.what();
    }
  }
  throw badInput(text);
}

} // namespace brew::runtime
