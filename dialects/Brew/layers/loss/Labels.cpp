//===- Labels.cpp - Labels, normalizers and scalars of losses -------------===//
#include "dialects/Brew/layers/loss/Labels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew::dialects;

LogicalResult brew::dialects::checkLabelCount(Operation *op,
                                              ArrayRef<int64_t> x,
                                              ArrayRef<int64_t> label,
                                              int64_t axis) {
  int64_t rows = countOf(x) / x[axis];
  if (countOf(label) != rows)
    return layerError(op) << "the number of labels (" << countOf(label)
                          << ") must match the number of predictions (" << rows
                          << "): with scores of shape N, C, H, W on axis 1, "
                             "labels are N, H, W";
  return success();
}

Value brew::dialects::labelsByRow(OpBuilder &b, Location loc, Value label,
                                  const AxisRows &rows) {
  auto type = RankedTensorType::get(rows.type.getShape(), elementTypeOf(label));
  if (label.getType() == type)
    return label;
  return ReinterpretOp::create(b, loc, type, label);
}

Label::Label(ScalarBuilder &s, Value value, int64_t classes,
             std::optional<int64_t> ignoreLabel) {
  Type type = value.getType();
  // Caffe truncates labels to integers.
  inRange = s.both(s.greater(value, s.constant(type, -1)),
                   s.greater(s.constant(type, classes), value));
  Value safe = s.select(inRange, value, s.constant(type, 0));
  Value integer = arith::FPToSIOp::create(s.b, s.loc, s.b.getI32Type(), safe);
  index = arith::IndexCastOp::create(s.b, s.loc, s.b.getIndexType(), integer);
  if (ignoreLabel)
    ignored = s.equal(math::TruncOp::create(s.b, s.loc, value),
                      s.constant(type, *ignoreLabel));
}

Value brew::dialects::buildStatus(OpBuilder &b, Location loc, Value labels,
                                  int64_t classes,
                                  std::optional<int64_t> ignoreLabel,
                                  RankedTensorType type) {
  ArrayRef<int64_t> shape = shapeOf(labels);
  SmallVector<bool> reduction(shape.size(), true);
  NestBuilder nest(b, loc, shape, reduction);
  nest.input(labels, iota(shape.size()));
  nest.output(type, {}, 0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Label label(s, body.in[0], classes, ignoreLabel);
    Value isValid = label.inRange;
    if (label.ignored)
      isValid = arith::OrIOp::create(s.b, s.loc, isValid, label.ignored);
    Value position = s.index(0);
    for (size_t i = 0; i < shape.size(); ++i)
      position = s.addi(s.muli(position, shape[i]), body.loop(i));
    Value status = arith::IndexCastOp::create(s.b, s.loc, s.b.getI32Type(),
                                              s.addi(position, s.index(1)));
    Value isFirst = s.equali(body.out[0], s.constant(s.b.getI32Type(), 0));
    status = s.select(isValid, body.out[0], status);
    return {s.select(isFirst, status, body.out[0])};
  })[0];
}

Value brew::dialects::buildValidCount(OpBuilder &b, Location loc, Value labels,
                                      int64_t classes, int64_t ignoreLabel,
                                      RankedTensorType type) {
  SmallVector<bool> reduction(shapeOf(labels).size(), true);
  NestBuilder nest(b, loc, shapeOf(labels), reduction);
  nest.input(labels, iota(shapeOf(labels).size()));
  nest.output(type, {}, 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Label label(s, body.in[0], classes, ignoreLabel);
    Type element = type.getElementType();
    return {s.accumulate(body.out[0],
                         s.select(label.ignored, s.constant(element, 0),
                                  s.constant(element, 1)))};
  })[0];
}

Value brew::dialects::buildTotal(OpBuilder &b, Location loc, Value x,
                                 RankedTensorType type) {
  SmallVector<bool> reduction(shapeOf(x).size(), true);
  NestBuilder nest(b, loc, shapeOf(x), reduction);
  nest.input(x, iota(shapeOf(x).size()));
  nest.output(type, {}, 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.accumulate(body.out[0], body.in[0])};
  })[0];
}

Value brew::dialects::buildNormalizer(OpBuilder &b, Location loc,
                                      Normalization mode, int64_t outer,
                                      int64_t rows, Value validCount,
                                      RankedTensorType type) {
  if (mode == Normalization::Valid && validCount) {
    NestBuilder atLeastOne(b, loc, ArrayRef<int64_t>{});
    atLeastOne.input(validCount, ArrayRef<int64_t>{});
    atLeastOne.output(type, {});
    return atLeastOne.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
      return {
          body.s.maximum(body.in[0], body.s.constant(body.in[0].getType(), 1))};
    })[0];
  }
  int64_t value = mode == Normalization::None        ? 1
                  : mode == Normalization::BatchSize ? outer
                                                     : rows;
  return FillOp::create(b, loc, type,
                        b.getF64FloatAttr(std::max<int64_t>(value, 1)));
}

Value brew::dialects::buildScaled(OpBuilder &b, Location loc, Value x,
                                  double factor) {
  auto type = tensorTypeOf(x);
  NestBuilder nest(b, loc, ArrayRef<int64_t>{});
  nest.input(x, ArrayRef<int64_t>{});
  nest.output(type, {});
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {
        body.s.mul(body.in[0], body.s.constant(type.getElementType(), factor))};
  })[0];
}

Value brew::dialects::buildQuotient(OpBuilder &b, Location loc, Value x,
                                    Value y) {
  NestBuilder nest(b, loc, ArrayRef<int64_t>{});
  nest.input(x, ArrayRef<int64_t>{});
  nest.input(y, ArrayRef<int64_t>{});
  nest.output(tensorTypeOf(x), {});
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.div(body.in[0], body.in[1])};
  })[0];
}
