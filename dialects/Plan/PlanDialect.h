//===- PlanDialect.h - The plan dialect -------------------------*- C++ -*-===//
#pragma once

#include "dialects/Plan/PlanAttributes.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"

#include "dialects/Plan/PlanDialect.h.inc"

namespace brew::dialects::plan {
/// The resource of values that the caller of a program reads.
struct HostResource : mlir::SideEffects::Resource::Base<HostResource> {
  llvm::StringRef getName() final { return "Host"; }
};
} // namespace brew::dialects::plan

#include "dialects/Plan/PlanInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.h.inc"
