//===- TrainerDistributedTest.cpp - Tests that ranks share ---------------------===//
//
// Batch i of a test is computed by rank i modulo N; all ranks read all records,
// so that each has the ones that it would have alone. Rank 0 adds the outputs
// up in the order of batches: the results are those of a test of its own.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/Trainer.h"

#include "runtime/comm/Communicator.h"
#include "runtime/session/NetOutputs.h"
#include "support/Error.h"

#include <cstring>

namespace brew::runtime {
namespace {

/// Outputs of batches, one behind the other, as bytes for another rank.
class PackedOutputs {
public:
  PackedOutputs() = default;
  explicit PackedOutputs(std::string given) : bytes(std::move(given)) {}

  void add(double loss, const std::vector<OutputValue> &outputs) {
    put(loss);
    for (const OutputValue &output : outputs)
      put(output.value);
  }
  /// Gives the values of the next batch to `outputs`; returns its loss.
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
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  }

  std::string bytes;
  std::size_t at = 0;
};

} // namespace

bool Trainer::distributesTests() const {
  return options.distributeTests && rankCount() > 1;
}

/// What training leaves different on each rank (statistics of BatchNorm) is
/// rank 0's in tests.
void Trainer::broadcastStatistics() {
  for (const plan::Parameter &parameter : executor.manifest().parameters())
    if (!parameter.has_gradient_buffer_index())
      executor.modify(parameter.buffer_index(), [&](std::byte *bytes) {
        ranks->broadcast(
            bytes, executor.manifest()
                       .buffers(static_cast<int>(parameter.buffer_index()))
                       .size());
      });
  session.prepare(); // what test programs derive from weights is out of date
}

std::optional<event::TestDone> Trainer::runDistributedTest(int index, int batches) {
  TestNet &net = nets[static_cast<std::size_t>(index)];
  if (isRoot())
    events.emit(event::TestBegin{currentIteration, index});
  PackedOutputs own;
  std::vector<OutputValue> outputs; // of a batch; rank 0 has the first one
  for (int i = 0; i < batches; ++i) {
    if (i % rankCount() == 0 && pollRequests(/*snapshotDue=*/false,
                                             /*all=*/true)) {
      if (isRoot())
        events.emit(event::TestInterrupted{currentIteration, index});
      return {};
    }
    reportProgress();
    net.pipeline->feed();
    if (i % rankCount() != ranks->rank())
      continue;
    executor.run(net.program);
    if (net.debug)
      net.debug->logForward();
    outputs = readOutputs(executor, net.program);
    own.add(solver.test_compute_loss() ? totalLoss(executor, net.program) : 0,
            outputs);
  }
  std::vector<PackedOutputs> packed;
  for (std::string &text : ranks->gatherTexts(own.text()))
    packed.emplace_back(std::move(text));
  if (!isRoot())
    return {};
  OutputMeans means;
  double loss = 0;
  for (int i = 0; i < batches; ++i) {
    loss += packed[static_cast<std::size_t>(i % rankCount())].take(outputs);
    means.add(outputs);
  }
  event::TestDone done{currentIteration, index, {}, means.means()};
  if (solver.test_compute_loss())
    done.loss = loss / batches;
  events.emit(done);
  return done;
}

} // namespace brew::runtime
