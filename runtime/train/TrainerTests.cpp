//===- TrainerTests.cpp - Tests during a training run ---------------------===//

#include "runtime/train/Trainer.h"

#include "runtime/session/NetOutputs.h"
#include "runtime/train/metrics/DetectionScores.h"
#include "support/Error.h"

namespace brew::runtime {

void Trainer::testAll() {
  testNetsOf([](int) { return true; }, /*repeatOnResume=*/true);
  if (!stopRequested)
    lastTested = currentIteration;
}

/// Tests the selected nets. With `repeatOnResume`, a run that resumes from a
/// snapshot written during the tests repeats them.
void Trainer::testNetsOf(const std::function<bool(int)> &isSelected,
                         bool repeatOnResume) {
  drainInFlight(0);
  if (repeatOnResume)
    rememberPosition();
  const bool isDistributed = distributesTests();
  if (isDistributed)
    broadcastStatistics();
  bool isBest = false;
  testing = true;
  if (isRoot() || isDistributed)
    for (int net = 0; net < testNets() && !stopRequested; ++net) {
      if (!isSelected(net))
        continue;
      const std::optional<event::TestDone> done =
          isDistributed ? runDistributedTest(net, solver.test_iter(net))
                        : runTest(net, solver.test_iter(net),
                                  /*prepareFirst=*/net == 0);
      if (!isRoot() || !done || !best || !best->updateIfBetter(*done))
        continue;
      if (sharded)
        isBest = true; // writing it needs all ranks
      else
        startBestSnapshot(*best);
    }
  testing = false;
  // Requests that rank 0 received while testing apply to all ranks.
  constexpr std::uint32_t kStop = 1, kBest = 2, kSnapshot = 4;
  const std::uint32_t requestBits =
      allReduceOr((stopRequested ? kStop : 0) | (isBest ? kBest : 0) |
                      (snapshotAfterTests ? kSnapshot : 0),
                  /*countsWaits=*/false);
  stopRequested = requestBits & kStop;
  snapshotAfterTests = false;
  if (requestBits & kBest)
    startBestSnapshot(*best);
  const bool hooksWantSnapshot = !stopRequested && runHooks(HookTrigger::Test);
  if (requestBits & kSnapshot || hooksWantSnapshot)
    startSnapshotOnAllRanks();
}

std::optional<event::TestDone> Trainer::test(int index, int batches) {
  if (index < 0 || index >= testNets())
    throw Error(ExitStatus::Usage,
                "there is no test net " + std::to_string(index) +
                    ": the solver has " + std::to_string(testNets()));
  if (batches < 0)
    throw Error(ExitStatus::Usage, "the number of test batches is negative");
  stopRequested = false;
  beforeTests.reset();
  drainInFlight(0);
  if (rankCount() == 1) // several ranks take changes together, in training
    takeChanges();
  std::optional<event::TestDone> done =
      runTest(index, batches ? batches : solver.test_iter(index),
              /*prepareFirst=*/true);
  finishSnapshots(); // requested during the test
  return done;
}

std::optional<event::TestDone> Trainer::runTest(int index, int batches,
                                                bool prepareFirst) {
  if (callerTest)
    return runCallerTest(index, batches);
  if (prepareFirst)
    session.prepare(); // test programs derive values from weights
  TestNet &net = nets[static_cast<std::size_t>(index)];
  events.emit(event::TestBegin{currentIteration, index});
  const bool isDetection = solver.eval_type() == "detection";
  OutputMeans means;
  DetectionScores scores;
  double loss = 0;
  for (int i = 0; i < batches; ++i) {
    if (pollRequests(/*snapshotDue=*/false)) {
      events.emit(event::TestInterrupted{currentIteration, index});
      return {};
    }
    reportProgress();
    net.pipeline->feed();
    executor.run(net.program);
    if (net.debug)
      net.debug->logForward();
    if (solver.test_compute_loss())
      loss += totalLoss(executor, net.program);
    if (isDetection)
      scores.add(executor, net.program);
    else
      means.add(readOutputs(executor, net.program));
  }
  event::TestDone done{currentIteration, index, {}, means.means()};
  if (isDetection) {
    DetectionScores::Result result = scores.result(solver.ap_version());
    for (int label : result.missing)
      events.warning(log::site::testOutput,
                     "Missing true_pos for label: " + std::to_string(label));
    done.outputs = std::move(result.outputs);
    if (solver.show_per_class_result())
      done.classes = std::move(result.classes);
  }
  if (solver.test_compute_loss())
    done.loss = loss / batches;
  events.emit(done);
  return done;
}

} // namespace brew::runtime
