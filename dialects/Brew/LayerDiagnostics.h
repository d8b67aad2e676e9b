//===- LayerDiagnostics.h - A layer and its location, in words --------*- C++ -*-===//
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

#include <string>

namespace brew::dialects {

/// "layer 'NAME' (TYPE): ". The type is the name in the operation's location,
/// where the importer puts it; without one it is left out.
std::string layerPrefix(mlir::Operation *op);

/// Begins a warning as layerError() begins an error.
mlir::InFlightDiagnostic layerWarning(mlir::Operation *op);

/// The first location in a prototxt of one of MLIR's; null if there is none.
mlir::FileLineColLoc prototxtLocation(mlir::Location loc);

} // namespace brew::dialects
