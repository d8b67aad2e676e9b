//===- DiagnosticMetadata.h - What a diagnostic knows beside its text --*- C++ -*-===//
//
// The layer that a diagnostic is about and how a tool should end because of it
// travel with it as MLIR's metadata, so that whoever handles it need not read
// them out of the text.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "support/Error.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

#include <optional>

namespace brew::dialects {

inline void setLayer(mlir::InFlightDiagnostic &diagnostic,
                     mlir::StringAttr layer) {
  diagnostic.getUnderlyingDiagnostic()->getMetadata().emplace_back(
      mlir::Attribute(layer));
}

/// Without it an error means that the input is wrong.
inline void setExitStatus(mlir::InFlightDiagnostic &diagnostic,
                          ExitStatus status) {
  diagnostic.getUnderlyingDiagnostic()->getMetadata().emplace_back(
      static_cast<int>(status));
}

/// Empty if it is about no layer.
inline llvm::StringRef layerOf(mlir::Diagnostic &diagnostic) {
  for (const mlir::DiagnosticArgument &each : diagnostic.getMetadata())
    if (each.getKind() ==
        mlir::DiagnosticArgument::DiagnosticArgumentKind::Attribute)
      if (auto name = llvm::dyn_cast<mlir::StringAttr>(each.getAsAttribute()))
        return name.getValue();
  return "";
}

inline std::optional<ExitStatus> exitStatusOf(mlir::Diagnostic &diagnostic) {
  for (const mlir::DiagnosticArgument &each : diagnostic.getMetadata())
    if (each.getKind() ==
        mlir::DiagnosticArgument::DiagnosticArgumentKind::Integer)
      return static_cast<ExitStatus>(each.getAsInteger());
  return std::nullopt;
}

} // namespace brew::dialects
