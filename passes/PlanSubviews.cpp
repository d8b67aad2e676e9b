//===- PlanSubviews.cpp - Buffers that are subviews of others -------------===//
#include "passes/PlanSubviews.h"

using namespace mlir;
using namespace brew::planir;

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

int64_t wholeOffsetOf(BufferOp buffer) {
  if (auto whole = buffer->getAttrOfType<ArrayAttr>(brew::kWholeAttr))
    return cast<IntegerAttr>(whole[1]).getInt();
  return buffer.getOffset();
}

bool isDense(MemRefType type) {
  return brew::extentOf(type) == type.getNumElements() * elementBytes(type);
}

/// First index of the buffer's box in each of the whole's dimensions; false if
/// it is no box.
bool findStart(BufferOp buffer, SmallVectorImpl<int64_t> &start) {
  MemRefType type = typeOf(buffer);
  SmallVector<int64_t> strides = stridesOf(type);
  int64_t rest =
      static_cast<int64_t>(buffer.getOffset()) - wholeOffsetOf(buffer);
  if (rest < 0 || rest % elementBytes(type))
    return false;
  rest /= elementBytes(type);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, strides.size()));
  llvm::stable_sort(
      order, [&](int64_t x, int64_t y) { return strides[x] > strides[y]; });
  start.assign(strides.size(), 0);
  for (int64_t dim : order) {
    start[dim] = rest / strides[dim];
    rest %= strides[dim];
  }
  return rest == 0;
}

} // namespace

int64_t brew::extentOf(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return -1;
  int64_t last = offset;
  for (auto [dim, stride] : llvm::zip(type.getShape(), strides))
    last += (dim - 1) * stride;
  return (last + 1) * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

StringRef brew::wholeNameOf(BufferOp buffer) {
  if (auto whole = buffer->getAttrOfType<ArrayAttr>(kWholeAttr))
    return cast<StringAttr>(whole[0]).getValue();
  return buffer.getName();
}

std::optional<int64_t> brew::commonElements(BufferOp x, BufferOp y) {
  MemRefType xType = typeOf(x), yType = typeOf(y);
  if (x.getArena() != y.getArena() || wholeNameOf(x) != wholeNameOf(y) ||
      wholeOffsetOf(x) != wholeOffsetOf(y) ||
      xType.getElementType() != yType.getElementType())
    return std::nullopt;
  int64_t xStart = x.getOffset(), yStart = y.getOffset();
  // Without gaps y has all elements of what lies inside.
  if (isDense(yType) && yStart <= xStart &&
      xStart + extentOf(xType) <= yStart + extentOf(yType))
    return xType.getNumElements();
  if (isDense(xType) && xStart <= yStart &&
      yStart + extentOf(yType) <= xStart + extentOf(xType))
    return yType.getNumElements();
  SmallVector<int64_t> xFirst, yFirst;
  if (stridesOf(xType) != stridesOf(yType) || !findStart(x, xFirst) ||
      !findStart(y, yFirst))
    return std::nullopt;
  int64_t common = 1;
  for (auto [dim, from, other] : llvm::enumerate(xFirst, yFirst)) {
    int64_t first = std::max(from, other);
    int64_t end =
        std::min(from + xType.getDimSize(dim), other + yType.getDimSize(dim));
    common *= std::max<int64_t>(end - first, 0);
  }
  return common;
}

bool brew::overlap(BufferOp x, BufferOp y) {
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
