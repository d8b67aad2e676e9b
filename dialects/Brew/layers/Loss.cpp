//===- Loss.cpp - SoftmaxWithLoss and Accuracy
//-----------------------------===//
#include "dialects/Brew/Composites.h"
#include "dialects/Brew/layers/LayerGroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cfloat>

#define GET_OP_CLASSES
#include "dialects/Brew/layers/Loss.h.inc"

using namespace mlir;
using namespace brew::ir;

namespace {

/// Shape rules of a layer that compares scores with one label per row.
template <typename Op> LogicalResult checkLabels(Op op) {
  ArrayRef<int64_t> x = shapeOf(op.getX()), label = shapeOf(op.getLabel());
  int64_t rank = x.size(), axis = op.getAxis();
  if (axis < -rank || axis >= rank)
    return layerError(op) << "axis " << axis << " is outside the bottom's "
                          << rank << " dimensions";
  if (axis < 0)
    op.setAxis(axis += rank);
  int64_t rows = countOf(x) / x[axis];
  if (countOf(label) != rows)
    return layerError(op) << "the number of labels (" << countOf(label)
                          << ") must match the number of predictions (" << rows
                          << "): with scores of shape N, C, H, W on axis 1, "
                             "labels are N, H, W";
  return success();
}

/// Labels as one element per row of the scores.
Value labelsByRow(OpBuilder &b, Location loc, Value label,
                  const AlongAxis &rows) {
  auto type = RankedTensorType::get(rows.type.getShape(), elementOf(label));
  if (label.getType() == type)
    return label;
  return ReinterpretOp::create(b, loc, type, label);
}

/// A label in a body: its index (0 if unusable) and whether it counts.
struct Label {
  Value index;   ///< in [0, classes)
  Value inRange; ///< i1
  Value ignored; ///< i1, null without ignore_label

  Label(Scalars &s, Value value, int64_t classes,
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
};

/// 1 + the position of the first label that is neither in range nor ignored.
Value buildStatus(OpBuilder &b, Location loc, Value labels, int64_t classes,
                  std::optional<int64_t> ignoreLabel, RankedTensorType type) {
  ArrayRef<int64_t> shape = shapeOf(labels);
  SmallVector<bool> reduction(shape.size(), true);
  Nest nest(b, loc, shape, reduction);
  nest.input(labels, iota(shape.size()));
  nest.output(type, {}, 0);
  return nest.build([&](Nest::Body &body) -> SmallVector<Value> {
    Scalars &s = body.s;
    Label label(s, body.in[0], classes, ignoreLabel);
    Value fine = label.inRange;
    if (label.ignored)
      fine = arith::OrIOp::create(s.b, s.loc, fine, label.ignored);
    Value position = s.index(0);
    for (size_t i = 0; i < shape.size(); ++i)
      position = s.addi(s.muli(position, shape[i]), body.loop(i));
    Value found = arith::IndexCastOp::create(s.b, s.loc, s.b.getI32Type(),
                                             s.addi(position, s.index(1)));
    Value free = s.equali(body.out[0], s.constant(s.b.getI32Type(), 0));
    found = s.select(fine, body.out[0], found);
    return {s.select(free, found, body.out[0])};
  })[0];
}

std::optional<int64_t> asOptional(std::optional<uint64_t> value) {
  if (!value)
    return std::nullopt;
  return static_cast<int64_t>(*value);
}

/// Sum of all elements.
Value buildTotal(OpBuilder &b, Location loc, Value x, RankedTensorType type) {
  SmallVector<bool> reduction(shapeOf(x).size(), true);
  Nest nest(b, loc, shapeOf(x), reduction);
  nest.input(x, iota(shapeOf(x).size()));
  nest.output(type, {}, 0.0);
  return nest.build([&](Nest::Body &body) -> SmallVector<Value> {
    return {body.s.accumulate(body.out[0], body.in[0])};
  })[0];
}

/// Number of rows whose label is not ignored.
Value buildValidCount(OpBuilder &b, Location loc, Value labels, int64_t classes,
                      int64_t ignoreLabel, RankedTensorType type) {
  SmallVector<bool> reduction(shapeOf(labels).size(), true);
  Nest nest(b, loc, shapeOf(labels), reduction);
  nest.input(labels, iota(shapeOf(labels).size()));
  nest.output(type, {}, 0.0);
  return nest.build([&](Nest::Body &body) -> SmallVector<Value> {
    Scalars &s = body.s;
    Label label(s, body.in[0], classes, ignoreLabel);
    Type element = type.getElementType();
    return {s.accumulate(body.out[0],
                         s.select(label.ignored, s.constant(element, 0),
                                  s.constant(element, 1)))};
  })[0];
}

} // namespace

//===----------------------------------------------------------------------===//
// SoftmaxWithLoss
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxLossOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(checkLabels(*this)))
    return failure();
  getStatus().setType(
      UnrankedTensorType::get(IntegerType::get(getContext(), 32)));
  tops.assign({{}, SmallVector<int64_t>(shapeOf(getX())), {}, {}});
  return success();
}

LogicalResult
SoftmaxLossOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                              ArrayRef<bool> needed,
                              MutableArrayRef<Value> operandGradients) {
  if (needed[1])
    return layerError(*this) << "cannot backpropagate to label inputs";
  if (Value dloss = resultGradients[0])
    operandGradients[0] = SoftmaxLossBackwardOp::create(
        b, getLoc(), getX().getType(), getProb(), getLabel(), getNormalizer(),
        dloss, getLayerAttr(), getAxisAttr(), getIgnoreLabelAttr());
  return success();
}

SmallVector<Value> SoftmaxLossOp::buildGeneric(OpBuilder &b) {
  Location loc = getLoc();
  auto probType = tensorOf(getProb());
  auto scalar = tensorOf(getLoss());
  int64_t axis = getAxis(), classes = probType.getDimSize(axis);
  auto ignore = asOptional(getIgnoreLabel());
  AlongAxis rows(probType, axis);
  Value prob = buildSoftmax(b, loc, getX(), axis, probType);
  Value labels = labelsByRow(b, loc, getLabel(), rows);

  SmallVector<int64_t> rowDims = iota(rows.type.getRank());
  Nest perRow(b, loc, rows.type.getShape());
  perRow.input(labels, rowDims);
  perRow.output(rows.type, rowDims);
  Value losses = perRow.build([&](Nest::Body &body) -> SmallVector<Value> {
    Scalars &s = body.s;
    Label label(s, body.in[0], classes, ignore);
    SmallVector<Value> at;
    for (int64_t dim : rowDims)
      at.push_back(body.loop(dim));
    at.insert(at.begin() + axis, label.index);
    Value p = body.read(prob, at);
    Type type = p.getType();
    Value loss = s.neg(s.log(s.maximum(p, s.constant(type, FLT_MIN))));
    if (label.ignored)
      loss = s.select(label.ignored, s.constant(type, 0), loss);
    return {loss};
  })[0];
  Value total = buildTotal(b, loc, losses, scalar);

  // Caffe never divides by less than one.
  Value normalizer;
  int64_t count = countOf(rows.type.getShape());
  int64_t outer = countOf(probType.getShape().take_front(axis));
  if (getNormalization() == Normalization::Valid && ignore) {
    Value valid = buildValidCount(b, loc, labels, classes, *ignore, scalar);
    Nest atLeastOne(b, loc, ArrayRef<int64_t>{});
    atLeastOne.input(valid, ArrayRef<int64_t>{});
    atLeastOne.output(scalar, {});
    normalizer = atLeastOne.build([&](Nest::Body &body) -> SmallVector<Value> {
      return {
          body.s.maximum(body.in[0], body.s.constant(body.in[0].getType(), 1))};
    })[0];
  } else {
    int64_t value = getNormalization() == Normalization::None        ? 1
                    : getNormalization() == Normalization::BatchSize ? outer
                                                                     : count;
    normalizer = FillOp::create(b, loc, scalar,
                                b.getF64FloatAttr(std::max<int64_t>(value, 1)));
  }
  Nest divide(b, loc, ArrayRef<int64_t>{});
  divide.input(total, ArrayRef<int64_t>{});
  divide.input(normalizer, ArrayRef<int64_t>{});
  divide.output(scalar, {});
  Value loss = divide.build([&](Nest::Body &body) -> SmallVector<Value> {
    return {body.s.div(body.in[0], body.in[1])};
  })[0];
  Value status;
  if (!getStatus().use_empty())
    status =
        buildStatus(b, loc, labels, classes, ignore, tensorOf(getStatus()));
  return {loss, prob, normalizer, status};
}

SmallVector<Value> SoftmaxLossBackwardOp::buildGeneric(OpBuilder &b) {
  auto type = tensorOf(getDx());
  int64_t axis = getAxis(), classes = type.getDimSize(axis);
  auto ignore = asOptional(getIgnoreLabel());
  AlongAxis rows(type, axis);
  Value labels = labelsByRow(b, getLoc(), getLabel(), rows);
  SmallVector<int64_t> all = iota(type.getRank());
  Nest nest(b, getLoc(), type.getShape());
  nest.input(getProb(), all);
  nest.input(labels, rows.others);
  nest.input(getDloss(), ArrayRef<int64_t>{});
  nest.input(getNormalizer(), ArrayRef<int64_t>{});
  nest.output(type, all);
  return nest.build([&](Nest::Body &body) -> SmallVector<Value> {
    Scalars &s = body.s;
    Type element = type.getElementType();
    Label label(s, body.in[1], classes, ignore);
    Value hit = s.both(s.equali(label.index, body.loop(axis)), label.inRange);
    Value dx = s.sub(body.in[0], s.select(hit, s.constant(element, 1),
                                          s.constant(element, 0)));
    dx = s.mul(dx, s.div(body.in[2], body.in[3]));
    if (label.ignored)
      dx = s.select(label.ignored, s.constant(element, 0), dx);
    return {dx};
  });
}

//===----------------------------------------------------------------------===//
// Accuracy
//===----------------------------------------------------------------------===//

LogicalResult AccuracyOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(checkLabels(*this)))
    return failure();
  int64_t classes = shapeOf(getX())[getAxis()];
  if (static_cast<int64_t>(getTopK()) > classes)
    return layerError(*this)
           << "top_k " << getTopK() << " is larger than the number of classes "
           << classes;
  getStatus().setType(
      UnrankedTensorType::get(IntegerType::get(getContext(), 32)));
  tops.assign({{}, {classes}, {}});
  return success();
}

SmallVector<Value> AccuracyOp::buildGeneric(OpBuilder &b) {
  Location loc = getLoc();
  auto type = tensorOf(getX());
  auto scalar = tensorOf(getAccuracy());
  int64_t axis = getAxis(), classes = type.getDimSize(axis);
  int64_t topK = getTopK();
  auto ignore = asOptional(getIgnoreLabel());
  AlongAxis rows(type, axis);
  Value labels = labelsByRow(b, loc, getLabel(), rows);
  SmallVector<int64_t> rowDims = iota(rows.type.getRank());
  Value x = getX();

  Nest pick(b, loc, rows.type.getShape());
  pick.input(labels, rowDims);
  pick.output(rows.type, rowDims);
  Value truth = pick.build([&](Nest::Body &body) -> SmallVector<Value> {
    Label label(body.s, body.in[0], classes, ignore);
    SmallVector<Value> at;
    for (int64_t dim : rowDims)
      at.push_back(body.loop(dim));
    at.insert(at.begin() + axis, label.index);
    return {body.read(x, at)};
  })[0];

  // Scores at least as large as the label's, itself included.
  Nest compare(b, loc, type.getShape(), rows.reduction);
  compare.input(x, iota(type.getRank()));
  compare.input(truth, rows.others);
  compare.output(rows.type, rows.others, 0.0);
  Value better = compare.build([&](Nest::Body &body) -> SmallVector<Value> {
    Scalars &s = body.s;
    Type element = body.in[0].getType();
    return {s.accumulate(
        body.out[0], s.select(s.greaterEqual(body.in[0], body.in[1]),
                              s.constant(element, 1), s.constant(element, 0)))};
  })[0];

  // Per row: 1 if correct; counts 0 if ignored.
  auto hit = [&](Scalars &s, Value better, const Label &label) {
    Type element = better.getType();
    Value correct = s.greaterEqual(s.constant(element, topK), better);
    Value value =
        s.select(correct, s.constant(element, 1), s.constant(element, 0));
    if (label.ignored)
      value = s.select(label.ignored, s.constant(element, 0), value);
    return value;
  };
  SmallVector<bool> allReduced(rows.type.getRank(), true);
  Nest sum(b, loc, rows.type.getShape(), allReduced);
  sum.input(better, rowDims);
  sum.input(labels, rowDims);
  sum.output(scalar, {}, 0.0);
  Value correct = sum.build([&](Nest::Body &body) -> SmallVector<Value> {
    Label label(body.s, body.in[1], classes, ignore);
    return {body.s.accumulate(body.out[0], hit(body.s, body.in[0], label))};
  })[0];
  Value count;
  if (ignore)
    count = buildValidCount(b, loc, labels, classes, *ignore, scalar);
  else
    count = FillOp::create(b, loc, scalar,
                           b.getF64FloatAttr(countOf(rows.type.getShape())));
  auto ratio = [&](Scalars &s, Value part, Value whole) {
    Value zero = s.constant(part.getType(), 0);
    return s.select(s.equal(whole, zero), zero, s.div(part, whole));
  };
  Nest divide(b, loc, ArrayRef<int64_t>{});
  divide.input(correct, ArrayRef<int64_t>{});
  divide.input(count, ArrayRef<int64_t>{});
  divide.output(scalar, {});
  Value accuracy = divide.build([&](Nest::Body &body) -> SmallVector<Value> {
    return {ratio(body.s, body.in[0], body.in[1])};
  })[0];

  Value perClass;
  if (!getPerClass().use_empty()) {
    SmallVector<int64_t> extents = {classes}, dims;
    SmallVector<bool> reduction = {false};
    for (int64_t extent : rows.type.getShape()) {
      dims.push_back(extents.size());
      extents.push_back(extent);
      reduction.push_back(true);
    }
    auto classType = tensorOf(getPerClass());
    Nest tally(b, loc, extents, reduction);
    tally.input(better, dims);
    tally.input(labels, dims);
    tally.output(classType, {0}, 0.0);
    tally.output(classType, {0}, 0.0);
    SmallVector<Value> tallies =
        tally.build([&](Nest::Body &body) -> SmallVector<Value> {
          Scalars &s = body.s;
          Label label(s, body.in[1], classes, ignore);
          Type element = body.in[0].getType();
          Value zero = s.constant(element, 0);
          Value mine =
              s.both(s.equali(label.index, body.loop(0)), label.inRange);
          Value counted = s.constant(element, 1);
          if (label.ignored)
            counted = s.select(label.ignored, zero, counted);
          return {s.accumulate(body.out[0],
                               s.select(mine, hit(s, body.in[0], label), zero)),
                  s.accumulate(body.out[1], s.select(mine, counted, zero))};
        });
    Nest share(b, loc, {classes});
    share.input(tallies[0], iota(1));
    share.input(tallies[1], iota(1));
    share.output(classType, {0});
    perClass = share.build([&](Nest::Body &body) -> SmallVector<Value> {
      return {ratio(body.s, body.in[0], body.in[1])};
    })[0];
  }
  Value status;
  if (!getStatus().use_empty())
    status =
        buildStatus(b, loc, labels, classes, ignore, tensorOf(getStatus()));
  return {accuracy, perClass, status};
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

int64_t SoftmaxLossOp::labelLimit() { return shapeOf(getX())[getAxis()]; }
int64_t AccuracyOp::labelLimit() { return shapeOf(getX())[getAxis()]; }

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/Loss.cpp.inc"

void brew::ir::registerLossLayers(BrewDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "dialects/Brew/layers/Loss.cpp.inc"
      >();
}
