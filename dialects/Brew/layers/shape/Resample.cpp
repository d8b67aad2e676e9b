//===- Resample.cpp - Forks' layers that move elements --------------------===//
#include "dialects/Brew/layers/shape/Resample.h"
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/LayerGroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace brew::dialects;

/// Emits an error if a bottom is not an image.
static LogicalResult requireImage(Operation *layer, Value x) {
  if (shapeOf(x).size() == 4)
    return success();
  return layerError(layer) << "the bottom must have 4 dimensions (N, C, H, W), "
                              "not "
                           << shapeOf(x).size();
}

//===----------------------------------------------------------------------===//
// ShuffleChannel
//===----------------------------------------------------------------------===//

LogicalResult ShuffleChannelOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX());
  int64_t group = getGroup();
  if (x.size() < 2 || x[1] % group)
    return layerError(*this)
           << "the bottom has shape " << dimsText(x)
           << ", whose channels group " << group << " does not divide";
  tops.emplace_back(x);
  return success();
}

/// Transposes the channels as a table of `rows` rows.
static Value buildShuffle(OpBuilder &b, Location loc, Value x, int64_t rows,
                          RankedTensorType type) {
  NestBuilder nest(b, loc, type.getShape());
  nest.output(type, iota(type.getRank()));
  int64_t columns = type.getDimSize(1) / rows;
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    SmallVector<Value> indices;
    for (int64_t dim : iota(type.getRank()))
      indices.push_back(body.loop(dim));
    indices[1] = s.addi(s.muli(s.remi(indices[1], rows), columns),
                        s.divi(indices[1], rows));
    return {body.read(x, indices)};
  })[0];
}

LogicalResult
ShuffleChannelOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                                 ArrayRef<bool>,
                                 MutableArrayRef<Value> operandGradients) {
  auto type = tensorTypeOf(getX());
  int64_t group = getGroup();
  operandGradients[0] = buildShuffle(b, getLoc(), resultGradients[0],
                                     type.getDimSize(1) / group, type);
  return success();
}

SmallVector<Value> ShuffleChannelOp::buildNests(OpBuilder &b) {
  return {buildShuffle(b, getLoc(), getX(), getGroup(), tensorTypeOf(getY()))};
}

//===----------------------------------------------------------------------===//
// Reorg
//===----------------------------------------------------------------------===//

LogicalResult ReorgOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(requireImage(*this, getX())))
    return failure();
  SmallVector<int64_t> y(shapeOf(getX()));
  int64_t stride = getStride();
  if (y[1] % (stride * stride))
    return layerError(*this)
           << "the bottom has " << y[1] << " channels, which stride * stride, "
           << stride * stride << ", does not divide";
  if (!getReverse() && (y[2] % stride || y[3] % stride))
    return layerError(*this) << "stride " << stride
                             << " does not divide the bottom's height and "
                                "width, "
                             << y[2] << " and " << y[3];
  y[1] = getReverse() ? y[1] / (stride * stride) : y[1] * stride * stride;
  for (int i : {2, 3})
    y[i] = getReverse() ? y[i] * stride : y[i] / stride;
  tops.push_back(y);
  return success();
}

/// Moves elements between a `tight` image of x's C, H and W, and a `wide` one
/// of C / stride^2, H * stride, W * stride: element (c, h, w) of the tight
/// image is in channel c % (C / stride^2) of the wide one. With
/// `readsWide`, reads `source` in wide order and writes the result in tight
/// order, as the layer without `reverse` does; otherwise the opposite.
static Value buildReorg(OpBuilder &b, Location loc, Value source,
                        ArrayRef<int64_t> tight, int64_t stride, bool readsWide,
                        RankedTensorType type) {
  NestBuilder nest(b, loc, type.getShape());
  nest.output(type, iota(4));
  SmallVector<int64_t> wide = {tight[0], tight[1] / (stride * stride),
                               tight[2] * stride, tight[3] * stride};
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    // Returns the row-major index of a position within an image.
    auto flatten = [&](ArrayRef<Value> position,
                       ArrayRef<int64_t> dims) -> Value {
      return s.addi(
          s.muli(s.addi(s.muli(position[0], dims[2]), position[1]), dims[3]),
          position[2]);
    };
    auto divide = [&](Value flat,
                      ArrayRef<int64_t> dims) -> SmallVector<Value> {
      Value row = s.divi(flat, dims[3]);
      return {s.divi(row, dims[2]), s.remi(row, dims[2]),
              s.remi(flat, dims[3])};
    };
    auto toWide = [&](ArrayRef<Value> position) -> SmallVector<Value> {
      Value subPosition = s.divi(position[0], wide[1]);
      return {s.remi(position[0], wide[1]),
              s.addi(s.muli(position[1], stride), s.divi(subPosition, stride)),
              s.addi(s.muli(position[2], stride), s.remi(subPosition, stride))};
    };
    auto toTight = [&](ArrayRef<Value> position) -> SmallVector<Value> {
      Value subPosition = s.addi(s.muli(s.remi(position[1], stride), stride),
                                 s.remi(position[2], stride));
      return {s.addi(s.muli(subPosition, wide[1]), position[0]),
              s.divi(position[1], stride), s.divi(position[2], stride)};
    };
    SmallVector<Value> position = {body.loop(1), body.loop(2), body.loop(3)};
    Value flat = flatten(position, type.getShape());
    SmallVector<Value> sourcePosition =
        readsWide ? toWide(divide(flat, tight)) : toTight(divide(flat, wide));
    flat = flatten(sourcePosition, readsWide ? ArrayRef<int64_t>(wide) : tight);
    SmallVector<Value> indices = {body.loop(0)};
    indices.append(divide(flat, shapeOf(source)));
    return {body.read(source, indices)};
  })[0];
}

SmallVector<Value> ReorgOp::buildNests(OpBuilder &b) {
  return {buildReorg(b, getLoc(), getX(), shapeOf(getX()), getStride(),
                     !getReverse(), tensorTypeOf(getY()))};
}

LogicalResult ReorgOp::buildGradients(OpBuilder &b,
                                      ArrayRef<Value> resultGradients,
                                      ArrayRef<bool>,
                                      MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = ReorgBackwardOp::create(
      b, getLoc(), getX().getType(), resultGradients[0], getLayerAttr(),
      getStrideAttr(), getReverseAttr());
  return success();
}

SmallVector<Value> ReorgBackwardOp::buildNests(OpBuilder &b) {
  return {buildReorg(b, getLoc(), getDy(), shapeOf(getDx()), getStride(),
                     getReverse(), tensorTypeOf(getDx()))};
}

//===----------------------------------------------------------------------===//
// Upsample
//===----------------------------------------------------------------------===//

LogicalResult UpsampleOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(requireImage(*this, getX())))
    return failure();
  SmallVector<int64_t> y(shapeOf(getX()));
  for (int i : {0, 1})
    y[2 + i] *= getScale()[i];
  tops.push_back(y);
  return success();
}

LogicalResult
UpsampleOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                           ArrayRef<bool>,
                           MutableArrayRef<Value> operandGradients) {
  auto type = tensorTypeOf(getX());
  SmallVector<int64_t> extents(type.getShape());
  extents.append(getScale().begin(), getScale().end());
  NestBuilder nest(b, getLoc(), extents,
                   {false, false, false, false, true, true});
  SmallVector<AffineExpr> indices;
  for (int i : {0, 1})
    indices.push_back(b.getAffineDimExpr(i));
  for (int i : {0, 1})
    indices.push_back(b.getAffineDimExpr(2 + i) * getScale()[i] +
                      b.getAffineDimExpr(4 + i));
  nest.input(resultGradients[0], AffineMap::get(6, 0, indices, b.getContext()));
  nest.output(type, iota(4), 0.0);
  operandGradients[0] =
      nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
        return {body.s.accumulate(body.out[0], body.in[0])};
      })[0];
  return success();
}

SmallVector<Value> UpsampleOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.output(type, iota(4));
  Value x = getX();
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    return {body.read(x, {body.loop(0), body.loop(1),
                          s.divi(body.loop(2), getScale()[0]),
                          s.divi(body.loop(3), getScale()[1])})};
  });
}

//===----------------------------------------------------------------------===//
// Axpy
//===----------------------------------------------------------------------===//

LogicalResult AxpyOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> a = shapeOf(getA()), x = shapeOf(getX());
  if (a.size() < 2 || x.size() < 2 || a.take_front(2) != x.take_front(2) ||
      countOf(a) != a[0] * a[1])
    return layerError(*this)
           << "bottom 0 has shape " << dimsText(a)
           << "; it needs one element for each channel of each sample of "
              "bottom 1, "
           << dimsText(x);
  if (shapeOf(getY()) != x)
    return layerError(*this)
           << "bottoms 1 and 2 differ in shape: " << dimsText(x) << " and "
           << dimsText(shapeOf(getY()));
  tops.emplace_back(x);
  return success();
}

/// Returns the map from the loops of x to the elements of a.
static AffineMap scaleMap(Builder &b, AxpyOp op) {
  SmallVector<AffineExpr> indices(tensorTypeOf(op.getA()).getRank(),
                                  b.getAffineConstantExpr(0));
  for (int i : {0, 1})
    indices[i] = b.getAffineDimExpr(i);
  return AffineMap::get(tensorTypeOf(op.getX()).getRank(), 0, indices,
                        b.getContext());
}

LogicalResult AxpyOp::buildGradients(OpBuilder &b,
                                     ArrayRef<Value> resultGradients,
                                     ArrayRef<bool> needed,
                                     MutableArrayRef<Value> operandGradients) {
  Value dz = resultGradients[0];
  auto type = tensorTypeOf(getX());
  int64_t rank = type.getRank();
  auto multiply = [](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.mul(body.in[0], body.in[1])};
  };
  if (needed[0]) {
    SmallVector<bool> reduction(rank, true);
    reduction[0] = reduction[1] = false;
    NestBuilder nest(b, getLoc(), type.getShape(), reduction);
    nest.input(dz, iota(rank));
    nest.input(getX(), iota(rank));
    nest.output(RankedTensorType::get(type.getShape().take_front(2),
                                      type.getElementType()),
                {0, 1}, 0.0);
    Value da = nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
      return {
          body.s.accumulate(body.out[0], body.s.mul(body.in[0], body.in[1]))};
    })[0];
    if (da.getType() != getA().getType())
      da = ReinterpretOp::create(b, getLoc(), getA().getType(), da);
    operandGradients[0] = da;
  }
  if (needed[1]) {
    NestBuilder nest(b, getLoc(), type.getShape());
    nest.input(dz, iota(rank));
    nest.input(getA(), scaleMap(b, *this));
    nest.output(type, iota(rank));
    operandGradients[1] = nest.build(multiply)[0];
  }
  if (needed[2])
    operandGradients[2] = dz;
  return success();
}

SmallVector<Value> AxpyOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getZ());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getA(), scaleMap(b, *this));
  nest.input(getX(), iota(type.getRank()));
  nest.input(getY(), iota(type.getRank()));
  nest.output(type, iota(type.getRank()));
  return nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    return {s.add(s.mul(body.in[0], body.in[1]), body.in[2])};
  });
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/shape/Resample.cpp.inc"

void brew::dialects::registerResampleLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/shape/Resample.cpp.inc"
      >();
}
