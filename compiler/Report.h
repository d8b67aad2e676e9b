//===- Report.h - What a compilation tells about its result -----*- C++ -*-===//
#pragma once

#include "runtime/plan/plan.pb.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace brew::compiler {

/// Figures of every program, as JSON (DESIGN: `--report=json`). With `bare`, a
/// single program's blobs and parameters stand at top level too. `module` is in
/// phase plan and `manifest` was built from it. `workspace_bytes` is null: what
/// a vendor library needs is known only where it is loaded. `cuda`: the plan is
/// for a GPU, so that host layers need copies.
void printJsonReport(mlir::ModuleOp module, const plan::Manifest &manifest,
                     bool bare, bool cuda, llvm::raw_ostream &os);

/// The same for people.
void printTextReport(const plan::Manifest &manifest, bool cuda,
                     llvm::raw_ostream &os);

/// The same as one HTML page without outside references.
void printHtmlReport(const plan::Manifest &manifest, bool cuda,
                     llvm::raw_ostream &os);

} // namespace brew::compiler
