//===- StepSequence.cpp - Steps that run again and again ------------------===//
#include "runtime/cuda/StepSequence.h"

#include "support/Error.h"

namespace brew::runtime::cuda {

void StepSequence::add(DeviceStep &step) {
  if (stretches.empty() || stretches.back().host)
    stretches.emplace_back();
  if (isHost(step))
    stretches.back().host = &step;
  else
    stretches.back().steps.push_back(&step);
}

void StepSequence::run(const Device &device, CUdeviceptr workspace,
                       const Stream &stream,
                       const std::function<void(const std::string &)> &warn) {
  for (Stretch &stretch : stretches) {
    auto enqueueAll = [&] {
      for (DeviceStep *step : stretch.steps)
        enqueue(*step, device, workspace, stream);
    };
    if (stretch.runs++ == 1 && capturable && !stretch.steps.empty()) {
      try {
        stretch.graph = Graph::capture(device, stream, enqueueAll);
      } catch (const Error &error) {
        capturable = false;
        warn(error.what());
      }
    }
    if (stretch.graph)
      stretch.graph.launch(stream);
    else
      enqueueAll();
    if (stretch.host)
      enqueue(*stretch.host, device, workspace, stream);
  }
}

std::size_t StepSequence::graphNodes() const {
  std::size_t nodes = 0;
  for (const Stretch &stretch : stretches)
    nodes += stretch.graph.nodes();
  return nodes;
}

} // namespace brew::runtime::cuda
