//===- StridedCopy.cpp - Copying and zeroing of strided buffers -----------===//
#include "runtime/cpu/StridedCopy.h"

#include "support/Error.h"

#include <algorithm>
#include <cstring>

namespace brew::runtime {

/// Side of a tile in elements: two tiles of f32 use a few KiB of cache.
static constexpr std::int64_t kTile = 32;
/// Minimum number of bytes per thread.
static constexpr std::int64_t kThreadBytes = 32 << 10;

StridedCopy::StridedCopy(const plan::Buffer &sourceBuffer,
                         const std::byte *sourceData,
                         const plan::Buffer &targetBuffer,
                         std::byte *targetData)
    : source(sourceData), target(targetData),
      elementBytes(plan::elementSize(sourceBuffer.type())) {
  std::vector<Axis> axes;
  for (int d = 0; d < sourceBuffer.dims_size(); ++d)
    if (sourceBuffer.dims(d) > 1)
      axes.push_back({sourceBuffer.dims(d), sourceBuffer.strides(d),
                      targetBuffer.strides(d)});
  // Order the axes by the target's strides, outermost first, then merge
  // adjacent axes that are contiguous in both buffers.
  std::sort(axes.begin(), axes.end(),
            [](const Axis &a, const Axis &b) { return a.target > b.target; });
  std::vector<Axis> merged;
  for (const Axis &axis : axes) {
    if (!merged.empty() && merged.back().source == axis.dim * axis.source &&
        merged.back().target == axis.dim * axis.target)
      merged.back() = {merged.back().dim * axis.dim, axis.source, axis.target};
    else
      merged.push_back(axis);
  }
  if (merged.empty() ||
      (merged.size() == 1 && merged[0].source == 1 && merged[0].target == 1)) {
    contiguousBytes = static_cast<std::int64_t>(elementBytes) *
                      (merged.empty() ? 1 : merged[0].dim);
    return;
  }
  row = merged.back();
  merged.pop_back();
  // Tiling needs a second axis only if the source's innermost axis differs.
  auto fastest = std::min_element(
      merged.begin(), merged.end(),
      [](const Axis &a, const Axis &b) { return a.source < b.source; });
  if (fastest != merged.end() && fastest->source < row.source) {
    column = *fastest;
    merged.erase(fastest);
    rowTiles = (row.dim + kTile - 1) / kTile;
    columnTiles = (column.dim + kTile - 1) / kTile;
  }
  outer = std::move(merged);
  tiles = rowTiles * columnTiles;
  for (const Axis &axis : outer)
    tiles *= axis.dim;
}

template <typename Element>
void StridedCopy::copyTile(std::int64_t index) const {
  std::int64_t rowBegin = 0, rowEnd = row.dim;
  std::int64_t columnBegin = 0, columnEnd = column.dim;
  if (rowTiles * columnTiles > 1) {
    rowBegin = index % rowTiles * kTile;
    rowEnd = std::min(rowBegin + kTile, row.dim);
    index /= rowTiles;
    columnBegin = index % columnTiles * kTile;
    columnEnd = std::min(columnBegin + kTile, column.dim);
    index /= columnTiles;
  }
  std::int64_t sourceOffset = 0, targetOffset = 0;
  for (auto axis = outer.rbegin(); axis != outer.rend(); ++axis) {
    sourceOffset += index % axis->dim * axis->source;
    targetOffset += index % axis->dim * axis->target;
    index /= axis->dim;
  }
  const Element *in = reinterpret_cast<const Element *>(source) + sourceOffset;
  Element *out = reinterpret_cast<Element *>(target) + targetOffset;
  for (std::int64_t c = columnBegin; c < columnEnd; ++c) {
    const Element *inRow = in + c * column.source;
    Element *outRow = out + c * column.target;
    if (row.source == 1 && row.target == 1)
      std::memcpy(outRow + rowBegin, inRow + rowBegin,
                  static_cast<std::size_t>(rowEnd - rowBegin) *
                      sizeof(Element));
    else
      for (std::int64_t r = rowBegin; r < rowEnd; ++r)
        outRow[r * row.target] = inRow[r * row.source];
  }
}

template <typename Element>
void StridedCopy::copyTiles(const Threads &threads) const {
  std::int64_t tileBytes =
      std::min(rowTiles > 1 ? kTile : row.dim, row.dim) *
      std::min(columnTiles > 1 ? kTile : column.dim, column.dim) *
      static_cast<std::int64_t>(sizeof(Element));
  threads.parallelFor(tiles,
                      std::max<std::int64_t>(1, kThreadBytes / tileBytes),
                      [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t i = begin; i < end; ++i)
                          copyTile<Element>(i);
                      });
}

void StridedCopy::run(const Threads &threads) {
  if (contiguousBytes > 0) {
    threads.parallelFor(contiguousBytes, kThreadBytes,
                        [&](std::int64_t begin, std::int64_t end) {
                          std::memcpy(target + begin, source + begin,
                                      static_cast<std::size_t>(end - begin));
                        });
    return;
  }
  // Only the size of elements matters.
  switch (elementBytes) {
  case 1:
    return copyTiles<std::uint8_t>(threads);
  case 2:
    return copyTiles<std::uint16_t>(threads);
  case 4:
    return copyTiles<std::uint32_t>(threads);
  case 8:
    return copyTiles<std::uint64_t>(threads);
  }
  throw Error(ExitStatus::Bug, "elements of a size that nothing copies");
}

} // namespace brew::runtime
