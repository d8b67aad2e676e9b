//===- PixelBlock.h - Images that travel as bytes ---------------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"

#include <cstddef>
#include <cstdint>

namespace brew::runtime {

/// Images as bytes, with what the host decides about each, for a device that
/// converts them itself (plan::PixelConversion): one block of memory.
struct PixelBlock {
  std::int64_t rows = 0, columns = 0; ///< of an image
  /// Whether images are whole records, which the device crops; else crops.
  bool areRecords = false;
  std::size_t imageSize = 0; ///< bytes of one; the block begins with them
  /// Offset of three numbers for each: whether it is mirrored, first row and
  /// first column of its crop within the record.
  std::size_t cropsOffset = 0;
  std::size_t size = 0; ///< of the block, in bytes

  /// For the images that `conversion` makes a top [N,C,H,W] of.
  static PixelBlock of(const plan::Buffer &top,
                       const plan::PixelConversion &conversion) {
    PixelBlock block;
    block.rows = conversion.image_dims(0);
    block.columns = conversion.image_dims(1);
    block.areRecords =
        block.rows != top.dims(2) || block.columns != top.dims(3);
    block.imageSize =
        static_cast<std::size_t>(top.dims(1) * block.rows * block.columns);
    const auto images = static_cast<std::size_t>(top.dims(0));
    block.cropsOffset = (images * block.imageSize + plan::kAlignment - 1) /
                      plan::kAlignment * plan::kAlignment;
    block.size = block.cropsOffset + images * 3 * sizeof(std::int32_t);
    return block;
  }

  std::uint8_t *image(std::int64_t number, std::byte *block) const {
    return reinterpret_cast<std::uint8_t *>(block) +
           static_cast<std::size_t>(number) * imageSize;
  }
  std::int32_t *cropOf(std::int64_t number, std::byte *block) const {
    return reinterpret_cast<std::int32_t *>(block + cropsOffset) + number * 3;
  }
};

} // namespace brew::runtime
