//===- MVN.cpp - Mean-variance and L2 normalisation -----------------------===//
#include "dialects/Brew/layers/normalization/ElementGroups.h"
#include "dialects/Brew/layers/normalization/Normalization.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Checks the rank: Caffe reads a blob of up to four dimensions as (N, C, H,
/// W).
LogicalResult checkRank(Operation *op, StringRef type, ArrayRef<int64_t> x) {
  if (x.size() > 4)
    return layerError(op) << type
                          << " takes a bottom of at most 4 dimensions, "
                             "not "
                          << x.size();
  return success();
}

/// Returns the leading dimensions, which index the groups.
SmallVector<int64_t> groupDims(RankedTensorType type, bool acrossChannels) {
  return iota(std::min<int64_t>(acrossChannels ? 1 : 2, type.getRank()));
}

/// Builds the term of a sum of elements.
SmallVector<Value> firstInput(NestBuilder::Body &body) { return {body.in[0]}; }

} // namespace

//===----------------------------------------------------------------------===//
// MVN
//===----------------------------------------------------------------------===//

LogicalResult MVNOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX());
  if (failed(checkRank(*this, "MVN", x)))
    return failure();
  if (getAcrossVectors() && x.size() == 2)
    setAcrossChannels(true);
  tops.emplace_back(x);
  tops.emplace_back(x.take_front(
      groupDims(tensorTypeOf(getX()), getAcrossChannels()).size()));
  return success();
}

LogicalResult MVNOp::buildGradients(OpBuilder &b,
                                    ArrayRef<Value> resultGradients,
                                    ArrayRef<bool>,
                                    MutableArrayRef<Value> gradients) {
  if (Value dy = resultGradients[0])
    gradients[0] = MVNBackwardOp::create(
        b, getLoc(), getX().getType(), getY(), dy,
        getNormalizeVariance() ? getInverseDeviation() : Value(),
        getLayerAttr(), getAcrossChannelsAttr());
  return success();
}

SmallVector<Value> MVNOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  Type elementType = type.getElementType();
  ElementGroups groups(b, getLoc(), type, groupDims(type, getAcrossChannels()));
  auto buildMean = [&](ScalarBuilder &s, Value sum) {
    return s.mul(sum, s.constant(elementType, 1.0 / groups.size()));
  };
  if (!getNormalizeVariance()) {
    Value mean = groups.map(groups.sum(getX(), {}, 1, firstInput), 1,
                            [&](NestBuilder::Body &body) -> SmallVector<Value> {
                              return {buildMean(body.s, body.in[0])};
                            })[0];
    return {groups.apply(type, getX(), mean,
                         [](NestBuilder::Body &body) -> SmallVector<Value> {
                           return {body.s.sub(body.in[0], body.in[1])};
                         }),
            Value()};
  }
  Value shift = groups.medianSample(getX());
  SmallVector<Value> moments = groups.moments(getX(), shift);
  SmallVector<Value> statistics = groups.map(
      {moments[0], moments[1], shift}, 2,
      [&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value distance = buildMean(s, body.in[0]);
        Value zero = s.constant(elementType, 0);
        Value variance =
            s.sub(buildMean(s, body.in[1]), s.mul(distance, distance));
        // Rounding may make the variance negative; NaN stays.
        variance = s.select(s.greater(zero, variance), zero, variance);
        Value eps = s.constant(elementType, getEps().convertToFloat());
        if (getEpsInRoot())
          variance = s.add(variance, eps);
        Value deviation = math::SqrtOp::create(s.b, s.loc, variance);
        if (!getEpsInRoot())
          deviation = s.add(deviation, eps);
        return {s.add(body.in[2], distance),
                s.div(s.constant(elementType, 1), deviation)};
      });
  Value mean = statistics[0], inverse = statistics[1];
  Value y = groups.apply(
      type, getX(), {mean, inverse},
      [](NestBuilder::Body &body) -> SmallVector<Value> {
        return {body.s.mul(body.s.sub(body.in[0], body.in[1]), body.in[2])};
      });
  return {y, inverse};
}

SmallVector<Value> MVNBackwardOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getDx());
  Type elementType = type.getElementType();
  ElementGroups groups(b, getLoc(), type, groupDims(type, getAcrossChannels()));
  auto buildMean = [&](ScalarBuilder &s, Value sum) {
    return s.mul(sum, s.constant(elementType, 1.0 / groups.size()));
  };
  if (!getInverseDeviation())
    return {groups.apply(type, getDy(), groups.sum(getDy(), {}, 1, firstInput),
                         [&](NestBuilder::Body &body) -> SmallVector<Value> {
                           return {body.s.sub(body.in[0],
                                              buildMean(body.s, body.in[1]))};
                         })};
  SmallVector<Value> sums =
      groups.sum({getY(), getDy()}, {}, 2,
                 [](NestBuilder::Body &body) -> SmallVector<Value> {
                   return {body.in[1], body.s.mul(body.in[0], body.in[1])};
                 });
  return {groups.apply(
      type, {getY(), getDy()}, {sums[0], sums[1], getInverseDeviation()},
      [&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value removed = s.add(body.in[2], s.mul(body.in[0], body.in[3]));
        return {s.mul(s.sub(body.in[1], buildMean(s, removed)), body.in[4])};
      })};
}

//===----------------------------------------------------------------------===//
// Normalize
//===----------------------------------------------------------------------===//

/// Returns the dimensions that index the norms.
static SmallVector<int64_t> normGroups(RankedTensorType type,
                                       bool acrossSpatial) {
  SmallVector<int64_t> kept = iota(type.getRank());
  if (acrossSpatial)
    kept.truncate(1);
  else
    kept.erase(kept.begin() + 1);
  return kept;
}

LogicalResult NormalizeOp::inferShapes(Shapes &tops, Shapes &params) {
  ArrayRef<int64_t> x = shapeOf(getX());
  if (failed(checkRank(*this, "Normalize", x)))
    return failure();
  if (x.size() < 2)
    return layerError(*this) << "Normalize needs a bottom of at least 2 "
                                "dimensions (N, C, ...), not "
                             << x.size();
  params.emplace_back(getChannelShared() ? ArrayRef<int64_t>() : x.slice(1, 1));
  tops.emplace_back(x);
  SmallVector<int64_t> &norms = tops.emplace_back();
  for (int64_t dim : normGroups(tensorTypeOf(getX()), getAcrossSpatial()))
    norms.push_back(x[dim]);
  return success();
}

LogicalResult NormalizeOp::buildGradients(OpBuilder &b,
                                          ArrayRef<Value> resultGradients,
                                          ArrayRef<bool> needed,
                                          MutableArrayRef<Value> gradients) {
  if (!resultGradients[0])
    return success();
  auto backward = NormalizeBackwardOp::create(
      b, getLoc(), getX().getType(), getScale().getType(), getX(), getScale(),
      getInverseNorm(), resultGradients[0], getLayerAttr(),
      getAcrossSpatialAttr(), getChannelSharedAttr());
  if (needed[0])
    gradients[0] = backward.getDx();
  if (needed[1])
    gradients[1] = backward.getDscale();
  return success();
}

SmallVector<Value> NormalizeOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  Type elementType = type.getElementType();
  ElementGroups groups(b, getLoc(), type, normGroups(type, getAcrossSpatial()));
  SmallVector<Value> sum = groups.sum(
      getX(), {}, 1, [](NestBuilder::Body &body) -> SmallVector<Value> {
        return {body.s.mul(body.in[0], body.in[0])};
      });
  Value inverse =
      groups.map(sum, 1, [&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value total = s.add(body.in[0],
                            s.constant(elementType, getEps().convertToFloat()));
        return {s.div(s.constant(elementType, 1),
                      math::SqrtOp::create(s.b, s.loc, total))};
      })[0];
  Value y = groups.apply(
      type, getX(), inverse,
      [](NestBuilder::Body &body) -> SmallVector<Value> {
        return {body.s.mul(body.s.mul(body.in[0], body.in[1]), body.in[2])};
      },
      getScale(), 1);
  return {y, inverse};
}

SmallVector<Value> NormalizeBackwardOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getDx());
  SmallVector<int64_t> kept = normGroups(type, getAcrossSpatial());
  ElementGroups groups(b, getLoc(), type, kept);
  Value dx, dscale;
  if (!getDx().use_empty()) {
    // With g = dy * scale: dx = (g - x * sum(x * g) / norm^2) / norm.
    Value g = groups.apply(
        type, getDy(), {},
        [](NestBuilder::Body &body) -> SmallVector<Value> {
          return {body.s.mul(body.in[0], body.in[1])};
        },
        getScale(), 1);
    SmallVector<Value> dot = groups.sum(
        {getX(), g}, {}, 1, [](NestBuilder::Body &body) -> SmallVector<Value> {
          return {body.s.mul(body.in[0], body.in[1])};
        });
    dx = groups.apply(type, {getX(), g}, {dot[0], getInverseNorm()},
                      [](NestBuilder::Body &body) -> SmallVector<Value> {
                        ScalarBuilder &s = body.s;
                        Value inverse = body.in[3];
                        Value projection = s.mul(s.mul(body.in[0], body.in[2]),
                                                 s.mul(inverse, inverse));
                        return {s.mul(s.sub(body.in[1], projection), inverse)};
                      });
  }
  if (!getDscale().use_empty()) {
    // Sums dy * x / norm over the elements that a scale multiplies.
    Value unit = groups.apply(
        type, {getX(), getDy()}, getInverseNorm(),
        [](NestBuilder::Body &body) -> SmallVector<Value> {
          ScalarBuilder &s = body.s;
          return {s.mul(s.mul(body.in[0], body.in[1]), body.in[2])};
        });
    SmallVector<int64_t> channel;
    if (!getChannelShared())
      channel.push_back(1);
    dscale = ElementGroups(b, getLoc(), type, channel)
                 .sum(unit, {}, 1, firstInput)[0];
  }
  return {dx, dscale};
}
