//===- brew.hpp - Brew's runtime as a library, in C++ -----------*- C++ -*-===//
//
//   brew::api::Plan plan("net.plan");
//   brew::api::Session session(plan);
//   session.initialise();
//   const int program = plan.program("deploy");
//   session.setInput(program, "data", image);
//   session.feedAndRun(program);
//   std::vector<float> probabilities = session.read(session.blob(program,
//   "prob"));
//
// Header-only, over brew.h, which documents meaning, ownership and threads.
// Errors are thrown as brew::api::Error. Handles can be moved, not copied. The
// call that invoked a listener or another callback rethrows the callback's
// exception when it returns. The headers included below may also be included
// one by one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/base.hpp>
#include <brew/brew.h>
#include <brew/communicator.hpp>
#include <brew/device.hpp>
#include <brew/embedding.hpp>
#include <brew/events.hpp>
#include <brew/host_layer.hpp>
#include <brew/options.hpp>
#include <brew/plan.hpp>
#include <brew/records.hpp>
#include <brew/reinforcement.hpp>
#include <brew/session.hpp>
#include <brew/solver.hpp>
#include <brew/support.hpp>
#include <brew/tensors.hpp>
#include <brew/training.hpp>
#include <brew/weights.hpp>
