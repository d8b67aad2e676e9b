//===- LabelLoss.cpp - Losses of scores against class labels --------------===//
#include "dialects/Brew/layers/loss/LabelLoss.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/LayerGroup.h"
#include "dialects/Brew/layers/loss/Labels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Smallest argument of the logarithm in Caffe (kLOG_THRESHOLD).
constexpr double kMinProbability = 1e-20;

/// Scores (N, ...), whose dimensions after the first index the classes.
struct Scores {
  RankedTensorType type;
  int64_t items, classes;

  explicit Scores(Value x)
      : type(tensorTypeOf(x)), items(type.getDimSize(0)),
        classes(type.getNumElements() / type.getDimSize(0)) {}

  /// Builds the class of the element at the body's loops.
  Value classOf(NestBuilder::Body &body) const {
    Value index = body.s.index(0);
    for (int64_t dim = 1; dim < type.getRank(); ++dim)
      index =
          body.s.addi(body.s.muli(index, type.getDimSize(dim)), body.loop(dim));
    return index;
  }
  /// Builds the indices of the element of class `index` of the item at loop 0.
  SmallVector<Value> indicesOf(NestBuilder::Body &body, Value index) const {
    SmallVector<Value> indices(type.getRank());
    indices[0] = body.loop(0);
    for (int64_t dim = type.getRank(); --dim > 0;) {
      bool isOutermost = dim == 1;
      indices[dim] =
          isOutermost ? index : body.s.remi(index, type.getDimSize(dim));
      if (!isOutermost)
        index = body.s.divi(index, type.getDimSize(dim));
    }
    return indices;
  }
};

LogicalResult checkScores(Operation *op, Value x, Value label) {
  ArrayRef<int64_t> shape = shapeOf(x);
  if (shape.size() < 2)
    return layerError(op) << "needs scores of at least 2 dimensions (N, C), "
                             "not "
                          << shape.size();
  if (countOf(shapeOf(label)) != shape[0])
    return layerError(op) << "needs one label per item: " << shape[0]
                          << ", not " << countOf(shapeOf(label));
  return success();
}

/// Reshapes the labels to (N).
Value flatLabels(OpBuilder &b, Location loc, Value label) {
  auto type =
      RankedTensorType::get({countOf(shapeOf(label))}, elementTypeOf(label));
  if (label.getType() == type)
    return label;
  return ReinterpretOp::create(b, loc, type, label);
}

TensorType statusType(MLIRContext *context) {
  return UnrankedTensorType::get(IntegerType::get(context, 32));
}

/// Builds max(0, 1 - x) for the label's class and max(0, 1 + x) for others, or
/// 0 for an ignored label, and whether the class is the label's.
std::pair<Value, Value> hingeOf(NestBuilder::Body &body, const Scores &scores,
                                Value x, Value labelValue,
                                std::optional<int64_t> ignore) {
  ScalarBuilder &s = body.s;
  Type type = x.getType();
  Label label(s, labelValue, scores.classes, ignore);
  Value isLabelClass =
      s.both(s.equali(label.index, scores.classOf(body)), label.inRange);
  Value signedX = s.select(isLabelClass, s.neg(x), x);
  Value zero = s.constant(type, 0);
  Value hinge = s.maximum(s.add(s.constant(type, 1), signedX), zero);
  if (label.ignored)
    hinge = s.select(label.ignored, zero, hinge);
  return {hinge, isLabelClass};
}

/// Sets the item counts of a loss that is divided by N and has no other
/// normalization.
template <typename Op>
LogicalResult propagateCountsOfMeanLoss(Op op, ItemCounts &counts,
                                        ValueRange bottoms) {
  FailureOr<Value> count =
      ignorePaddingLabels(op, counts, op.getLabelMutable(), bottoms);
  if (failed(count))
    return failure();
  if (*count)
    counts.rescaleMean(op, *count);
  return success();
}

} // namespace

//===----------------------------------------------------------------------===//
// HingeLoss
//===----------------------------------------------------------------------===//

int64_t HingeLossOp::labelLimit() { return Scores(getX()).classes; }

bool HingeLossOp::mustStayExact(unsigned operand) {
  return operand == getLabelMutable().getOperandNumber();
}

LogicalResult HingeLossOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(checkScores(*this, getX(), getLabel())))
    return failure();
  getStatus().setType(statusType(getContext()));
  tops.assign({{}, {}});
  return success();
}

LogicalResult HingeLossOp::propagateItemCounts(ItemCounts &counts) {
  return propagateCountsOfMeanLoss(*this, counts, {getX(), getLabel()});
}

LogicalResult
HingeLossOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                            ArrayRef<bool> needed,
                            MutableArrayRef<Value> operandGradients) {
  if (needed[1])
    return layerError(*this) << "cannot backpropagate to label inputs";
  if (!resultGradients[0])
    return success();
  Scores scores(getX());
  auto ignore = asOptional(getIgnoreLabel());
  SmallVector<int64_t> allDims = iota(scores.type.getRank());
  NestBuilder nest(b, getLoc(), scores.type.getShape());
  nest.input(getX(), allDims);
  nest.input(flatLabels(b, getLoc(), getLabel()), ArrayRef<int64_t>{0});
  nest.input(resultGradients[0], ArrayRef<int64_t>{});
  nest.output(scores.type, allDims);
  operandGradients[0] =
      nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        auto [hinge, isLabelClass] =
            hingeOf(body, scores, body.in[0], body.in[1], ignore);
        Type type = hinge.getType();
        Value zero = s.constant(type, 0);
        Value slope = getSquared() ? s.mul(hinge, s.constant(type, 2))
                                   : s.select(s.greater(hinge, zero),
                                              s.constant(type, 1), zero);
        slope = s.mul(slope,
                      s.mul(body.in[2], s.constant(type, 1.0 / scores.items)));
        return {s.select(isLabelClass, s.neg(slope), slope)};
      })[0];
  return success();
}

SmallVector<Value> HingeLossOp::buildNests(OpBuilder &b) {
  Location loc = getLoc();
  Scores scores(getX());
  auto ignore = asOptional(getIgnoreLabel());
  Value labels = flatLabels(b, loc, getLabel());
  SmallVector<bool> reduction(scores.type.getRank(), true);
  NestBuilder nest(b, loc, scores.type.getShape(), reduction);
  nest.input(getX(), iota(scores.type.getRank()));
  nest.input(labels, ArrayRef<int64_t>{0});
  nest.output(tensorTypeOf(getLoss()), {}, 0.0);
  Value sum = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    Value hinge = hingeOf(body, scores, body.in[0], body.in[1], ignore).first;
    if (getSquared())
      hinge = body.s.mul(hinge, hinge);
    return {body.s.accumulate(body.out[0], hinge)};
  })[0];
  Value status;
  if (!getStatus().use_empty())
    status = buildStatus(b, loc, labels, scores.classes, ignore,
                         tensorTypeOf(getStatus()));
  return {buildScaled(b, loc, sum, 1.0 / scores.items), status};
}

//===----------------------------------------------------------------------===//
// MultinomialLogisticLoss
//===----------------------------------------------------------------------===//

int64_t MultinomialLogisticLossOp::labelLimit() {
  return Scores(getP()).classes;
}

bool MultinomialLogisticLossOp::mustStayExact(unsigned operand) {
  return operand == getLabelMutable().getOperandNumber();
}

LogicalResult MultinomialLogisticLossOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(checkScores(*this, getP(), getLabel())))
    return failure();
  getStatus().setType(statusType(getContext()));
  tops.assign({{}, {}});
  return success();
}

LogicalResult
MultinomialLogisticLossOp::propagateItemCounts(ItemCounts &counts) {
  return propagateCountsOfMeanLoss(*this, counts, {getP(), getLabel()});
}

LogicalResult MultinomialLogisticLossOp::buildGradients(
    OpBuilder &b, ArrayRef<Value> resultGradients, ArrayRef<bool> needed,
    MutableArrayRef<Value> operandGradients) {
  if (needed[1])
    return layerError(*this) << "cannot backpropagate to label inputs";
  if (!resultGradients[0])
    return success();
  Scores scores(getP());
  auto ignore = asOptional(getIgnoreLabel());
  SmallVector<int64_t> allDims = iota(scores.type.getRank());
  NestBuilder nest(b, getLoc(), scores.type.getShape());
  nest.input(getP(), allDims);
  nest.input(flatLabels(b, getLoc(), getLabel()), ArrayRef<int64_t>{0});
  nest.input(resultGradients[0], ArrayRef<int64_t>{});
  nest.output(scores.type, allDims);
  operandGradients[0] =
      nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Type type = body.in[0].getType();
        Label label(s, body.in[1], scores.classes, ignore);
        Value isLabelClass =
            s.both(s.equali(label.index, scores.classOf(body)), label.inRange);
        Value p = s.maximum(body.in[0], s.constant(type, kMinProbability));
        Value scale = s.mul(body.in[2], s.constant(type, -1.0 / scores.items));
        Value zero = s.constant(type, 0);
        Value dp = s.select(isLabelClass, s.div(scale, p), zero);
        if (label.ignored)
          dp = s.select(label.ignored, zero, dp);
        return {dp};
      })[0];
  return success();
}

SmallVector<Value> MultinomialLogisticLossOp::buildNests(OpBuilder &b) {
  Location loc = getLoc();
  Scores scores(getP());
  auto ignore = asOptional(getIgnoreLabel());
  Value labels = flatLabels(b, loc, getLabel()), p = getP();
  NestBuilder nest(b, loc, {scores.items}, {true});
  nest.input(labels, iota(1));
  nest.output(tensorTypeOf(getLoss()), {}, 0.0);
  Value sum = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Label label(s, body.in[0], scores.classes, ignore);
    Value element = body.read(p, scores.indicesOf(body, label.index));
    Value safe =
        s.maximum(element, s.constant(element.getType(), kMinProbability));
    Value loss = s.log(safe);
    if (label.ignored)
      loss = s.select(label.ignored, s.constant(loss.getType(), 0), loss);
    return {s.accumulate(body.out[0], loss)};
  })[0];
  Value status;
  if (!getStatus().use_empty())
    status = buildStatus(b, loc, labels, scores.classes, ignore,
                         tensorTypeOf(getStatus()));
  return {buildScaled(b, loc, sum, -1.0 / scores.items), status};
}

//===----------------------------------------------------------------------===//
// InfogainLoss
//===----------------------------------------------------------------------===//

int64_t InfogainLossOp::labelLimit() { return shapeOf(getX())[getAxis()]; }

bool InfogainLossOp::mustStayExact(unsigned operand) {
  return operand != getXMutable().getOperandNumber();
}

/// The probabilities stay f32.
bool InfogainLossOp::staysF32(unsigned result) { return result == 1; }

LogicalResult InfogainLossOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX());
  FailureOr<int64_t> axis = canonicalAxis(*this, getAxis(), x.size());
  if (failed(axis))
    return failure();
  setAxis(*axis);
  if (failed(checkLabelCount(*this, x, shapeOf(getLabel()), *axis)))
    return failure();
  int64_t classes = x[*axis], elements = countOf(shapeOf(getH()));
  if (elements != classes * classes)
    return layerError(*this)
           << "the infogain matrix must have " << classes << " x " << classes
           << " = " << classes * classes << " elements for " << classes
           << " classes, not " << elements;
  getStatus().setType(statusType(getContext()));
  tops.assign({{}, SmallVector<int64_t>(x), {}, {}});
  return success();
}

LogicalResult InfogainLossOp::propagateItemCounts(ItemCounts &counts) {
  if (failed(counts.requireAllItems(*this, getH())))
    return failure();
  return propagateCountsOfLoss(*this, counts, getLabelMutable(),
                               {getX(), getLabel()});
}

/// Returns H as (classes, classes).
static Value infogainMatrix(InfogainLossOp op, OpBuilder &b) {
  int64_t classes = op.labelLimit();
  auto type =
      RankedTensorType::get({classes, classes}, elementTypeOf(op.getH()));
  if (op.getH().getType() == type)
    return op.getH();
  return ReinterpretOp::create(b, op.getLoc(), type, op.getH());
}

LogicalResult
InfogainLossOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                               ArrayRef<bool> needed,
                               MutableArrayRef<Value> operandGradients) {
  if (needed[1] || needed[2])
    return layerError(*this) << "cannot backpropagate to "
                             << (needed[1] ? "label" : "infogain") << " inputs";
  if (!resultGradients[0])
    return success();
  Location loc = getLoc();
  int64_t axis = getAxis(), classes = labelLimit();
  auto ignore = asOptional(getIgnoreLabel());
  auto type = RankedTensorType::get(shapeOf(getX()), elementTypeOf(getX()));
  AxisRows rows(type, axis);
  Value labels = labelsByRow(b, loc, getLabel(), rows);
  Value h = infogainMatrix(*this, b);
  NestBuilder sums(b, loc, {classes, classes}, {false, true});
  sums.input(h, iota(2));
  sums.output(RankedTensorType::get({classes}, type.getElementType()), iota(1),
              0.0);
  Value rowSums =
      sums.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        return {body.s.accumulate(body.out[0], body.in[0])};
      })[0];
  SmallVector<int64_t> allDims = iota(type.getRank());
  NestBuilder nest(b, loc, type.getShape());
  nest.input(getProb(), allDims);
  nest.input(labels, rows.others);
  nest.input(resultGradients[0], ArrayRef<int64_t>{});
  nest.input(getNormalizer(), ArrayRef<int64_t>{});
  nest.output(type, allDims);
  operandGradients[0] =
      nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Label label(s, body.in[1], classes, ignore);
        Value gain = body.read(h, {label.index, body.loop(axis)});
        Value dx =
            s.sub(s.mul(body.in[0], body.read(rowSums, label.index)), gain);
        dx = s.mul(dx, s.div(body.in[2], body.in[3]));
        if (label.ignored)
          dx =
              s.select(label.ignored, s.constant(type.getElementType(), 0), dx);
        return {dx};
      })[0];
  return success();
}

SmallVector<Value> InfogainLossOp::buildNests(OpBuilder &b) {
  Location loc = getLoc();
  auto probType = tensorTypeOf(getProb());
  auto scalar = tensorTypeOf(getLoss());
  int64_t axis = getAxis(), classes = labelLimit();
  auto ignore = asOptional(getIgnoreLabel());
  AxisRows rows(probType, axis);
  Value prob = buildSoftmax(b, loc, getX(), axis, probType);
  Value labels = labelsByRow(b, loc, getLabel(), rows);
  Value h = infogainMatrix(*this, b);

  SmallVector<bool> reduction(probType.getRank(), true);
  NestBuilder nest(b, loc, probType.getShape(), reduction);
  nest.input(prob, iota(probType.getRank()));
  nest.input(labels, rows.others);
  nest.output(scalar, {}, 0.0);
  Value total = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Type type = body.in[0].getType();
    Label label(s, body.in[1], classes, ignore);
    Value gain = body.read(h, {label.index, body.loop(axis)});
    Value safe = s.maximum(body.in[0], s.constant(type, kMinProbability));
    Value loss = s.neg(s.mul(gain, s.log(safe)));
    if (label.ignored)
      loss = s.select(label.ignored, s.constant(type, 0), loss);
    return {s.accumulate(body.out[0], loss)};
  })[0];
  Value valid;
  if (ignore && getNormalization() == Normalization::Valid)
    valid = buildValidCount(b, loc, labels, classes, *ignore, scalar);
  Value normalizer = buildNormalizer(
      b, loc, getNormalization(), countOf(probType.getShape().take_front(axis)),
      countOf(rows.type.getShape()), valid, scalar);
  Value status;
  if (!getStatus().use_empty())
    status =
        buildStatus(b, loc, labels, classes, ignore, tensorTypeOf(getStatus()));
  return {buildQuotient(b, loc, total, normalizer), prob, normalizer, status};
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/loss/LabelLoss.cpp.inc"

void brew::dialects::registerLabelLossLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/loss/LabelLoss.cpp.inc"
      >();
}
