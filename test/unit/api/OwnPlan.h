//===- OwnPlan.h - A plan with a host layer ---------------------*- C++ -*-===//
#pragma once

#include "PlanBuilder.h"

#include <string>

namespace brew::test {

/// x [2 x 2] -> layer "own" of type "Own" -> y, forward and backward, in
/// program "main". Gradients are readable as blobs "dy" and "dx".
inline std::string ownPlan(plan::DataType precision = plan::F32) {
  PlanBuilder b;
  b.manifest.mutable_target()->set_precision(precision);
  plan::Program &program = b.program("main");
  auto add = [&](const char *name) {
    const auto index = b.buffer(name, {2, 2}, {}, precision);
    plan::NamedBuffer &blob = *program.add_blobs();
    blob.set_name(name);
    blob.set_buffer_index(index);
    return index;
  };
  const auto x = add("x"), before = add("before"), y = add("y"),
             after = add("after"), dy = add("dy"), dx = add("dx");
  auto copy = [&](std::uint32_t from, std::uint32_t to, const char *layer) {
    plan::Step &step = *program.add_steps();
    step.add_layers(layer);
    step.mutable_copy()->set_source_buffer_index(from);
    step.mutable_copy()->set_target_buffer_index(to);
  };
  copy(x, before, "first");
  plan::HostCall call;
  call.set_type("Own");
  call.set_layer("own");
  call.set_settings("name: \"own\" type: \"Own\"");
  call.set_param_str("text");
  call.set_direction(plan::FORWARD);
  call.add_bottom_buffer_indices(before);
  call.add_top_buffer_indices(y);
  plan::Step &forward = *program.add_steps();
  forward.add_layers("own");
  *forward.mutable_host() = call;
  copy(y, after, "last");
  program.set_first_backward_step(3);
  call.set_direction(plan::BACKWARD_DATA);
  call.add_top_gradient_buffer_indices(dy);
  plan::HostCall::BottomGradient &gradient = *call.add_bottom_gradients();
  gradient.set_bottom(0);
  gradient.set_buffer_index(dx);
  plan::Step &backward = *program.add_steps();
  backward.add_layers("own");
  backward.set_backward(true);
  *backward.mutable_host() = call;
  return b.bytes();
}

} // namespace brew::test
