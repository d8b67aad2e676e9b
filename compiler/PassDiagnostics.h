//===- PassDiagnostics.h - MLIR's diagnostics as the compiler's -*- C++ -*-===//
#pragma once

#include "compiler/Result.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"

#include <optional>

namespace brew::compiler {

/// The first location in a prototxt of one of MLIR's.
prototxt::SourceLocation sourceOf(mlir::Location loc);

/// A handler for an MLIRContext. What is wrong with a layer is wrong in every
/// program that has it, and said once.
class PassDiagnostics {
public:
  explicit PassDiagnostics(Reporter &reporter) : reporter(reporter) {}

  void operator()(mlir::Diagnostic &diagnostic);

  /// How a failed pass should end: what the first error says that knows, else
  /// that the input is wrong.
  ExitStatus exitStatus() const {
    return status.value_or(ExitStatus::BadInput);
  }

private:
  Reporter &reporter;
  std::optional<ExitStatus> status;
  llvm::StringSet<> seen;
};

} // namespace brew::compiler
