//===- Programs.h - The nets of a solver ------------------------*- C++ -*-===//
//
// A solver has one training net and any number of test nets, in several fields.
// expandSolver() finds them as Caffe's Solver does.
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
  /// The origin of the net, as in Caffe's log: "net file: NAME",
  /// "test_net_param", ...
  std::string source = {};
  /// The cause of this program: the solver's net field or test_iter.
  SourceLocation cause;
};

/// Returns the training net, then the test nets in Caffe's order:
/// test_net_param, test_net, and net or net_param for the remaining test_iter.
/// The state of a net is its phase, merged with the net's own `state`, then
/// with train_state or test_state. The options apply to the training net, as
/// Caffe's flags do.
///
/// Net files are looked up from the working directory, then from the solver's
/// folder. For a missing file, throws brew::Error (status 3) with the location
/// of its name. `netOverride` replaces the solver's `net`, and its training net
/// if that is a separate one. Programs whose file could not be parsed are
/// missing from the result; see `diagnostics`. `hostTypes` are layer types that
/// the host program computes.
std::vector<Program>
expandSolver(const SolverDocument &solver, Diagnostics &diagnostics,
             const StateOptions &options = {},
             std::shared_ptr<const NetDocument> netOverride = nullptr,
             const std::set<std::string> &hostTypes = {});

} // namespace brew::prototxt
