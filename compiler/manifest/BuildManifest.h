//===- BuildManifest.h - From the plan dialect to a plan file -------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "frontends/prototxt/check/NetMetadata.h"
#include "plan/plan.pb.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace brew::compiler {

/// What goes into a plan beside the module.
struct PlanMetadata {
  std::string netName;
  std::string input; ///< what brewc was given
  bool f64 = false;
  std::optional<caffe::SolverParameter> solver;
  std::string solverFolder;
  std::string initialWeights; ///< recorded for a training plan
  std::string initialWeightsFolder;
  /// The programs' nets, by the programs' names.
  std::map<std::string, prototxt::NetMetadata> records;
};

/// The manifest of a module in phase plan; `kernels` are its generated
/// kernels, one for each plan.kernel in order. The target but for its precision
/// is left to the caller.
plan::Manifest buildManifest(mlir::ModuleOp module,
                             const std::vector<plan::Kernel> &kernels,
                             const PlanMetadata &info);

} // namespace brew::compiler
