//===- DiagnosticMetadata.h - Layer and exit status of diagnostics --------===//
//
// A diagnostic carries the layer that it is about and the exit status that it
// implies as MLIR's metadata, so that handlers do not parse them from the text.
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

/// An error without a status means invalid input.
inline void setExitStatus(mlir::InFlightDiagnostic &diagnostic,
                          ExitStatus status) {
  diagnostic.getUnderlyingDiagnostic()->getMetadata().emplace_back(
      static_cast<int>(status));
}

/// Returns the layer's name, or "" if the diagnostic is not about a layer.
inline llvm::StringRef layerOf(mlir::Diagnostic &diagnostic) {
  for (const mlir::DiagnosticArgument &argument : diagnostic.getMetadata())
    if (argument.getKind() ==
        mlir::DiagnosticArgument::DiagnosticArgumentKind::Attribute)
      if (auto name =
              llvm::dyn_cast<mlir::StringAttr>(argument.getAsAttribute()))
        return name.getValue();
  return "";
}

inline std::optional<ExitStatus> exitStatusOf(mlir::Diagnostic &diagnostic) {
  for (const mlir::DiagnosticArgument &argument : diagnostic.getMetadata())
    if (argument.getKind() ==
        mlir::DiagnosticArgument::DiagnosticArgumentKind::Integer)
      return static_cast<ExitStatus>(argument.getAsInteger());
  return std::nullopt;
}

} // namespace brew::dialects
