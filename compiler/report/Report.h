//===- Report.h - What a compilation tells about its result -----*- C++ -*-===//
#pragma once

#include "compiler/kernels/AccessBytes.h"
#include "dialects/Target/TargetEnums.h"
#include "plan/plan.pb.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace brew::compiler {

/// How the kernels of a manifest, in its order, move what they read and write;
/// none where that is not known.
using KernelAccesses = std::vector<std::vector<TensorAccess>>;

/// What is reported about.
struct ReportSubject {
  mlir::ModuleOp module;          ///< in phase plan
  const plan::Manifest &manifest; ///< built from it
  dialects::target::Precision precision = dialects::target::Precision::F32;
  bool cuda = false; ///< for a GPU, so that host layers need copies
  bool singlePhase = false; ///< of one phase alone
  /// On a CPU, whether the runtime may take Winograd's algorithms.
  bool winograd = false;
  const KernelAccesses &accesses;
};

/// Figures of every program, as JSON (`--report=json`). Where the subject is
/// bare, its only program's blobs and parameters stand at top level too.
/// `workspace_bytes` is what of the vendor calls' scratch the compiler knows;
/// null for a GPU, where that is nothing.
void printJsonReport(const ReportSubject &subject, llvm::raw_ostream &os);

/// The same for people.
void printTextReport(const ReportSubject &subject, llvm::raw_ostream &os);

} // namespace brew::compiler
