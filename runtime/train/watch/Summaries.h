//===- Summaries.h - What TensorBoard shows of a net ------------*- C++ -*-===//
#pragma once

#include "formats/Blob.h"
#include "formats/tensorboard.pb.h"
#include "plan/PlanFile.h"

#include <optional>
#include <vector>

namespace brew::runtime {

/// How the finite values are distributed, in buckets of equal width; nothing if
/// there are none.
std::optional<tensorboard::Histogram> histogramOf(const formats::Blob &blob);

/// Filters [K,C,R,S] side by side, each with the same range of values from
/// black to white: of three channels (B,G,R) in colour, else every channel in
/// grey. At most kMostTiles; nothing for another shape, or where a value is not
/// finite.
inline constexpr std::int64_t kMostTiles = 1024;
std::optional<tensorboard::Summary::Image>
filterImage(const formats::Blob &blob);

/// A node for each layer of the program (Split layers too), whose inputs are
/// the layers that make its bottoms.
tensorboard::GraphDef graphOf(const plan::Program &program);

} // namespace brew::runtime
