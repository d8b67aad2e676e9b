//===- DistributedTest.cpp - Tests distributed over ranks -----------------===//

#include "runtime/train/SolverTests.h"

#include "runtime/session/NetOutputs.h"
#include "runtime/train/RankExchange.h"

#include <cstring>

namespace brew::runtime {
namespace {

/// Outputs of several batches as bytes, to send to another rank.
class PackedOutputs {
public:
  PackedOutputs() = default;
  explicit PackedOutputs(std::string packed) : bytes(std::move(packed)) {}

  void add(double loss, const std::vector<OutputValue> &outputs) {
    put(loss);
    for (const OutputValue &output : outputs)
      put(output.value);
  }
  /// Reads the next batch's values into `outputs`; returns its loss.
  double take(std::vector<OutputValue> &outputs) {
    const auto loss = get<double>();
    for (OutputValue &output : outputs)
      output.value = get<double>();
    return loss;
  }
  const std::string &text() const { return bytes; }

private:
  template <typename Value> void put(Value value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  template <typename Value> Value get() {
    Value value;
    std::memcpy(&value, bytes.data() + position, sizeof value);
    position += sizeof value;
    return value;
  }

  std::string bytes;
  std::size_t position = 0;
};

} // namespace

void SolverTests::prepareDistributed() {
  broadcastStatistics(session, ranks);
  session.prepare(); // test programs derive values from weights
}

std::optional<event::TestDone>
SolverTests::runDistributed(int index, int batches,
                            const Interrupt &interrupt) {
  const Net &net = netOf(index);
  if (ranks.isRoot())
    events.emit(event::TestBegin{state.iteration, index});
  PackedOutputs ownOutputs;
  std::vector<OutputValue> outputs; // of a batch; rank 0 computes the first one
  for (int i = 0; i < batches; ++i) {
    if (i % ranks.count() == 0 && interrupt()) {
      if (ranks.isRoot())
        events.emit(event::TestInterrupted{state.iteration, index});
      return {};
    }
    ranks.reportProgress();
    net.inputs->feed();
    if (i % ranks.count() != ranks.rank())
      continue;
    executor.run(net.program);
    if (net.debug)
      net.debug->logForward();
    outputs = readOutputs(executor, net.program);
    ownOutputs.add(solver.test_compute_loss() ? totalLoss(executor, net.program)
                                              : 0,
                   outputs);
  }
  std::vector<PackedOutputs> packed;
  for (std::string &text : ranks.gatherTexts(ownOutputs.text()))
    packed.emplace_back(std::move(text));
  if (!ranks.isRoot())
    return {};
  OutputMeans means;
  double loss = 0;
  for (int i = 0; i < batches; ++i) {
    loss += packed[static_cast<std::size_t>(i % ranks.count())].take(outputs);
    means.add(outputs);
  }
  event::TestDone done{state.iteration, index, {}, means.means()};
  if (solver.test_compute_loss())
    done.loss = loss / batches;
  events.emit(done);
  return done;
}

} // namespace brew::runtime
