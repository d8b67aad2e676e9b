//===- PlanSubviews.cpp - Subviews of plan buffers ------------------------===//
#include "passes/plan/PlanSubviews.h"

using namespace mlir;
using namespace brew::dialects::plan;

namespace {

MemRefType typeOf(BufferOp buffer) {
  return cast<MemRefType>(buffer.getType());
}

int64_t elementBytes(MemRefType type) {
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

SmallVector<int64_t> stridesOf(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    strides.clear();
  return strides;
}

int64_t baseOffsetOf(BufferOp buffer) {
  if (auto base = buffer->getAttrOfType<ArrayAttr>(brew::passes::kBaseAttr))
    return cast<IntegerAttr>(base[1]).getInt();
  return buffer.getOffset();
}

bool isDense(MemRefType type) {
  return brew::passes::extentOf(type) ==
         type.getNumElements() * elementBytes(type);
}

/// The elements of a buffer as a box of its base's elements, outermost
/// dimension first.
struct Box {
  SmallVector<int64_t> sizes, strides;
  SmallVector<int64_t> start; ///< first index in each dimension

  /// Merges dimensions that follow each other without a gap.
  void mergeDims() {
    SmallVector<int64_t> mergedSizes, mergedStrides;
    for (auto [size, stride] : llvm::zip_equal(sizes, strides)) {
      if (size == 1)
        continue;
      if (!mergedSizes.empty() && mergedStrides.back() == size * stride) {
        mergedSizes.back() *= size;
        mergedStrides.back() = stride;
        continue;
      }
      mergedSizes.push_back(size);
      mergedStrides.push_back(stride);
    }
    sizes = std::move(mergedSizes);
    strides = std::move(mergedStrides);
  }

  /// Sets `start` from the offset from the base in elements. Returns false if
  /// the buffer is not a box.
  bool findStart(int64_t offset) {
    start.clear();
    for (int64_t stride : strides) {
      start.push_back(offset / stride);
      offset %= stride;
    }
    return offset == 0;
  }
};

Box boxOf(BufferOp buffer) {
  MemRefType type = typeOf(buffer);
  const SmallVector<int64_t> strides = stridesOf(type);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, strides.size()));
  llvm::stable_sort(
      order, [&](int64_t x, int64_t y) { return strides[x] > strides[y]; });
  Box box;
  for (int64_t dim : order) {
    box.sizes.push_back(type.getDimSize(dim));
    box.strides.push_back(strides[dim]);
  }
  return box;
}

/// Returns the offset of a buffer from its base, in elements; nullopt if it is
/// not a multiple of the element size.
std::optional<int64_t> elementOffset(BufferOp buffer) {
  const int64_t bytes =
      static_cast<int64_t>(buffer.getOffset()) - baseOffsetOf(buffer);
  const int64_t elementSize = elementBytes(typeOf(buffer));
  return bytes < 0 || bytes % elementSize ? std::nullopt
                                          : std::optional(bytes / elementSize);
}

} // namespace

int64_t brew::passes::extentOf(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return -1;
  int64_t last = offset;
  for (auto [dim, stride] : llvm::zip(type.getShape(), strides))
    last += (dim - 1) * stride;
  return (last + 1) * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

StringRef brew::passes::baseNameOf(BufferOp buffer) {
  if (auto base = buffer->getAttrOfType<ArrayAttr>(kBaseAttr))
    return cast<StringAttr>(base[0]).getValue();
  return buffer.getName();
}

std::optional<int64_t> brew::passes::commonElements(BufferOp x, BufferOp y) {
  MemRefType xType = typeOf(x), yType = typeOf(y);
  if (x.getArena() != y.getArena() || baseNameOf(x) != baseNameOf(y) ||
      baseOffsetOf(x) != baseOffsetOf(y) ||
      xType.getElementType() != yType.getElementType())
    return std::nullopt;
  int64_t xStart = x.getOffset(), yStart = y.getOffset();
  // A dense buffer contains all elements in its range.
  if (isDense(yType) && yStart <= xStart &&
      xStart + extentOf(xType) <= yStart + extentOf(yType))
    return xType.getNumElements();
  if (isDense(xType) && xStart <= yStart &&
      yStart + extentOf(yType) <= xStart + extentOf(xType))
    return yType.getNumElements();
  const std::optional<int64_t> xFirst = elementOffset(x),
                               yFirst = elementOffset(y);
  if (!xFirst || !yFirst)
    return std::nullopt;
  Box xBox = boxOf(x), yBox = boxOf(y);
  if (xBox.strides != yBox.strides) {
    // The buffers may view the base with different shapes (Flatten).
    xBox.mergeDims();
    yBox.mergeDims();
  }
  if (xBox.strides != yBox.strides || !xBox.findStart(*xFirst) ||
      !yBox.findStart(*yFirst))
    return std::nullopt;
  int64_t common = 1;
  for (size_t dim = 0; dim < xBox.sizes.size(); ++dim) {
    const int64_t first = std::max(xBox.start[dim], yBox.start[dim]),
                  end = std::min(xBox.start[dim] + xBox.sizes[dim],
                                 yBox.start[dim] + yBox.sizes[dim]);
    common *= std::max<int64_t>(end - first, 0);
  }
  return common;
}

std::optional<brew::passes::Rows> brew::passes::rowsOf(BufferOp buffer) {
  if (!buffer->hasAttr(kBaseAttr))
    return std::nullopt;
  MemRefType type = typeOf(buffer);
  int64_t pitch = 0, count = 1;
  for (auto [size, stride] : llvm::zip(type.getShape(), stridesOf(type)))
    if (size > 1 && stride > pitch) {
      pitch = stride;
      count = size;
    }
  pitch *= elementBytes(type);
  const int64_t base = baseOffsetOf(buffer),
                size = extentOf(type) - (count - 1) * pitch,
                offset = static_cast<int64_t>(buffer.getOffset()) - base;
  if (count == 1 || offset < 0 || size >= pitch ||
      offset % pitch + size > pitch)
    return std::nullopt;
  return Rows{baseNameOf(buffer), base, pitch, offset % pitch, size};
}

bool brew::passes::overlap(BufferOp x, BufferOp y) {
  if (x.getArena() != y.getArena())
    return false;
  auto end = [](BufferOp buffer) {
    return static_cast<int64_t>(buffer.getOffset()) + extentOf(typeOf(buffer));
  };
  if (static_cast<int64_t>(x.getOffset()) >= end(y) ||
      static_cast<int64_t>(y.getOffset()) >= end(x))
    return false;
  return commonElements(x, y) != 0;
}
