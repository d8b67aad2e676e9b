//===- PixelBlock.h - Batch of images as bytes ------------------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"

#include <cstddef>
#include <cstdint>

namespace brew::runtime {

/// Layout of a batch of images as bytes, with the crop and mirror of each, in
/// one memory block, for a device that converts them (plan::PixelConversion).
struct PixelBlock {
  std::int64_t rows = 0, columns = 0; ///< of an image
  /// Whether images are full records, which the device crops. Otherwise they
  /// are already cropped.
  bool hasFullRecords = false;
  std::size_t imageSize = 0; ///< bytes per image; images start at offset 0
  /// Offset of three numbers per image: whether it is mirrored, and the first
  /// row and column of its crop within the record.
  std::size_t cropsOffset = 0;
  std::size_t size = 0; ///< of the block, in bytes

  /// Returns the layout of the images from which `conversion` computes a top
  /// [N,C,H,W].
  static PixelBlock of(const plan::Buffer &top,
                       const plan::PixelConversion &conversion) {
    PixelBlock block;
    block.rows = conversion.image_dims(0);
    block.columns = conversion.image_dims(1);
    block.hasFullRecords =
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
