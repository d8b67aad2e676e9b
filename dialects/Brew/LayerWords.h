//===- LayerWords.h - A layer in the words of a diagnostic ------*- C++ -*-===//
#pragma once

#include "mlir/IR/Operation.h"

#include <string>

namespace brew::ir {

/// "layer 'NAME' (TYPE): ". The type is the name in the operation's location,
/// where the importer puts it; without one it is left out.
std::string layerWords(mlir::Operation *op);

} // namespace brew::ir
