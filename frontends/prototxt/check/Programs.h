//===- Programs.h - The nets that a solver runs -----------------*- C++ -*-===//
//
// A solver trains one net and tests any number of nets, named in several ways.
// This expands them as Caffe's Solver does: one filtered net for training and
// one for each test.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/check/NetFilter.h"
#include "frontends/prototxt/check/SolverDocument.h"

#include <memory>
#include <string>
#include <vector>

namespace brew::prototxt {

struct Program {
  int test = -1; ///< number of the test net; -1: the training net
  FilteredNet net;
  int testIterations = 0; ///< batches per test; 0 for the training net
  /// Where the net stands, in the words of Caffe's log: "net file: NAME",
  /// "test_net_param", ...
  std::string source = {};
  /// What asked for this program: the solver's net field or test_iter.
  SourceLocation cause;
};

/// The training net first, then the test nets in Caffe's order: test_net_param,
/// test_net, and net or net_param for the test_iter that remain. A state starts
/// with the phase, then takes the net's own `state`, then train_state or
/// test_state; the options go to the training net, as Caffe's flags do.
///
/// Net files are looked up from the working directory, then from the solver's
/// folder; a file that is not there throws brew::Error (status 3) with the
/// location that names it. With `netOverride` that net stands for the solver's
/// `net` (and for its training net, if it has a separate one). Programs whose
/// file could not be parsed are missing from the result; see `diagnostics`.
/// `hostTypes` are layer types that the program computes itself.
std::vector<Program>
expandSolver(const SolverDocument &solver, Diagnostics &diagnostics,
             const StateOptions &options = {},
             std::shared_ptr<const NetDocument> netOverride = nullptr,
             const std::set<std::string> &hostTypes = {});

} // namespace brew::prototxt
