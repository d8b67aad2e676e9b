//===- LibraryCalls.h - Which operations become vendor calls ----*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/layers/convolution/Convolution.h"

#include <string>

namespace brew::passes {

/// On a call: the dialects::plan::GeneratedAttr of a kernel that may take its
/// place.
inline constexpr llvm::StringLiteral kGeneratedAttr = "brew.generated";

/// Channels of a group up to which libraries are weak: their kernels take more
/// at a time.
inline constexpr int64_t kFewChannels = 4;

/// Replaces `op`, which gives a bias gradient, by one that does not; `sum` is
/// what takes its place.
dialects::ConvolutionBackwardWeightsOp
splitBiasGradient(dialects::ConvolutionBackwardWeightsOp op, mlir::Value sum);

/// Whether `op` is to be computed by the vendor library: it has such a call,
/// its element type and layouts are supported, and `disabled` (group names, or
/// "all") does not exclude it.
bool usesLibrary(mlir::Operation *op, llvm::ArrayRef<std::string> disabled);

/// Puts casts around a product of narrow operands that is no vendor call: its
/// generic form computes in f32.
void computeInF32(mlir::Operation *op);

/// Whether the vendor's call that reads `use`, or whose result `part` is, takes
/// a part of a joined or cut tensor where that lies: on a GPU the blobs of
/// convolutions, on a CPU the results of some of them (others through a copy of
/// the runtime's, as where Winograd's algorithms are not to be used). Channels
/// are side by side. `type` is the part's, `offset` counts the elements before
/// its first in what it is a part of: the part, and each of its pixels, must
/// begin where a widest access may, and its channels fill such accesses.
bool readsSliceInPlace(mlir::OpOperand &use, mlir::RankedTensorType type,
               int64_t offset);
bool writesSliceInPlace(mlir::Value part, mlir::RankedTensorType type, int64_t offset);

} // namespace brew::passes
