//===- SolverRules.cpp - Conflicts between solver fields ------------------===//

#include "caffe/SolverRules.h"

namespace brew::caffe {
namespace {

using Conflicts = std::vector<SolverConflict>;

void checkType(const caffe::SolverParameter &solver, Conflicts &conflicts) {
  const std::string &type = solver.type();
  if ((type == "AdaGrad" || type == "RMSProp") && solver.momentum() != 0)
    conflicts.push_back({"momentum", "momentum cannot be used with " + type});
  if (type == "RMSProp" && !(solver.rms_decay() >= 0 && solver.rms_decay() < 1))
    conflicts.push_back(
        {"rms_decay", "rms_decay must be at least 0 and below 1"});
}

void checkRates(const caffe::SolverParameter &solver, Conflicts &conflicts) {
  const std::string &policy = solver.lr_policy();
  if (solver.warmup_iter() > 0 && solver.rampup_interval() > 0)
    conflicts.push_back(
        {"rampup_interval", "rampup_interval cannot be used with warmup_iter"});
  if (!(solver.min_lr() >= 0))
    conflicts.push_back({"min_lr", "min_lr must be at least 0"});
  else if (policy == "poly" && solver.min_lr() > solver.base_lr())
    conflicts.push_back(
        {"min_lr", "min_lr must not exceed base_lr, with lr_policy 'poly'"});
  if (policy == "sgdr" && !(solver.p_mult() > 0))
    conflicts.push_back({"p_mult", "p_mult must be above 0"});
}

void checkLocalRates(const caffe::SolverParameter &solver,
                     Conflicts &conflicts) {
  const char *field = solver.larc() ? "larc" : "local_lr_auto";
  if (solver.larc() && solver.local_lr_auto())
    conflicts.push_back({"larc", "larc cannot be used with local_lr_auto"});
  // The forks ignore the fields with other types.
  if ((solver.larc() || solver.local_lr_auto()) && solver.type() != "SGD")
    conflicts.push_back({field, std::string(field) + " cannot be used with " +
                                    solver.type() +
                                    "; only SGD has local learning rates"});
  if (solver.larc_policy() != "scale" && solver.larc_policy() != "clip")
    conflicts.push_back({"larc_policy", "unknown larc_policy '" +
                                            solver.larc_policy() +
                                            "' (known: scale, clip)"});
}

} // namespace

Conflicts solverConflicts(const caffe::SolverParameter &solver) {
  Conflicts conflicts;
  checkType(solver, conflicts);
  checkRates(solver, conflicts);
  checkLocalRates(solver, conflicts);
  return conflicts;
}

} // namespace brew::caffe
