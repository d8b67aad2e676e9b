//===- BrewDialect.h - The brew dialect -------------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/HostLayers.h"
#include "dialects/Plan/PlanAttributes.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace brew::dialects {
/// What values of a program end in: it stores, keeps, checks or gives them out.
template <typename Op> struct IsSink : mlir::OpTrait::TraitBase<Op, IsSink> {};
/// A sink that puts its one operand where it outlives programs; any other has
/// its operands read after the run.
template <typename Op>
struct IsStore : mlir::OpTrait::TraitBase<Op, IsStore> {};
/// Its one result is memory that outlives programs.
template <typename Op>
struct IsPersistentRead : mlir::OpTrait::TraitBase<Op, IsPersistentRead> {};
/// Computes nothing: its one result lies in the bytes of its operands.
template <typename Op> struct IsView : mlir::OpTrait::TraitBase<Op, IsView> {};
/// Reads and writes subviews (see dialects/SubviewType.h) by their strides.
template <typename Op>
struct AcceptsSubviews : mlir::OpTrait::TraitBase<Op, AcceptsSubviews> {};
} // namespace brew::dialects

#include "dialects/Brew/BrewDialect.h.inc"
#include "dialects/Brew/BrewEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Brew/BrewAttributes.h.inc"
#include "dialects/Brew/BrewInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/Brew/BrewOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Brew/BrewCore.h.inc"

namespace brew::dialects {

/// Order in memory of a type's dimensions, outermost first; the identity for a
/// type without layout.
llvm::SmallVector<int64_t> memoryOrder(mlir::RankedTensorType type);
/// Element strides of a dense tensor of that type, one per logical dimension.
llvm::SmallVector<int64_t> memoryStrides(mlir::RankedTensorType type);
/// The type with its dimensions laid out in `order` (no encoding if that is
/// row-major up to dimensions of size 1).
mlir::RankedTensorType withMemoryOrder(mlir::RankedTensorType type,
                                       llvm::ArrayRef<int64_t> order);
/// The memref a buffer of that type has.
mlir::MemRefType memrefTypeOf(mlir::RankedTensorType type);

/// Shape of a ranked tensor value.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value v) {
  return llvm::cast<mlir::RankedTensorType>(v.getType()).getShape();
}
inline mlir::RankedTensorType tensorTypeOf(mlir::Value v) {
  return llvm::cast<mlir::RankedTensorType>(v.getType());
}
inline mlir::Type elementTypeOf(mlir::Value v) {
  return llvm::cast<mlir::ShapedType>(v.getType()).getElementType();
}
/// Elements of a static shape.
int64_t countOf(llvm::ArrayRef<int64_t> shape);

/// The name of the program in a module that has this role; of several tests
/// that of number `test`. Main programs may have any other name too.
std::string programName(ProgramRole role, int test = 0);

/// Starts a diagnostic at `op` with Caffe's words: layer 'NAME' (TYPE): ...
mlir::InFlightDiagnostic layerError(mlir::Operation *op);

} // namespace brew::dialects
