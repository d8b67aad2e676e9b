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
    addCopy(program, from, to);
    program.mutable_steps()->rbegin()->add_layers(layer);
  };
  copy(x, before, "first");
  plan::HostCall call;
  call.set_type("Own");
  call.set_layer("own");
  call.set_settings("name: \"own\" type: \"Own\"");
  call.set_param_str("text");
  call.set_direction(plan::FORWARD);
  call.set_bottom_count(1);
  call.set_top_count(1);
  plan::Step &forward = *program.add_steps();
  forward.add_layers("own");
  *forward.mutable_host() = call;
  addOperand(forward, before, plan::Operand::READ);
  addOperand(forward, y, plan::Operand::WRITE);
  copy(y, after, "last");
  program.set_first_backward_step(3);
  call.set_direction(plan::BACKWARD_DATA);
  call.add_gradient_bottoms(0);
  plan::Step &backward = *program.add_steps();
  backward.add_layers("own");
  backward.set_backward(true);
  *backward.mutable_host() = call;
  for (auto read : {before, y, dy})
    addOperand(backward, read, plan::Operand::READ);
  addOperand(backward, dx, plan::Operand::WRITE);
  return b.bytes();
}

} // namespace brew::test
