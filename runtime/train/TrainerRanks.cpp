//===- TrainerRanks.cpp - Training on several ranks -----------------------===//
//
// As Caffe's parallel.cpp: every rank trains on its share of the records with
// the same parameters; gradients are added up over the ranks and divided by
// their number. Rank 0 tests, logs and writes snapshots.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/Trainer.h"

#include "formats/Error.h"
#include "runtime/comm/Communicator.h"

#include <cstdio>

namespace brew::runtime {

bool Trainer::isRoot() const { return !ranks || ranks->isRoot(); }
int Trainer::rankCount() const { return ranks ? ranks->ranks() : 1; }

void Trainer::requireRanks() const {
  if (rankCount() == 1)
    return;
  if (options.watch.checkNan || !options.watch.stopWhen.empty() ||
      !options.watch.patience.empty())
    throw Error(ExitStatus::Usage,
                "looking for NaN and rules that end training are not supported "
                "on several ranks yet");
  if (reduceProgram >= 0)
    return;
  throw badInput(session.plan().path() +
                 ": was compiled without --distributed, so that its gradients "
                 "cannot be added up over " +
                 std::to_string(rankCount()) + " ranks; compile it with");
}

/// A seed for this rank: that of rank 0 plus its number.
std::uint64_t Trainer::chooseSeed(std::uint64_t own) const {
  return ranks ? ranks->ofRoot(own) + static_cast<std::uint64_t>(ranks->rank())
               : own;
}

/// Makes sure that all ranks do the same, from the same parameters.
void Trainer::joinRanks() {
  if (rankCount() == 1)
    return;
  ranks->agree(
      {{"plan", std::to_string(session.plan().checksum())},
       {"solver (its fields on the command line)", solver.SerializeAsString()},
       {"content of its data", feeder->identity()},
       {"iteration to begin with", std::to_string(currentIteration)},
       {"order of sums (--deterministic)",
        std::to_string(ranks->isDeterministic())}});
  const plan::Manifest &manifest = executor.manifest();
  auto take = [&](std::uint32_t index) {
    if (std::byte *data = executor.hostData(index))
      ranks->broadcast(data, manifest.buffers(static_cast<int>(index)).size());
  };
  for (const plan::Parameter &parameter : manifest.parameters()) {
    take(parameter.buffer_index());
    for (std::uint32_t state : parameter.state_buffer_indices())
      take(state);
  }
  session.prepare();
}

void Trainer::sumInSteps(bool inSteps) {
  if (ranks)
    ranks->sumsInSteps = inSteps && rankCount() > 1;
}

/// Adds up what the steps have not, with the program for it.
void Trainer::sumGradients() {
  if (rankCount() == 1 || ranks->sumsInSteps)
    return;
  ranks->sumsInSteps = true;
  executor.run(reduceProgram);
  ranks->sumsInSteps = false;
}

std::uint32_t Trainer::unite(std::uint32_t bits, bool countsWaits) const {
  return rankCount() > 1 ? ranks->unite(bits, countsWaits) : bits;
}

/// Names the rank that has kept the others waiting.
void Trainer::tellStraggler(double seconds) {
  if (rankCount() == 1)
    return;
  const std::optional<comm::Straggler> found = ranks->takeStraggler(seconds);
  if (!found || !isRoot())
    return;
  char text[128];
  std::snprintf(text, sizeof text,
                "Rank %d is slower than the others, which waited for it %.3g s "
                "of the last %.3g s",
                found->rank, found->seconds, seconds);
  events.emit(event::LogLine{log::Severity::Warning, log::site::brew, text});
}

void Trainer::tick() const {
  if (ranks)
    ranks->tick();
}

} // namespace brew::runtime
