//===- Summaries.h - TensorBoard summaries of a net -------------*- C++ -*-===//
#pragma once

#include "formats/Blob.h"
#include "formats/tensorboard.pb.h"
#include "plan/PlanFile.h"

#include <optional>
#include <vector>

namespace brew::runtime {

/// The distribution of the finite values in buckets of equal width; nullopt if
/// there are none.
std::optional<tensorboard::Histogram> histogramOf(const formats::Blob &blob);

/// Tiles filters [K,C,R,S] into one image, with one black-to-white range:
/// filters of three channels (B,G,R) in colour, else every channel in grey. At
/// most kMostTiles. Nullopt for another shape, or if a value is not finite.
inline constexpr std::int64_t kMostTiles = 1024;
std::optional<tensorboard::Summary::Image>
filterImage(const formats::Blob &blob);

/// One node per layer of the program (Split layers too); its inputs are the
/// layers that produce its bottoms.
tensorboard::GraphDef graphOf(const plan::Program &program);

} // namespace brew::runtime
