//===- BatchNorm.cpp - Batch normalisation --------------------------------===//
#include "dialects/Brew/layers/LayerGroup.h"
#include "dialects/Brew/layers/communication/Communication.h"
#include "dialects/Brew/layers/normalization/ElementGroups.h"
#include "dialects/Brew/layers/normalization/Normalization.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Returns x as (N, C, ...). A vector is one channel.
Value withChannels(OpBuilder &b, Location loc, Value x) {
  auto type = tensorTypeOf(x);
  if (type.getRank() != 1)
    return x;
  return ReinterpretOp::create(
      b, loc,
      RankedTensorType::get({type.getDimSize(0), 1}, type.getElementType()), x);
}

/// Returns the type in which to compute `result` from an operand returned by
/// withChannels.
RankedTensorType channelsType(Value result, Value operand) {
  return tensorTypeOf(result).getRank() == 1 ? tensorTypeOf(operand)
                                             : tensorTypeOf(result);
}

/// Returns `computed` in the shape of `type`.
Value asResult(OpBuilder &b, Location loc, Value computed, Type type) {
  return computed.getType() == type
             ? computed
             : ReinterpretOp::create(b, loc, type, computed);
}

/// Builds 1 / sqrt(variance + eps).
Value inverseDeviation(ScalarBuilder &s, Value variance, double eps) {
  Type type = variance.getType();
  Value sum = s.add(variance, s.constant(type, eps));
  return s.div(s.constant(type, 1), math::SqrtOp::create(s.b, s.loc, sum));
}

/// The elements of a channel in all items, or in the first `count` items. Nests
/// that use this class read `scalars()` as their last inputs.
class ChannelElements {
public:
  /// `count` may be null.
  ChannelElements(const ElementGroups &channels, RankedTensorType type,
                  Value count)
      : size(channels.size()), perItem(size / type.getDimSize(0)),
        element(type.getElementType()), count(count) {}

  /// Returns `others` and the scalars that determine the number of elements.
  SmallVector<Value> scalars(ValueRange others = {}) const {
    SmallVector<Value> values(others);
    if (count)
      values.push_back(count);
    return values;
  }
  /// Builds `x` if the item at loop `loop` is valid, else 0.
  Value ifValid(NestBuilder::Body &body, unsigned loop, Value x) const {
    return count ? body.s.select(
                       isValidItem(body.s, body.loop(loop), body.in.back()), x,
                       body.s.constant(element, 0))
                 : x;
  }
  /// Builds `x` if any item is valid, else `otherwise`.
  Value ifAny(NestBuilder::Body &body, Value x, Value otherwise) const {
    if (!count)
      return x;
    Value zero = body.s.constant(body.in.back().getType(), 0);
    return body.s.select(body.s.less(zero, body.in.back()), x, otherwise);
  }
  /// Builds 1 / the number of elements.
  Value inverseCount(NestBuilder::Body &body) const {
    if (!count)
      return body.s.constant(element, 1.0 / size);
    return body.s.div(body.s.constant(element, 1), positiveCount(body));
  }
  /// Builds the number of elements.
  Value elementCount(NestBuilder::Body &body) const {
    if (!count)
      return body.s.constant(element, static_cast<double>(size));
    return ifAny(body, positiveCount(body), body.s.constant(element, 0));
  }
  /// Builds the factor that makes a variance over the elements unbiased.
  Value correction(NestBuilder::Body &body) const {
    if (!count)
      return body.s.constant(element, size > 1 ? size / (size - 1.0) : 1);
    Value one = body.s.constant(element, 1), total = positiveCount(body);
    return body.s.div(total, body.s.maximum(body.s.sub(total, one), one));
  }

private:
  /// Builds the number of elements, at least 1.
  Value positiveCount(NestBuilder::Body &body) const {
    ScalarBuilder &s = body.s;
    Value items = arith::SIToFPOp::create(s.b, s.loc, element, body.in.back());
    return s.maximum(s.mul(items, s.constant(element, perItem)),
                     s.constant(element, 1));
  }

  int64_t size, perItem;
  Type element;
  Value count;
};

/// Builds the sums of `values` over all ranks. Their bucket is assigned later,
/// together with the buckets of gradients.
SmallVector<Value> sumOverRanks(OpBuilder &b, Location loc, ValueRange values) {
  const TypeRange types = values.getTypes();
  IntegerAttr bucket = b.getI64IntegerAttr(0);
  auto start = AllReduceStartOp::create(b, loc, types, values, bucket,
                                        b.getUnitAttr(), nullptr);
  return llvm::to_vector_of<Value>(
      AllReduceWaitOp::create(b, loc, types, start.getYs(), bucket,
                              b.getUnitAttr())
          .getYs());
}

/// Statistics of the batches of all ranks: one element per channel.
struct SharedMoments {
  Value mean;
  Value squares; ///< sum of the squared differences from the mean
  Value elementCount;
};

/// Builds the statistics from each rank's sums of differences from `shift` and
/// of their squares, by two successive all-reduces. The second one sums
/// differences from the common mean, to avoid cancellation.
SharedMoments buildSharedMoments(OpBuilder &b, Location loc,
                                 const ElementGroups &channels,
                                 const ChannelElements &elements,
                                 ValueRange sums, Value shift) {
  SmallVector<Value> local = channels.map(
      elements.scalars({sums[0], sums[1], shift}), 4,
      [&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value zero = s.constant(body.in[0].getType(), 0);
        Value inverseCount = elements.inverseCount(body),
              count = elements.elementCount(body);
        Value distance = s.mul(body.in[0], inverseCount);
        Value mean = s.add(body.in[2], distance);
        Value variance =
            s.sub(s.mul(body.in[1], inverseCount), s.mul(distance, distance));
        variance = s.select(s.greater(zero, variance), zero, variance);
        return {elements.ifAny(body, s.mul(count, mean), zero), count, mean,
                variance};
      });
  SmallVector<Value> globalSums =
      sumOverRanks(b, loc, ValueRange(local).take_front(2));
  SmallVector<Value> centred = channels.map(
      elements.scalars({globalSums[0], globalSums[1], local[2], local[3]}), 2,
      [&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value one = s.constant(body.in[0].getType(), 1);
        Value zero = s.constant(body.in[0].getType(), 0);
        Value mean = s.div(body.in[0], s.maximum(body.in[1], one));
        Value difference = s.sub(body.in[2], mean);
        Value squares = s.mul(elements.elementCount(body),
                              s.add(body.in[3], s.mul(difference, difference)));
        return {mean, elements.ifAny(body, squares, zero)};
      });
  return {centred[0], sumOverRanks(b, loc, centred[1])[0], globalSums[1]};
}

/// Builds (x - mean) * inverse deviation.
SmallVector<Value> normalized(NestBuilder::Body &body) {
  return {body.s.mul(body.s.sub(body.in[0], body.in[1]), body.in[2])};
}

/// Appends the shapes of `count` statistics: mean, variance, and the factor
/// that divides both.
template <typename Op>
LogicalResult inferStatisticShapes(Op op, size_t count, Shapes &params) {
  ArrayRef<int64_t> x = shapeOf(op.getX());
  if (x.empty())
    return layerError(op) << "a bottom without dimensions has no channels";
  int64_t channels = x.size() == 1 ? 1 : x[1];
  params.assign({{channels}, {channels}, {1}});
  params.truncate(count);
  return success();
}

} // namespace

//===----------------------------------------------------------------------===//
// Statistics of the batch
//===----------------------------------------------------------------------===//

LogicalResult BatchNormOp::inferShapes(Shapes &tops, Shapes &params) {
  if (failed(inferStatisticShapes(*this, getStatistics().size(), params)))
    return failure();
  ArrayRef<int64_t> x = shapeOf(getX());
  tops.emplace_back(x);
  tops.push_back({x.size() == 1 ? 1 : x[1]});
  tops.append(params.begin(), params.end());
  return success();
}

LogicalResult BatchNormOp::propagateItemCounts(ItemCounts &counts) {
  FailureOr<Value> count = counts.commonCount(*this, getX());
  if (failed(count))
    return failure();
  if (!*count)
    return success();
  getOperation()->insertOperands(getNumOperands(), *count);
  setHasItemCount(true);
  counts.set(getY(), *count);
  return success();
}

LogicalResult BatchNormOp::buildGradients(OpBuilder &b,
                                          ArrayRef<Value> resultGradients,
                                          ArrayRef<bool> needed,
                                          MutableArrayRef<Value> gradients) {
  if (needed[0] && resultGradients[0])
    gradients[0] = BatchNormBackwardOp::create(
        b, getLoc(), getX().getType(), getY(), getInverseDeviation(),
        resultGradients[0], getCount(), getLayerAttr(), getSynchronizedAttr());
  return success();
}

SmallVector<Value> BatchNormOp::buildNests(OpBuilder &b) {
  Value x = withChannels(b, getLoc(), getX());
  auto type = channelsType(getY(), x);
  Type element = type.getElementType();
  ElementGroups channels(b, getLoc(), type, {1});
  ChannelElements elements(channels, type, getCount());
  const unsigned items = channels.loopOf(0);
  // Compute the moments in one pass over x.
  Value shift = channels.medianSample(x, static_cast<bool>(getCount()));
  SmallVector<Value> perChannel = channels.moments(
      x, shift, elements.scalars(), [&](NestBuilder::Body &body, Value term) {
        return elements.ifValid(body, items, term);
      });
  double fraction = getFraction().convertToFloat();
  double weight = getBlend() ? 1 - fraction : 1;
  OperandRange running = getStatistics();
  // Builds the new statistics. `correction` is the factor that makes the
  // variance unbiased; `ifAny` selects its first argument if any item is valid.
  auto buildStatistics = [&](ScalarBuilder &s, Value mean, Value variance,
                             ValueRange previousStatistics,
                             function_ref<Value()> correction,
                             function_ref<Value(Value, Value)> ifAny) {
    Value zero = s.constant(element, 0);
    Value inverse = inverseDeviation(s, variance, getEps().convertToFloat());
    SmallVector<Value> results = {mean, ifAny(inverse, zero)};
    if (previousStatistics.empty())
      return results;
    Value hasStarted;
    if (getFromFirst())
      hasStarted = s.greater(previousStatistics[1], zero);
    auto appendAverage = [&](Value previous, Value batch) {
      Value sum = s.add(s.mul(previous, s.constant(element, fraction)),
                        s.mul(batch, s.constant(element, weight)));
      if (hasStarted)
        sum = s.select(hasStarted, sum, batch);
      results.push_back(ifAny(sum, previous));
    };
    appendAverage(previousStatistics[0], mean);
    // Weighted sums use the unbiased variance.
    if (!getBlend() || getUnbiased() || getFromFirst())
      variance = s.mul(variance, correction());
    appendAverage(previousStatistics[1], variance);
    return results;
  };
  const unsigned statisticCount = running.empty() ? 2 : 4;
  SmallVector<Value> statistics;
  SharedMoments shared;
  auto appendRunning = [&](SmallVector<Value> &values) {
    if (!running.empty())
      values.append(running.begin(), running.begin() + 2);
  };
  if (getSynchronized()) {
    shared =
        buildSharedMoments(b, getLoc(), channels, elements, perChannel, shift);
    SmallVector<Value> values = {shared.mean, shared.squares,
                                 shared.elementCount};
    appendRunning(values);
    statistics = channels.map(
        values, statisticCount,
        [&](NestBuilder::Body &body) -> SmallVector<Value> {
          ScalarBuilder &s = body.s;
          Value one = s.constant(element, 1), total = body.in[2];
          return buildStatistics(
              s, body.in[0], s.div(body.in[1], s.maximum(total, one)),
              body.in.drop_front(3),
              [&] { return s.div(total, s.maximum(s.sub(total, one), one)); },
              [&](Value x, Value otherwise) {
                return s.select(s.greater(total, s.constant(element, 0)), x,
                                otherwise);
              });
        });
  } else {
    perChannel.push_back(shift);
    appendRunning(perChannel);
    statistics = channels.map(
        elements.scalars(perChannel), statisticCount,
        [&](NestBuilder::Body &body) -> SmallVector<Value> {
          ScalarBuilder &s = body.s;
          Value zero = s.constant(element, 0),
                inverseCount = elements.inverseCount(body);
          Value distance = s.mul(body.in[0], inverseCount);
          Value mean = s.add(body.in[2], distance);
          Value variance =
              s.sub(s.mul(body.in[1], inverseCount), s.mul(distance, distance));
          // Rounding may make the variance negative; NaN stays.
          variance = s.select(s.greater(zero, variance), zero, variance);
          return buildStatistics(
              s, mean, variance, body.in.slice(3, statisticCount - 2),
              [&] { return elements.correction(body); },
              [&](Value x, Value otherwise) {
                return elements.ifAny(body, x, otherwise);
              });
        });
  }
  Value y = channels.apply(type, x, {statistics[0], statistics[1]}, normalized);
  SmallVector<Value> results = {asResult(b, getLoc(), y, getY().getType())};
  results.append(statistics.begin() + 1, statistics.end());
  if (running.size() < 3)
    return results;
  if (getBlend()) {
    results.push_back(running[2]);
    return results;
  }
  auto factorType = tensorTypeOf(getNext()[2]);
  NestBuilder factor(b, getLoc(), factorType.getShape());
  for (Value value : elements.scalars(running[2]))
    factor.input(value, iota(tensorTypeOf(value).getRank()));
  factor.output(factorType, {0});
  results.append(
      factor.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value next = s.add(s.mul(body.in[0], s.constant(element, fraction)),
                           s.constant(element, 1));
        if (!shared.elementCount || !getCount())
          return {elements.ifAny(body, next, body.in[0])};
        Value total = body.read(shared.elementCount, s.index(0));
        return {s.select(s.greater(total, s.constant(element, 0)), next,
                         body.in[0])};
      }));
  return results;
}

/// The gradients of padding items are 0 (see ItemCounts.h), so that sums of
/// gradients need no mask.
SmallVector<Value> BatchNormBackwardOp::buildNests(OpBuilder &b) {
  Value y = withChannels(b, getLoc(), getY());
  Value dy = withChannels(b, getLoc(), getDy());
  auto type = channelsType(getDx(), y);
  ElementGroups channels(b, getLoc(), type, {1});
  ChannelElements elements(channels, type, getCount());
  SmallVector<Value> sums = channels.sum(
      {y, dy}, {}, 2, [](NestBuilder::Body &body) -> SmallVector<Value> {
        return {body.in[1], body.s.mul(body.in[0], body.in[1])};
      });
  if (getSynchronized()) {
    SmallVector<Value> local = channels.map(
        elements.scalars(sums), 3,
        [&](NestBuilder::Body &body) -> SmallVector<Value> {
          return {body.in[0], body.in[1], elements.elementCount(body)};
        });
    sums = sumOverRanks(b, getLoc(), local);
  }
  SmallVector<Value> perChannel = {sums[0], sums[1], getInverseDeviation()};
  perChannel.append(sums.begin() + 2, sums.end()); // the number of elements
  Value dx = channels.apply(
      type, {y, dy}, elements.scalars(perChannel),
      [&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value removed = s.add(body.in[2], s.mul(body.in[0], body.in[3]));
        Value inverseCount;
        if (getSynchronized()) {
          Value one = s.constant(type.getElementType(), 1);
          inverseCount = s.div(one, s.maximum(body.in[5], one));
        } else {
          inverseCount = elements.inverseCount(body);
        }
        Value dx =
            s.mul(s.sub(body.in[1], s.mul(removed, inverseCount)), body.in[4]);
        return {elements.ifValid(body, 0, dx)};
      });
  return {asResult(b, getLoc(), dx, getDx().getType())};
}

//===----------------------------------------------------------------------===//
// Running statistics
//===----------------------------------------------------------------------===//

LogicalResult BatchNormGlobalOp::inferShapes(Shapes &tops, Shapes &params) {
  if (failed(inferStatisticShapes(*this, getRunningFactor() ? 3 : 2, params)))
    return failure();
  tops.emplace_back(shapeOf(getX()));
  return success();
}

SmallVector<Value>
brew::dialects::buildGlobalStatistics(OpBuilder &b, Location loc, Value mean,
                                      Value variance, Value factor,
                                      double eps) {
  auto type = RankedTensorType::get(shapeOf(mean), elementTypeOf(mean));
  Type element = type.getElementType();
  NestBuilder nest(b, loc, type.getShape());
  nest.input(mean, {0});
  nest.input(variance, {0});
  if (factor)
    nest.input(ReinterpretOp::create(b, loc, RankedTensorType::get({}, element),
                                     factor),
               ArrayRef<int64_t>{});
  nest.output(type, {0});
  nest.output(type, {0});
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value mean = body.in[0], variance = body.in[1];
    if (body.in.size() > 2) {
      Value zero = s.constant(element, 0);
      Value scale = s.select(s.equal(body.in[2], zero), zero,
                             s.div(s.constant(element, 1), body.in[2]));
      mean = s.mul(mean, scale);
      variance = s.mul(variance, scale);
    }
    return {mean, inverseDeviation(s, variance, eps)};
  });
}

/// Builds the statistics of `op` at the insertion point of `b`.
static SmallVector<Value> statisticsOf(BatchNormGlobalOp op, OpBuilder &b) {
  return buildGlobalStatistics(b, op.getLoc(), op.getRunningMean(),
                               op.getRunningVariance(), op.getRunningFactor(),
                               op.getEps().convertToFloat());
}

LogicalResult
BatchNormGlobalOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                                  ArrayRef<bool> needed,
                                  MutableArrayRef<Value> gradients) {
  if (!needed[0] || !resultGradients[0])
    return success();
  Value dy = withChannels(b, getLoc(), resultGradients[0]);
  ElementGroups channels(b, getLoc(), tensorTypeOf(dy), {1});
  Value dx = channels.apply(tensorTypeOf(dy), dy, statisticsOf(*this, b)[1],
                            [](NestBuilder::Body &body) -> SmallVector<Value> {
                              return {body.s.mul(body.in[0], body.in[1])};
                            });
  gradients[0] = asResult(b, getLoc(), dx, getX().getType());
  return success();
}

SmallVector<Value> BatchNormGlobalOp::buildNests(OpBuilder &b) {
  Value x = withChannels(b, getLoc(), getX());
  auto type = channelsType(getY(), x);
  ElementGroups channels(b, getLoc(), type, {1});
  Value y = channels.apply(type, x, statisticsOf(*this, b), normalized);
  return {asResult(b, getLoc(), y, getY().getType())};
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/normalization/Normalization.cpp.inc"

void brew::dialects::registerNormalizationLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/normalization/Normalization.cpp.inc"
      >();
}
