//===- Summaries.h - TensorBoard summaries of a net -------------*- C++ -*-===//
#pragma once

#include "formats/Blob.h"
#include "formats/tensorboard.pb.h"
#include "plan/PlanFile.h"

#include <optional>
#include <vector>

namespace brew::runtime {

/// Returns the distribution of the finite values in buckets of equal width;
/// nullopt if there are none.
std::optional<tensorboard::Histogram> histogramOf(const formats::Blob &blob);

/// The maximum number of tiles in the image of filterImage().
inline constexpr std::int64_t kMaxTiles = 1024;

/// Tiles filters [K,C,R,S] into one image: filters of three channels (B,G,R) in
/// colour, else every channel in grey. The smallest value of all filters is
/// black, and the largest is white. Shows at most kMaxTiles tiles. Returns
/// nullopt if the blob does not have four dimensions, if the image would be too
/// large, or if a value is not finite.
std::optional<tensorboard::Summary::Image>
filterImage(const formats::Blob &blob);

/// Returns a graph with one node per layer of the program (Split layers too).
/// The inputs of a node are the layers that produce the bottoms.
tensorboard::GraphDef graphOf(const plan::Program &program);

} // namespace brew::runtime
