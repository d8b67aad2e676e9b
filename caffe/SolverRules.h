//===- SolverRules.h - Conflicts between solver fields ----------*- C++ -*-===//
//
// Caffe's constraints on a solver's numbers. They are checked when the prototxt
// is compiled (with a location) and when a run changes the numbers.
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

/// Returns the conflicts with the solver's type, in the order of the fields.
inline std::vector<SolverConflict>
solverConflicts(const caffe::SolverParameter &solver) {
  std::vector<SolverConflict> conflicts;
  const std::string &type = solver.type();
  if ((type == "AdaGrad" || type == "RMSProp") && solver.momentum() != 0)
    conflicts.push_back({"momentum", "momentum cannot be used with " + type});
  if (type == "RMSProp" && !(solver.rms_decay() >= 0 && solver.rms_decay() < 1))
    conflicts.push_back(
        {"rms_decay", "rms_decay must be at least 0 and below 1"});
  return conflicts;
}

} // namespace brew::caffe
