//===- StepBuffers.cpp - Buffers that a step accesses ---------------------===//
#include "plan/StepBuffers.h"

using namespace brew;
using namespace brew::plan;

std::vector<std::uint32_t> plan::buffersOf(const Step &step) {
  std::vector<std::uint32_t> buffers;
  auto add = [&](const auto &indices) {
    buffers.insert(buffers.end(), indices.begin(), indices.end());
  };
  auto addOperands = [&](const auto &call) {
    buffers = {call.x_buffer_index(), call.w_buffer_index()};
    if (call.has_b_buffer_index())
      buffers.push_back(call.b_buffer_index());
    buffers.push_back(call.y_buffer_index());
  };
  switch (step.action_case()) {
  case Step::kLaunch:
    add(step.launch().buffer_indices());
    break;
  case Step::kConvolution:
    addOperands(step.convolution());
    break;
  case Step::kInnerProduct:
    addOperands(step.inner_product());
    break;
  case Step::kCopy:
    buffers = {step.copy().source_buffer_index(),
               step.copy().target_buffer_index()};
    break;
  case Step::kZero:
    buffers = {step.zero().buffer_index()};
    break;
  case Step::kAllReduce:
    add(step.all_reduce().source_buffer_indices());
    add(step.all_reduce().buffer_indices());
    break;
  case Step::kHost: {
    const HostCall &call = step.host();
    add(call.bottom_buffer_indices());
    add(call.top_buffer_indices());
    add(call.top_gradient_buffer_indices());
    for (const auto &gradient : call.bottom_gradients())
      buffers.push_back(gradient.buffer_index());
    break;
  }
  case Step::ACTION_NOT_SET:
    break;
  }
  return buffers;
}
