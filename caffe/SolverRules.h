//===- SolverRules.h - Which solver fields exclude each other ---*- C++ -*-===//
//
// Caffe's rules about a solver's numbers, checked where the prototxt is
// compiled (with a place) and again where a run changes them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"

#include <string>
#include <vector>

namespace brew::caffe {

struct SolverConflict {
  const char *field; ///< of SolverParameter, the one to change
  std::string text;
};

/// What the solver's type does not go with, in the order of the fields.
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
