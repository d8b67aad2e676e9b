//===- SolverRules.h - Conflicts between solver fields ----------*- C++ -*-===//
//
// Constraints of Caffe and its forks on a solver's fields. They are checked
// when the prototxt is compiled (with a location) and when a run changes the
// fields.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"

#include <string>
#include <vector>

namespace brew::caffe {

struct SolverConflict {
  const char *field; ///< the field of SolverParameter to change
  std::string text;
};

/// Returns the conflicts between fields, or with the solver's type.
std::vector<SolverConflict>
solverConflicts(const caffe::SolverParameter &solver);
} // namespace brew::caffe
