//===- Convolution.h - Convolution and inner product ------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/ItemCounts.h"
#include "dialects/Brew/PrecisionInterface.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/convolution/Convolution.h.inc"

namespace brew::dialects {

/// Attribute of a convolution of one group whose bottom and weights are padded
/// with channels of zeros (brew-pad-channels): the number of channels without
/// the padding.
inline constexpr llvm::StringLiteral kUnpaddedChannelsAttr =
    "brew.unpadded_channels";

} // namespace brew::dialects
