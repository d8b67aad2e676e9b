//===- MetricLearning.cpp - Layers of face recognition nets ---------------===//
#include "dialects/Brew/layers/loss/MetricLearning.h"
#include "dialects/Brew/layers/LayerGroup.h"
#include "dialects/Brew/layers/indexing/Gather.h"
#include "dialects/Brew/layers/loss/Labels.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

Value reinterpretAs(OpBuilder &b, Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  return ReinterpretOp::create(
      b, value.getLoc(), RankedTensorType::get(shape, elementTypeOf(value)),
      value);
}

/// Returns the labels as a vector.
Value labelVector(OpBuilder &b, Value label) {
  return reinterpretAs(b, label, {countOf(shapeOf(label))});
}

LogicalResult checkItems(Operation *op, Value x, Value label) {
  ArrayRef<int64_t> shape = shapeOf(x);
  if (shape.size() < 2)
    return layerError(op) << "needs a bottom of at least 2 dimensions "
                             "(N, C, ...), not "
                          << shape.size();
  if (countOf(shapeOf(label)) != shape[0])
    return layerError(op) << "needs one label per item: " << shape[0]
                          << ", not " << countOf(shapeOf(label));
  return success();
}

} // namespace

//===----------------------------------------------------------------------===//
// LabelSpecificAdd
//===----------------------------------------------------------------------===//

bool LabelSpecificAddOp::mustStayExact(unsigned operand) {
  return operand == getLabelMutable().getOperandNumber();
}

bool LabelSpecificAddOp::staysF32(unsigned result) { return result != 0; }

LogicalResult LabelSpecificAddOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(checkItems(*this, getX(), getLabel())))
    return failure();
  tops.assign({SmallVector<int64_t>(shapeOf(getX())), {}});
  return success();
}

int64_t LabelSpecificAddOp::labelLimit() {
  return countOf(shapeOf(getX()).drop_front());
}

LogicalResult
LabelSpecificAddOp::buildGradients(OpBuilder &, ArrayRef<Value> resultGradients,
                                   ArrayRef<bool> needed,
                                   MutableArrayRef<Value> operandGradients) {
  if (needed[1])
    return layerError(*this) << "cannot backpropagate to label inputs";
  operandGradients[0] = resultGradients[0];
  return success();
}

SmallVector<Value> LabelSpecificAddOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  const Value labels = labelVector(b, getLabel());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getX(), iota(type.getRank()));
  nest.input(labels, ArrayRef<int64_t>{0});
  nest.output(type, iota(type.getRank()));
  Value y = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value score = s.index(0);
    for (int64_t dim = 1; dim < type.getRank(); ++dim)
      score = s.addi(s.muli(score, type.getDimSize(dim)), body.loop(dim));
    const double bias = getBias().convertToFloat();
    Label label(s, body.in[1], labelLimit(), std::nullopt);
    Value isLabel = s.both(label.inRange, s.equali(label.index, score));
    Value x = body.in[0];
    Value adds = s.both(isLabel, s.greater(x, s.constant(x.getType(), -bias)));
    return {s.select(adds, s.add(x, s.constant(x.getType(), bias)), x)};
  })[0];
  Value status;
  if (!getStatus().use_empty())
    status = buildStatus(b, getLoc(), labels, labelLimit(), std::nullopt,
                         tensorTypeOf(getStatus()));
  return {y, status};
}

//===----------------------------------------------------------------------===//
// CenterLoss
//===----------------------------------------------------------------------===//

bool CenterLossOp::mustStayExact(unsigned operand) {
  return operand != getXMutable().getOperandNumber();
}

LogicalResult CenterLossOp::inferShapes(Shapes &tops, Shapes &params) {
  if (failed(checkItems(*this, getX(), getLabel())))
    return failure();
  params.push_back({static_cast<int64_t>(getClasses()),
                    countOf(shapeOf(getX()).drop_front())});
  tops.assign({{}, {}});
  return success();
}

int64_t CenterLossOp::labelLimit() { return getClasses(); }

namespace {
/// The items of a CenterLoss as a matrix, and their labels.
struct Items {
  Value x, labels, centers;
  int64_t count, classes;

  Items(OpBuilder &b, CenterLossOp op)
      : x(reinterpretAs(
            b, op.getX(),
            {shapeOf(op.getX())[0], countOf(shapeOf(op.getX()).drop_front())})),
        labels(labelVector(b, op.getLabel())), centers(op.getCenters()),
        count(shapeOf(op.getX())[0]), classes(op.labelLimit()) {}

  /// Builds x - centers[label] at the loops of a nest over the items, whose
  /// first inputs are x and the labels.
  Value difference(NestBuilder::Body &body) const {
    Label label(body.s, body.in[1], classes, std::nullopt);
    return body.s.sub(body.in[0],
                      body.read(centers, {label.index, body.loop(1)}));
  }
  void addInputs(NestBuilder &nest) const {
    nest.input(x, iota(2));
    nest.input(labels, ArrayRef<int64_t>{0});
  }
  /// Builds, for each item, the number of items of its class.
  Value classSizes(OpBuilder &b, Location loc) const {
    auto type = RankedTensorType::get({count}, elementTypeOf(x));
    NestBuilder nest(b, loc, {count, count}, {false, true});
    nest.input(labels, ArrayRef<int64_t>{0});
    nest.input(labels, ArrayRef<int64_t>{1});
    nest.output(type, iota(1), 0.0);
    return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
      ScalarBuilder &s = body.s;
      Label own(s, body.in[0], classes, std::nullopt),
          other(s, body.in[1], classes, std::nullopt);
      return {s.accumulate(body.out[0],
                           s.select(s.equali(own.index, other.index),
                                    s.constant(type.getElementType(), 1),
                                    s.constant(type.getElementType(), 0)))};
    })[0];
  }
};
} // namespace

LogicalResult
CenterLossOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                             ArrayRef<bool> needed,
                             MutableArrayRef<Value> operandGradients) {
  if (needed[1])
    return layerError(*this) << "cannot backpropagate to label inputs";
  if (!resultGradients[0])
    return success();
  const Items items(b, *this);
  auto type = tensorTypeOf(items.x);
  if (needed[0]) {
    NestBuilder nest(b, getLoc(), type.getShape());
    items.addInputs(nest);
    nest.input(resultGradients[0], ArrayRef<int64_t>{});
    nest.output(type, iota(2));
    Value dx = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
      ScalarBuilder &s = body.s;
      Value factor = s.mul(
          body.in[2], s.constant(type.getElementType(), 1.0 / items.count));
      return {s.mul(items.difference(body), factor)};
    })[0];
    operandGradients[0] = reinterpretAs(b, dx, shapeOf(getX()));
  }
  if (needed[2]) {
    NestBuilder nest(b, getLoc(), type.getShape());
    items.addInputs(nest);
    nest.input(items.classSizes(b, getLoc()), ArrayRef<int64_t>{0});
    nest.output(type, iota(2));
    Value terms =
        nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
          ScalarBuilder &s = body.s;
          Value divisor =
              s.add(body.in[2], s.constant(type.getElementType(), 1));
          return {s.neg(s.div(items.difference(body), divisor))};
        })[0];
    operandGradients[2] =
        EmbedBackwardOp::create(b, getLoc(), getCenters().getType(), terms,
                                items.labels, getLayerAttr());
  }
  return success();
}

SmallVector<Value> CenterLossOp::buildNests(OpBuilder &b) {
  const Items items(b, *this);
  NestBuilder nest(b, getLoc(), shapeOf(items.x), {true, true});
  items.addInputs(nest);
  nest.output(tensorTypeOf(getLoss()), {}, 0.0);
  Value sum = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    Value d = items.difference(body);
    return {body.s.accumulate(body.out[0], body.s.mul(d, d))};
  })[0];
  Value status;
  if (!getStatus().use_empty())
    status = buildStatus(b, getLoc(), items.labels, items.classes, std::nullopt,
                         tensorTypeOf(getStatus()));
  return {buildScaled(b, getLoc(), sum, 0.5 / items.count), status};
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/loss/MetricLearning.cpp.inc"

void brew::dialects::registerMetricLearningLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/loss/MetricLearning.cpp.inc"
      >();
}
