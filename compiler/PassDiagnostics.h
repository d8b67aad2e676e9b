//===- PassDiagnostics.h - Conversion of MLIR's diagnostics -----*- C++ -*-===//
#pragma once

#include "compiler/Result.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"

#include <optional>

namespace brew::compiler {

/// Returns the first prototxt location within an MLIR location.
prototxt::SourceLocation sourceOf(mlir::Location loc);

/// Diagnostic handler for an MLIRContext. Reports equal diagnostics once, since
/// several programs may contain the faulty layer.
class PassDiagnostics {
public:
  explicit PassDiagnostics(Reporter &reporter) : reporter(reporter) {}

  void operator()(mlir::Diagnostic &diagnostic);

  /// Returns the exit status after a failed pass: that of the first error that
  /// has one, otherwise BadInput.
  ExitStatus exitStatus() const {
    return status.value_or(ExitStatus::BadInput);
  }

private:
  Reporter &reporter;
  std::optional<ExitStatus> status;
  llvm::StringSet<> reportedTexts;
};

} // namespace brew::compiler
