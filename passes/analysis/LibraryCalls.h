//===- LibraryCalls.h - Selection of vendor calls ---------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/layers/convolution/Convolution.h"

#include <string>

namespace brew::passes {

/// Attribute of a call: the plan::GeneratedAttr of an alternative kernel.
inline constexpr llvm::StringLiteral kGeneratedAttr = "brew.generated";

/// Libraries are slow for groups of at most this many channels: their kernels
/// process more at a time.
inline constexpr int64_t kFewChannels = 4;

/// Replaces `op` by an operation without a bias gradient, whose users then read
/// `sum`.
dialects::ConvolutionBackwardWeightsOp
splitBiasGradient(dialects::ConvolutionBackwardWeightsOp op, mlir::Value sum);

/// Returns whether the vendor library computes `op`: it has a call, the library
/// supports its element type and layouts, and `disabled` (group names, or
/// "all") does not exclude it.
bool usesLibrary(mlir::Operation *op, llvm::ArrayRef<std::string> disabled);

/// Casts the operands and results of a product that is not a vendor call: its
/// generic form computes in f32.
void computeInF32(mlir::Operation *op);

/// Return whether the vendor call that reads `use`, or that produces `slice`,
/// accesses a slice of a concatenated tensor in place. On a GPU, convolutions
/// access their blobs in place. On a CPU, some convolutions write their results
/// in place; others go through a copy, for example if Winograd algorithms are
/// disabled. The channels must be innermost. `type` is the type of the slice,
/// `offset` its offset in elements: the slice and each of its pixels must be
/// aligned for the widest access, and the channels must be a multiple of it.
bool readsSliceInPlace(mlir::OpOperand &use, mlir::RankedTensorType type,
                       int64_t offset);
bool writesSliceInPlace(mlir::Value slice, mlir::RankedTensorType type,
                        int64_t offset);

} // namespace brew::passes
