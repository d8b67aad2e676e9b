//===- PlanConstants.h - Constants inside a plan ----------------*- C++ -*-===//
#pragma once

#include "plan/plan.pb.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace brew::compiler {

/// Adds the values of `plan.constant` as a segment, from which the runtime
/// initialises the constant arena. No-op without such an arena.
void addConstants(mlir::ModuleOp module, plan::Manifest &manifest,
                  std::vector<std::string> &segments);

} // namespace brew::compiler
