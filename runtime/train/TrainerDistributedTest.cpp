//===- TrainerDistributedTest.cpp - Tests distributed over ranks ----------===//
//
// With N ranks, rank i modulo N computes batch i of a test. All ranks read all
// records, so that each batch has the same records as on one rank. Rank 0 adds
// the outputs in batch order, so that the results are the same as if rank 0
// computed all batches.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/Trainer.h"

#include "runtime/comm/Communicator.h"
#include "runtime/session/NetOutputs.h"
#include "support/Error.h"

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

bool Trainer::distributesTests() const {
  return options.distributeTests && rankCount() > 1;
}

/// Broadcasts rank 0's BatchNorm statistics, which differ between ranks, for
/// the tests.
void Trainer::broadcastStatistics() {
  for (const plan::Parameter &parameter : executor.manifest().parameters())
    if (!parameter.has_gradient_buffer_index())
      executor.modify(parameter.buffer_index(), [&](std::byte *bytes) {
        ranks->broadcast(
            bytes, executor.manifest()
                       .buffers(static_cast<int>(parameter.buffer_index()))
                       .size());
      });
  session.prepare(); // test programs derive values from weights
}

std::optional<event::TestDone> Trainer::runDistributedTest(int index,
                                                           int batches) {
  TestNet &net = nets[static_cast<std::size_t>(index)];
  if (isRoot())
    events.emit(event::TestBegin{currentIteration, index});
  PackedOutputs ownOutputs;
  std::vector<OutputValue> outputs; // of a batch; rank 0 computes the first one
  for (int i = 0; i < batches; ++i) {
    if (i % rankCount() == 0 && pollRequests(/*snapshotDue=*/false,
                                             /*onAllRanks=*/true)) {
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
    ownOutputs.add(solver.test_compute_loss() ? totalLoss(executor, net.program)
                                              : 0,
                   outputs);
  }
  std::vector<PackedOutputs> packed;
  for (std::string &text : ranks->gatherTexts(ownOutputs.text()))
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
