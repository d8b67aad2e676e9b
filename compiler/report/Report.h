//===- Report.h - Reports about a compilation -------------------*- C++ -*-===//
#pragma once

#include "compiler/kernels/AccessBytes.h"
#include "compiler/report/Profile.h"
#include "dialects/Target/TargetEnums.h"
#include "plan/plan.pb.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace brew::compiler {

/// Memory accesses of each kernel of a manifest, in order; empty if unknown.
using KernelAccesses = std::vector<std::vector<TensorAccess>>;

/// Subject of a report.
struct ReportSubject {
  mlir::ModuleOp module;          ///< in phase plan
  const plan::Manifest &manifest; ///< built from `module`
  dialects::target::Precision precision = dialects::target::Precision::F32;
  bool cuda = false;        ///< for a GPU; host layers need copies
  bool singlePhase = false; ///< compiled with --phase
  /// Compiled for a CPU whose runtime may use Winograd's algorithms.
  bool winograd = false;
  const KernelAccesses &accesses;
  const MeasuredTimes *measured = nullptr; ///< null: none
};

/// Prints statistics of every program as JSON (`--report=json`). With
/// `singlePhase` the blobs and parameters of the only program also appear at
/// top level. `workspace_bytes` is the known scratch of library calls; null for
/// a GPU.
void printJsonReport(const ReportSubject &subject, llvm::raw_ostream &os);

/// Prints the statistics as text tables.
void printTextReport(const ReportSubject &subject, llvm::raw_ostream &os);

} // namespace brew::compiler
