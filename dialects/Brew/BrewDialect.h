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
/// An operation that makes values of a program visible outside of it: stores,
/// pins, checks or outputs them.
template <typename Op> struct IsSink : mlir::OpTrait::TraitBase<Op, IsSink> {};
/// A sink that writes its one operand to memory that outlives programs. The
/// operands of other sinks are read after the run.
template <typename Op>
struct IsStore : mlir::OpTrait::TraitBase<Op, IsStore> {};
/// An operation whose one result is memory that outlives programs.
template <typename Op>
struct IsPersistentRead : mlir::OpTrait::TraitBase<Op, IsPersistentRead> {};
/// An operation without operands, whose results the host writes for each run.
template <typename Op>
struct IsInput : mlir::OpTrait::TraitBase<Op, IsInput> {};
/// An operation without computation, whose one result occupies the bytes of its
/// operands.
template <typename Op> struct IsView : mlir::OpTrait::TraitBase<Op, IsView> {};
/// An operation that reads and writes subviews (see dialects/SubviewType.h)
/// through their strides.
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

/// Attribute of a layer whose parameters have this rank in weight files.
inline constexpr llvm::StringLiteral kFileRankAttr = "brew.file_rank";
/// Attribute of a brew.param_value that gets a gradient despite lr_mult 0.
inline constexpr llvm::StringLiteral kGradientAttr = "brew.gradient";

/// Returns the memory order of a type's dimensions, outermost first; the
/// identity for a type without layout.
llvm::SmallVector<int64_t> memoryOrder(mlir::RankedTensorType type);
/// Returns the element strides of a dense tensor of that type, one per logical
/// dimension.
llvm::SmallVector<int64_t> memoryStrides(mlir::RankedTensorType type);
/// Returns the type with the memory order `order`, without encoding if that is
/// row-major up to dimensions of size 1.
mlir::RankedTensorType withMemoryOrder(mlir::RankedTensorType type,
                                       llvm::ArrayRef<int64_t> order);
/// Returns the type of a buffer for a tensor of that type.
mlir::MemRefType memrefTypeOf(mlir::RankedTensorType type);

/// Returns the shape of a ranked tensor.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value v) {
  return llvm::cast<mlir::RankedTensorType>(v.getType()).getShape();
}
inline mlir::RankedTensorType tensorTypeOf(mlir::Value v) {
  return llvm::cast<mlir::RankedTensorType>(v.getType());
}
inline mlir::Type elementTypeOf(mlir::Value v) {
  return llvm::cast<mlir::ShapedType>(v.getType()).getElementType();
}
/// Returns the number of elements of a static shape.
int64_t countOf(llvm::ArrayRef<int64_t> shape);

/// Returns the name of the program with this role; for ProgramRole::Test, that
/// of the test net with index `test`. A main program may have another name.
std::string programName(ProgramRole role, int test = 0);

/// Starts an error at `op` with "layer 'NAME' (TYPE): ".
mlir::InFlightDiagnostic layerError(mlir::Operation *op);

} // namespace brew::dialects
