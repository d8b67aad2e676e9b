//===- ElementLoss.cpp - Losses that compare blobs elementwise ------------===//
#include "dialects/Brew/layers/loss/ElementLoss.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/LayerGroup.h"
#include "dialects/Brew/layers/external/External.h"
#include "dialects/Brew/layers/loss/Labels.h"
#include "dialects/Brew/layers/loss/Pairs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace brew::dialects;

//===----------------------------------------------------------------------===//
// EuclideanLoss
//===----------------------------------------------------------------------===//

LogicalResult EuclideanLossOp::inferShapes(Shapes &tops, Shapes &) {
  tops.assign({{}});
  return checkPair(*this, getX(), getT(), "number of items and elements");
}

LogicalResult EuclideanLossOp::propagateItemCounts(ItemCounts &counts) {
  return maskPaddingPairs(*this, counts, {0, 0});
}

LogicalResult
EuclideanLossOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                                ArrayRef<bool> needed,
                                MutableArrayRef<Value> operandGradients) {
  Location loc = getLoc();
  Value t = reshapeLike(b, loc, getT(), getX());
  double scale = 1.0 / shapeOf(getX())[0];
  Value dx = buildPairGradient(
      b, loc, {getX(), t}, resultGradients[0],
      [&](ScalarBuilder &s, ValueRange in, ValueRange dloss) -> Value {
        Value factor = s.mul(dloss[0], s.constant(in[0].getType(), scale));
        return s.mul(s.sub(in[0], in[1]), factor);
      });
  if (needed[0])
    operandGradients[0] = dx;
  if (needed[1])
    operandGradients[1] = reshapeLike(b, loc, buildNegated(b, loc, dx), getT());
  return success();
}

SmallVector<Value> EuclideanLossOp::buildNests(OpBuilder &b) {
  Location loc = getLoc();
  Value t = reshapeLike(b, loc, getT(), getX());
  Value sum = buildSumOver(b, loc, {getX(), t}, tensorTypeOf(getLoss()),
                           [](ScalarBuilder &s, ValueRange in) -> Value {
                             Value d = s.sub(in[0], in[1]);
                             return s.mul(d, d);
                           });
  return {buildScaled(b, loc, sum, 0.5 / shapeOf(getX())[0])};
}

//===----------------------------------------------------------------------===//
// SmoothL1Loss
//===----------------------------------------------------------------------===//

/// Checks the shapes of x, t and weights.
template <typename Op> static LogicalResult checkSmoothInputs(Op op) {
  if (failed(
          checkPair(op, op.getX(), op.getT(), "number of items and elements")))
    return failure();
  for (Value weight : op.getWeights())
    if (failed(checkPair(op, op.getX(), weight, "number of elements")))
      return failure();
  return success();
}

LogicalResult SmoothL1LossOp::inferShapes(Shapes &tops, Shapes &) {
  tops.assign({{}});
  return checkSmoothInputs(*this);
}

LogicalResult SmoothL1LossOp::propagateItemCounts(ItemCounts &counts) {
  if (getNormalization() == Normalization::BatchSize)
    return maskPaddingPairs(*this, counts, {0, 0});
  for (Value operand : getOperands())
    if (failed(counts.requireAllItems(*this, operand)))
      return failure();
  return success();
}

/// Returns the number of elements without dimension 1.
static int64_t countPositions(ArrayRef<int64_t> shape) {
  return countOf(shape) / (shape.size() > 1 ? shape[1] : 1);
}

static double divisorOf(SmoothL1LossOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getX());
  switch (op.getNormalization()) {
  case Normalization::Valid:
  case Normalization::Full:
    return static_cast<double>(countPositions(shape));
  case Normalization::BatchSize:
    return static_cast<double>(shape[0]);
  case Normalization::None:
    break;
  }
  return 1;
}

/// Returns the bottoms in x's shape: x, t, inside and outside weights.
template <typename Op>
static SmallVector<Value> smoothInputs(Op op, OpBuilder &b) {
  SmallVector<Value> inputs;
  for (Value bottom : op->getOperands())
    inputs.push_back(reshapeLike(b, op.getLoc(), bottom, op.getX()));
  return inputs;
}

/// Builds (x - t), times the inside weight.
static Value smoothDifference(ScalarBuilder &s, ValueRange in) {
  Value d = s.sub(in[0], in[1]);
  return in.size() > 2 ? s.mul(in[2], d) : d;
}

/// Builds the loss of an element.
static Value smoothLoss(ScalarBuilder &s, ValueRange in, double sigmaSquared) {
  Type type = in[0].getType();
  Value d = smoothDifference(s, in);
  Value magnitude = math::AbsFOp::create(s.b, s.loc, d);
  Value inner = s.mul(s.mul(d, d), s.constant(type, 0.5 * sigmaSquared));
  Value outer = s.sub(magnitude, s.constant(type, 0.5 / sigmaSquared));
  Value loss = s.select(
      s.greater(s.constant(type, 1 / sigmaSquared), magnitude), inner, outer);
  return in.size() > 3 ? s.mul(in[3], loss) : loss;
}

LogicalResult
SmoothL1LossOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                               ArrayRef<bool> needed,
                               MutableArrayRef<Value> operandGradients) {
  Location loc = getLoc();
  for (unsigned i = 2; i < needed.size(); ++i)
    if (needed[i])
      return layerError(*this) << "cannot backpropagate to its weights";
  double sigmaSquared =
             getSigma().convertToFloat() * getSigma().convertToFloat(),
         scale = 1.0 / divisorOf(*this);
  Value dx = buildPairGradient(
      b, loc, smoothInputs(*this, b), resultGradients[0],
      [&](ScalarBuilder &s, ValueRange in, ValueRange dloss) -> Value {
        Type type = in[0].getType();
        Value d = smoothDifference(s, in), zero = s.constant(type, 0);
        Value magnitude = math::AbsFOp::create(s.b, s.loc, d);
        Value sign =
            s.select(s.greater(d, zero), s.constant(type, 1),
                     s.select(s.greater(zero, d), s.constant(type, -1), zero));
        Value slope =
            s.select(s.greater(s.constant(type, 1 / sigmaSquared), magnitude),
                     s.mul(s.constant(type, sigmaSquared), d), sign);
        slope = s.mul(slope, s.mul(dloss[0], s.constant(type, scale)));
        // The forks multiply by both weights or by neither.
        return in.size() > 3 ? s.mul(s.mul(slope, in[2]), in[3]) : slope;
      });
  if (needed[0])
    operandGradients[0] = dx;
  if (needed[1])
    operandGradients[1] = reshapeLike(b, loc, buildNegated(b, loc, dx), getT());
  return success();
}

SmallVector<Value> SmoothL1LossOp::buildNests(OpBuilder &b) {
  double sigmaSquared =
      getSigma().convertToFloat() * getSigma().convertToFloat();
  Value sum =
      buildSumOver(b, getLoc(), smoothInputs(*this, b), tensorTypeOf(getLoss()),
                   [&](ScalarBuilder &s, ValueRange in) -> Value {
                     return smoothLoss(s, in, sigmaSquared);
                   });
  return {buildScaled(b, getLoc(), sum, 1.0 / divisorOf(*this))};
}

LogicalResult SmoothL1ItemsOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX());
  if (x.size() < 2 || x.size() > 4)
    return layerError(*this) << "takes bottoms of 2 to 4 dimensions (N, C, H, "
                                "W), not "
                             << x.size();
  auto extent = [&](size_t dim) { return dim < x.size() ? x[dim] : 1; };
  tops.assign({{x[0], 1, extent(2), extent(3)}});
  return checkSmoothInputs(*this);
}

SmallVector<Value> SmoothL1ItemsOp::buildNests(OpBuilder &b) {
  auto x = tensorTypeOf(getX());
  AxisRows rows(x, 1);
  NestBuilder nest(b, getLoc(), x.getShape(), rows.reduction);
  for (Value input : smoothInputs(*this, b))
    nest.input(input, iota(x.getRank()));
  nest.output(rows.type, rows.others, 0.0);
  Value sums = nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.accumulate(body.out[0], smoothLoss(body.s, body.in, 1))};
  })[0];
  return {reshapeLike(b, getLoc(), sums, getY())};
}

//===----------------------------------------------------------------------===//
// SigmoidCrossEntropyLoss
//===----------------------------------------------------------------------===//

bool SigmoidCrossEntropyLossOp::mustStayExact(unsigned operand) {
  return operand == getTMutable().getOperandNumber();
}

LogicalResult SigmoidCrossEntropyLossOp::inferShapes(Shapes &tops, Shapes &) {
  if (getSoftmaxAxis()) {
    FailureOr<int64_t> axis = canonicalAxis(
        *this, static_cast<int64_t>(*getSoftmaxAxis()), shapeOf(getX()).size());
    if (failed(axis))
      return failure();
    setSoftmaxAxis(*axis);
  }
  tops.assign({{}, {}});
  return checkPair(*this, getX(), getT(), "number of items and elements");
}

LogicalResult
SigmoidCrossEntropyLossOp::propagateItemCounts(ItemCounts &counts) {
  return propagateCountsOfLoss(*this, counts, getTMutable(), {getX(), getT()});
}

/// Builds whether a target is `ignoreLabel`. Caffe truncates targets to
/// integers.
static Value isIgnored(ScalarBuilder &s, Value target, int64_t ignoreLabel) {
  return s.equal(math::TruncOp::create(s.b, s.loc, target),
                 s.constant(target.getType(), ignoreLabel));
}

LogicalResult SigmoidCrossEntropyLossOp::buildGradients(
    OpBuilder &b, ArrayRef<Value> resultGradients, ArrayRef<bool> needed,
    MutableArrayRef<Value> operandGradients) {
  if (needed[1])
    return layerError(*this) << "cannot backpropagate to its targets";
  if (!resultGradients[0])
    return success();
  auto ignore = asOptional(getIgnoreLabel());
  Value t = reshapeLike(b, getLoc(), getT(), getX());
  const bool usesSoftmax = getSoftmaxAxis().has_value();
  Value x = usesSoftmax ? buildSoftmax(b, getLoc(), getX(), *getSoftmaxAxis(),
                                       tensorTypeOf(getX()))
                        : Value(getX());
  operandGradients[0] = buildPairGradient(
      b, getLoc(), {x, t}, {resultGradients[0], getNormalizer()},
      [&](ScalarBuilder &s, ValueRange in, ValueRange scalars) -> Value {
        Type type = in[0].getType();
        Value one = s.constant(type, 1);
        Value predicted =
            usesSoftmax ? in[0] : s.div(one, s.add(one, s.exp(s.neg(in[0]))));
        Value dx =
            s.mul(s.sub(predicted, in[1]), s.div(scalars[0], scalars[1]));
        return ignore ? s.select(isIgnored(s, in[1], *ignore),
                                 s.constant(type, 0), dx)
                      : dx;
      });
  return success();
}

SmallVector<Value> SigmoidCrossEntropyLossOp::buildNests(OpBuilder &b) {
  Location loc = getLoc();
  auto ignore = asOptional(getIgnoreLabel());
  auto scalar = tensorTypeOf(getLoss());
  Value t = reshapeLike(b, loc, getT(), getX());
  Value sum = buildSumOver(
      b, loc, {getX(), t}, scalar,
      [&](ScalarBuilder &s, ValueRange in) -> Value {
        Type type = in[0].getType();
        Value zero = s.constant(type, 0), x = in[0], target = in[1];
        // log(1 + exp(-|x|)) + x (positive - t), which cannot overflow.
        Value positive =
            s.select(s.greaterEqual(x, zero), s.constant(type, 1), zero);
        Value logTerm = math::Log1pOp::create(
            s.b, s.loc, s.exp(s.neg(math::AbsFOp::create(s.b, s.loc, x))));
        Value loss = s.add(s.mul(x, s.sub(positive, target)), logTerm);
        return ignore ? s.select(isIgnored(s, target, *ignore), zero, loss)
                      : loss;
      });
  Value valid;
  if (ignore && getNormalization() == Normalization::Valid)
    valid = buildSumOver(
        b, loc, t, scalar, [&](ScalarBuilder &s, ValueRange in) -> Value {
          Type type = in[0].getType();
          return s.select(isIgnored(s, in[0], *ignore), s.constant(type, 0),
                          s.constant(type, 1));
        });
  ArrayRef<int64_t> x = shapeOf(getX());
  const int64_t items = countOf(x.take_front(getSoftmaxAxis().value_or(1)));
  Value normalizer = buildNormalizer(b, loc, getNormalization(), items,
                                     countOf(x), valid, scalar);
  return {buildQuotient(b, loc, sum, normalizer), normalizer};
}

//===----------------------------------------------------------------------===//
// MemoryLoss
//===----------------------------------------------------------------------===//

bool MemoryLossOp::mustStayExact(unsigned operand) {
  return operand == getValueMutable().getOperandNumber();
}

LogicalResult MemoryLossOp::inferShapes(Shapes &tops, Shapes &) {
  for (auto [x, blob] : llvm::zip(getXs(), getBlobs().getAsRange<StringAttr>()))
    if (shapeOf(x).size() < 2)
      return layerError(*this) << "takes rows of numbers, but '"
                               << blob.getValue() << "' has fewer than two "
                               << "dimensions";
  tops.assign({{}});
  return success();
}

LogicalResult MemoryLossOp::propagateItemCounts(ItemCounts &counts) {
  for (Value x : getXs())
    if (failed(counts.requireAllItems(*this, x)))
      return failure();
  return success();
}

/// Returns the number of rows for the normalization: the elements of `shape`
/// without dimension 1, along which a row extends.
static int64_t countRows(ArrayRef<int64_t> shape) {
  return shape[0] * countOf(shape.drop_front(2));
}

static double normalizerOf(MemoryLossOp op) {
  ArrayRef<int64_t> first = shapeOf(op.getXs()[0]);
  for (Value x : op.getXs())
    if (countOf(shapeOf(x).drop_front()) != countOf(first.drop_front()))
      return 1;
  switch (op.getNormalization()) {
  case Normalization::Valid:
  case Normalization::Full:
    return static_cast<double>(countRows(first));
  case Normalization::BatchSize:
    return static_cast<double>(first[0]);
  case Normalization::None:
    break;
  }
  return 1;
}

LogicalResult
MemoryLossOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                             ArrayRef<bool> needed,
                             MutableArrayRef<Value> operandGradients) {
  if (!resultGradients[0])
    return success();
  llvm::StringMap<OutputGradientOp> gradients;
  for (auto gradient : getOperation()->getBlock()->getOps<OutputGradientOp>())
    gradients[gradient.getBlob()] = gradient;
  const double scale = 1 / normalizerOf(*this);
  for (auto [i, blob] : llvm::enumerate(getBlobs().getAsRange<StringAttr>())) {
    if (!needed[i])
      continue;
    OutputGradientOp gradient = gradients.lookup(blob.getValue());
    if (!gradient)
      return layerError(*this) << "the program has no output gradient of '"
                               << blob.getValue() << "'";
    operandGradients[i] = buildPairGradient(
        b, getLoc(), gradient.getGradient(), resultGradients[0],
        [&](ScalarBuilder &s, ValueRange in, ValueRange dloss) -> Value {
          Type type = in[0].getType();
          return s.mul(in[0], s.mul(dloss[0], s.constant(type, scale)));
        });
  }
  return success();
}

SmallVector<Value> MemoryLossOp::buildNests(OpBuilder &b) {
  return {buildScaled(b, getLoc(), getValue(), 1 / normalizerOf(*this))};
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/loss/ElementLoss.cpp.inc"

void brew::dialects::registerElementLossLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/loss/ElementLoss.cpp.inc"
      >();
}
