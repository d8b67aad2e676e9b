//===- LayerDiagnostics.h - Diagnostics of layers ---------------*- C++ -*-===//
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

#include <string>

namespace brew::dialects {

/// Returns "layer 'NAME' (TYPE): ". The type is the name in the operation's
/// location, as set by the importer; it is omitted if there is no name.
std::string layerPrefix(mlir::Operation *op);

/// Starts a warning with the same text as layerError().
mlir::InFlightDiagnostic layerWarning(mlir::Operation *op);

/// Returns the first prototxt location within `loc`, or null.
mlir::FileLineColLoc prototxtLocation(mlir::Location loc);

} // namespace brew::dialects
