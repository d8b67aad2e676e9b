//===- BuildManifest.h - Manifest of a plan from a module -------*- C++ -*-===//
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

/// Plan metadata that is not in the module.
struct PlanMetadata {
  std::string netName;
  std::string input; ///< name of the compiled prototxt
  bool f64 = false;
  std::optional<caffe::SolverParameter> solver;
  std::string solverFolder;
  std::string initialWeights; ///< of a training plan
  std::string initialWeightsFolder;
  /// The transforms of Input layers, by layer.
  std::map<std::string, plan::InputTransform> inputTransforms;
  /// Metadata of the programs' nets, by program name.
  std::map<std::string, prototxt::NetMetadata> records;
};

/// Builds the manifest of a module in phase plan. `kernels` are the generated
/// kernels, one per plan.kernel in order. The caller fills in the target,
/// except for its precision.
plan::Manifest buildManifest(mlir::ModuleOp module,
                             const std::vector<plan::Kernel> &kernels,
                             const PlanMetadata &metadata);

} // namespace brew::compiler
