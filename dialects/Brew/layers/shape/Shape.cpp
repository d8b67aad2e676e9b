//===- Shape.cpp - Layers that concatenate and slice ----------------------===//
#include "dialects/Brew/layers/shape/Shape.h"
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/LayerGroup.h"

using namespace mlir;
using namespace brew::dialects;

//===----------------------------------------------------------------------===//
// Subviews of tensors
//===----------------------------------------------------------------------===//

/// Returns the offsets of a slice that starts at `start` of dimension `axis`.
static SmallVector<int64_t> offsetsAlong(int64_t rank, int64_t axis,
                                         int64_t start) {
  SmallVector<int64_t> offsets(rank, 0);
  offsets[axis] = start;
  return offsets;
}

RankedTensorType brew::dialects::subviewOf(RankedTensorType full,
                                           ArrayRef<int64_t> shape) {
  Builder b(full.getContext());
  NamedAttribute strides =
      b.getNamedAttr("strides", b.getDenseI64ArrayAttr(memoryStrides(full)));
  return RankedTensorType::get(shape, full.getElementType(),
                               b.getDictionaryAttr(strides));
}

/// Builds x at `offsets` of a tensor whose other elements are `value`.
static Value buildPadded(OpBuilder &b, Location loc, Value x,
                         ArrayRef<int64_t> offsets, double value,
                         RankedTensorType type) {
  ArrayRef<int64_t> sliceShape = shapeOf(x);
  NestBuilder nest(b, loc, type.getShape());
  nest.output(type, iota(type.getRank()));
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    SmallVector<Value> indices;
    Value inside;
    for (auto [dim, offset] : llvm::enumerate(offsets)) {
      Value position = body.loop(dim);
      if (sliceShape[dim] != type.getDimSize(dim)) {
        if (offset)
          position = s.subi(position, s.index(offset));
        Value within = s.both(s.atLeast(position, s.index(0)),
                              s.less(position, s.index(sliceShape[dim])));
        inside = inside ? s.both(inside, within) : within;
        position = s.clamp(position, sliceShape[dim]);
      }
      indices.push_back(position);
    }
    Value element = body.read(x, indices);
    if (!inside)
      return {element};
    return {
        s.select(inside, element, s.constant(type.getElementType(), value))};
  })[0];
}

SmallVector<Value> ZeroPadOp::buildNests(OpBuilder &b) {
  return {
      buildPadded(b, getLoc(), getX(), getOffsets(), 0, tensorTypeOf(getY()))};
}

//===----------------------------------------------------------------------===//
// Concat
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::inferShapes(Shapes &tops, Shapes &) {
  SmallVector<int64_t> y(shapeOf(getXs().front()));
  FailureOr<int64_t> axis = canonicalAxis(*this, getAxis(), y.size());
  if (failed(axis))
    return failure();
  setAxis(*axis);
  for (auto [i, x] : llvm::enumerate(getXs().drop_front())) {
    ArrayRef<int64_t> shape = shapeOf(x);
    if (shape.size() != y.size())
      return layerError(*this)
             << "bottom " << i + 1 << " has shape " << dimsText(shape)
             << ", but bottom 0 has " << dimsText(shapeOf(getXs().front()))
             << ": all need the same number of dimensions";
    for (size_t dim = 0; dim < y.size(); ++dim)
      if (static_cast<int64_t>(dim) != *axis && shape[dim] != y[dim])
        return layerError(*this)
               << "bottom " << i + 1 << " has shape " << dimsText(shape)
               << ", but bottom 0 has " << dimsText(shapeOf(getXs().front()))
               << ": they may differ in dimension " << *axis << " only";
    y[*axis] += shape[*axis];
  }
  tops.push_back(y);
  return success();
}

LogicalResult ConcatOp::propagateItemCounts(ItemCounts &counts) {
  const int64_t axis = getAxis();
  const bool joinsItems = llvm::any_of(getXs(), [&](Value x) {
    Value count = counts.of(x);
    return count && tensorTypeOf(count).getRank() == axis;
  });
  return joinsItems ? counts.packConcatenated(*this, axis)
                    : counts.propagate(*this);
}

LogicalResult
ConcatOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                         ArrayRef<bool> needed,
                         MutableArrayRef<Value> operandGradients) {
  Value dy = resultGradients[0];
  int64_t start = 0, axis = getAxis();
  for (auto [i, x] : llvm::enumerate(getXs())) {
    // A constant has no memory for a subview.
    auto fill = dy.getDefiningOp<FillOp>();
    if (needed[i] && fill)
      operandGradients[i] =
          FillOp::create(b, getLoc(), x.getType(), fill.getValueAttr());
    else if (needed[i])
      operandGradients[i] = SubviewOp::create(
          b, getLoc(), x.getType(), dy, getLayerAttr(),
          b.getDenseI64ArrayAttr(offsetsAlong(shapeOf(x).size(), axis, start)));
    start += shapeOf(x)[axis];
  }
  return success();
}

SmallVector<Value> ConcatOp::buildNests(OpBuilder &b) {
  return {ConcatViewOp::create(b, getLoc(), getY().getType(), getXs(),
                               getLayerAttr(), getAxisAttr())};
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::inferShapes(Shapes &tops, Shapes &) {
  SmallVector<int64_t> shape(shapeOf(getX()));
  FailureOr<int64_t> axis = canonicalAxis(*this, getAxis(), shape.size());
  if (failed(axis))
    return failure();
  setAxis(*axis);
  int64_t extent = shape[*axis], count = getNumResults();
  SmallVector<int64_t> points(getPoints());
  if (points.empty()) {
    if (extent % count)
      return layerError(*this)
             << "dimension " << *axis << " has " << extent
             << " elements, which " << count << " tops cannot share equally";
    for (int64_t i = 1; i < count; ++i)
      points.push_back(i * (extent / count));
    setPoints(points);
  }
  int64_t start = 0;
  points.push_back(extent);
  for (auto [i, end] : llvm::enumerate(points)) {
    if (end <= start)
      return layerError(*this)
             << "the tops divide dimension " << *axis << ", of " << extent
             << " elements, but top " << i << " would go from " << start
             << " to " << end;
    shape[*axis] = end - start;
    tops.push_back(shape);
    start = end;
  }
  return success();
}

/// Returns the start of each top along the axis.
static SmallVector<int64_t> startsOf(SliceOp op) {
  SmallVector<int64_t> starts = {0};
  starts.append(op.getPoints().begin(), op.getPoints().end());
  return starts;
}

LogicalResult SliceOp::buildGradients(OpBuilder &b,
                                      ArrayRef<Value> resultGradients,
                                      ArrayRef<bool>,
                                      MutableArrayRef<Value> operandGradients) {
  SmallVector<Value> gradients;
  for (auto [dy, y] : llvm::zip(resultGradients, getYs()))
    gradients.push_back(
        dy ? dy
           : FillOp::create(b, getLoc(), y.getType(), b.getF64FloatAttr(0)));
  operandGradients[0] = ConcatViewOp::create(
      b, getLoc(), getX().getType(), gradients, getLayerAttr(), getAxisAttr());
  return success();
}

SmallVector<Value> SliceOp::buildNests(OpBuilder &b) {
  SmallVector<Value> slices;
  int64_t rank = tensorTypeOf(getX()).getRank();
  for (auto [start, y] : llvm::zip(startsOf(*this), getYs()))
    slices.push_back(SubviewOp::create(
        b, getLoc(), y.getType(), getX(), getLayerAttr(),
        b.getDenseI64ArrayAttr(offsetsAlong(rank, getAxis(), start))));
  return slices;
}

//===----------------------------------------------------------------------===//
// Crop
//===----------------------------------------------------------------------===//

LogicalResult CropOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX()), reference = shapeOf(getReference());
  int64_t rank = x.size();
  FailureOr<int64_t> axis = canonicalAxis(*this, getAxis(), rank);
  if (failed(axis))
    return failure();
  if (static_cast<int64_t>(reference.size()) < rank)
    return layerError(*this)
           << "the reference has shape " << dimsText(reference)
           << ", which lacks dimensions of the bottom's " << dimsText(x);
  ArrayRef<int64_t> offsetSettings = getOffsets();
  if (offsetSettings.size() > 1 &&
      static_cast<int64_t>(offsetSettings.size()) + *axis != rank)
    return layerError(*this)
           << "offset is given " << offsetSettings.size()
           << " times; from axis " << *axis << " on the bottom has "
           << rank - *axis
           << " dimensions, and it takes one for all or one for each";
  SmallVector<int64_t> y(x), offsets;
  for (int64_t dim = *axis; dim < rank; ++dim) {
    offsets.push_back(offsetSettings.empty() ? 0
                      : offsetSettings.size() == 1
                          ? offsetSettings[0]
                          : offsetSettings[dim - *axis]);
    y[dim] = reference[dim];
    if (offsets.back() + y[dim] > x[dim])
      return layerError(*this)
             << "the part of " << y[dim] << " elements from " << offsets.back()
             << " on reaches beyond dimension " << dim << " of the bottom's "
             << dimsText(x);
  }
  setAxis(*axis);
  setOffsets(offsets);
  tops.push_back(y);
  return success();
}

/// Both bottoms may have the same item count, if no items are cropped.
LogicalResult CropOp::propagateItemCounts(ItemCounts &counts) {
  if (getAxis() > 0)
    return failed(counts.requireStaticExtents(*this, getReference(), getAxis()))
               ? failure()
               : counts.propagate(*this, getX());
  FailureOr<Value> count = counts.commonCount(*this);
  if (failed(count))
    return failure();
  if (!*count)
    return success();
  if (getOffsets()[0] != 0)
    return counts.reject(
        *this, getX(),
        "starts at item " + Twine(getOffsets()[0]) +
            " of its bottom, which may have too few valid items");
  counts.set(getY(), *count);
  return success();
}

/// Returns the start of the slice in every dimension.
static DenseI64ArrayAttr startOf(CropOp op, OpBuilder &b) {
  SmallVector<int64_t> start(op.getAxis(), 0);
  llvm::append_range(start, op.getOffsets());
  return b.getDenseI64ArrayAttr(start);
}

LogicalResult CropOp::buildGradients(OpBuilder &b,
                                     ArrayRef<Value> resultGradients,
                                     ArrayRef<bool> needed,
                                     MutableArrayRef<Value> operandGradients) {
  // Only the shape of the reference is read.
  if (needed[0])
    operandGradients[0] =
        ZeroPadOp::create(b, getLoc(), getX().getType(), resultGradients[0],
                          getLayerAttr(), startOf(*this, b));
  return success();
}

SmallVector<Value> CropOp::buildNests(OpBuilder &b) {
  return {SubviewOp::create(b, getLoc(), getY().getType(), getX(),
                            getLayerAttr(), startOf(*this, b))};
}

//===----------------------------------------------------------------------===//
// CropCenter
//===----------------------------------------------------------------------===//

LogicalResult CropCenterOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX());
  if (getSizes().size() != x.size())
    return layerError(*this)
           << "crop_size has " << getSizes().size() << " values; a bottom of "
           << x.size() << " dimensions needs one for each";
  SmallVector<int64_t> y(x);
  for (auto [dim, size] : llvm::enumerate(getSizes())) {
    y[dim] -= 2 * size;
    if (y[dim] < 1)
      return layerError(*this)
             << "crop_size " << size << " leaves nothing of dimension " << dim
             << " of the bottom's " << dimsText(x);
  }
  tops.push_back(y);
  return success();
}

LogicalResult
CropCenterOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                             ArrayRef<bool>,
                             MutableArrayRef<Value> operandGradients) {
  operandGradients[0] =
      ZeroPadOp::create(b, getLoc(), getX().getType(), resultGradients[0],
                        getLayerAttr(), getSizesAttr());
  return success();
}

SmallVector<Value> CropCenterOp::buildNests(OpBuilder &b) {
  return {SubviewOp::create(b, getLoc(), getY().getType(), getX(),
                            getLayerAttr(), getSizesAttr())};
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

/// Returns the number of elements before each dimension.
static SmallVector<int64_t> paddingsBefore(PadOp op) {
  SmallVector<int64_t> before;
  for (size_t i = 0; i < op.getPaddings().size(); i += 2)
    before.push_back(op.getPaddings()[i]);
  return before;
}

LogicalResult PadOp::inferShapes(Shapes &tops, Shapes &) {
  SmallVector<int64_t> y(shapeOf(getX()));
  if (getPaddings().size() != 2 * y.size())
    return layerError(*this)
           << "paddings has " << getPaddings().size() << " values; a bottom of "
           << y.size() << " dimensions needs " << 2 * y.size()
           << ", two for each";
  for (auto [dim, extent] : llvm::enumerate(y))
    extent += getPaddings()[2 * dim] + getPaddings()[2 * dim + 1];
  tops.push_back(y);
  return success();
}

LogicalResult PadOp::buildGradients(OpBuilder &b,
                                    ArrayRef<Value> resultGradients,
                                    ArrayRef<bool>,
                                    MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = SubviewOp::create(
      b, getLoc(), getX().getType(), resultGradients[0], getLayerAttr(),
      b.getDenseI64ArrayAttr(paddingsBefore(*this)));
  return success();
}

SmallVector<Value> PadOp::buildNests(OpBuilder &b) {
  return {buildPadded(b, getLoc(), getX(), paddingsBefore(*this),
                      getValue().convertToFloat(), tensorTypeOf(getY()))};
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/shape/Shape.cpp.inc"

void brew::dialects::registerShapeLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/shape/Shape.cpp.inc"
      >();
}
