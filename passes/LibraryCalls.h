//===- LibraryCalls.h - Which operations become vendor calls -----*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#include <string>

namespace brew {

/// Whether `op` is to be computed by the vendor library: it has such a call, its
/// element type and layouts are supported, and `disabled` (group names, or
/// "all") does not exclude it.
bool usesLibrary(mlir::Operation *op, llvm::ArrayRef<std::string> disabled);

} // namespace brew
