//===- Precision.cpp - 16-bit types and loss scaling ----------------------===//
#include "dialects/Brew/layers/precision/Precision.h"
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/LayerGroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace brew::dialects;

#include "dialects/Brew/PrecisionInterface.cpp.inc"

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

LogicalResult CastOp::verify() {
  auto x = dyn_cast<RankedTensorType>(getX().getType()),
       y = dyn_cast<RankedTensorType>(getY().getType());
  if (!x || !y || x.getShape() != y.getShape())
    return emitOpError("keeps the shape");
  if (!isa<FloatType>(x.getElementType()) ||
      !isa<FloatType>(y.getElementType()))
    return emitOpError("is between floating-point types");
  return success();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  // A wider type represents every number of a narrower one.
  auto inner = getX().getDefiningOp<CastOp>();
  if (inner && inner.getX().getType() == getY().getType() &&
      elementTypeOf(getX()).getIntOrFloatBitWidth() >
          elementTypeOf(getY()).getIntOrFloatBitWidth())
    return inner.getX();
  return {};
}

SmallVector<Value> CastOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getX(), iota(type.getRank()));
  nest.output(type, iota(type.getRank()));
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    Type to = type.getElementType();
    bool widens = to.getIntOrFloatBitWidth() >
                  body.in[0].getType().getIntOrFloatBitWidth();
    if (widens)
      return {arith::ExtFOp::create(body.s.b, getLoc(), to, body.in[0])};
    return {arith::TruncFOp::create(body.s.b, getLoc(), to, body.in[0])};
  });
}

//===----------------------------------------------------------------------===//
// Loss scaling
//===----------------------------------------------------------------------===//

/// Builds a nest without loops, over scalars.
static SmallVector<Value>
buildScalars(OpBuilder &b, Location loc, ValueRange inputs, ValueRange results,
             function_ref<SmallVector<Value>(NestBuilder::Body &)> body) {
  NestBuilder nest(b, loc, ArrayRef<int64_t>{});
  for (Value input : inputs)
    nest.input(input, ArrayRef<int64_t>{});
  for (Value result : results)
    nest.output(tensorTypeOf(result), ArrayRef<int64_t>{});
  return nest.build(body);
}

SmallVector<Value> LossScaleOp::buildNests(OpBuilder &b) {
  return buildScalars(
      b, getLoc(), getState(), getScale(),
      [&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value state = body.in[0];
        Type type = state.getType();
        return {s.select(s.equal(state, s.constant(type, 0)),
                         s.constant(type, getInitial().convertToDouble()),
                         state)};
      });
}

SmallVector<Value> LossGradientOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getGradient());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getScale(), ArrayRef<int64_t>{});
  nest.output(type, iota(type.getRank()));
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {
        body.s.mul(body.in[0], body.s.constant(type.getElementType(),
                                               getWeight().convertToDouble()))};
  });
}

SmallVector<Value> ScaleGradientOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getX(), iota(type.getRank()));
  nest.input(getScale(), ArrayRef<int64_t>{});
  nest.output(type, iota(type.getRank()));
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.mul(body.in[0], body.in[1])};
  });
}

SmallVector<Value> UnscaleOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getX(), iota(type.getRank()));
  nest.input(getScale(), ArrayRef<int64_t>{});
  nest.output(type, iota(type.getRank()));
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    // The reciprocal of a power of two is exact.
    ScalarBuilder &s = body.s;
    return {s.mul(body.in[0],
                  s.div(s.constant(body.in[1].getType(), 1), body.in[1]))};
  });
}

/// Builds 1 if x is infinite or NaN, else 0.
static Value isNotFinite(ScalarBuilder &s, Value x) {
  Type type = x.getType();
  Value magnitude = math::AbsFOp::create(s.b, s.loc, x);
  Value finite = arith::CmpFOp::create(
      s.b, s.loc, arith::CmpFPredicate::OLT, magnitude,
      s.constant(type, std::numeric_limits<double>::infinity()));
  return s.select(finite, s.constant(type, 0), s.constant(type, 1));
}

SmallVector<Value> CountNonFiniteOp::buildNests(OpBuilder &b) {
  auto scalar = tensorTypeOf(getCount());
  Value sum = getBefore();
  for (Value x : getXs()) {
    // Marks the rows in parallel first, then counts the marked rows.
    ArrayRef<int64_t> shape = shapeOf(x);
    SmallVector<bool> reduction(shape.size(), true);
    Value rows = x;
    if (shape.size() > 1) {
      reduction.front() = false;
      NestBuilder rowFlags(b, getLoc(), shape, reduction);
      rowFlags.input(x, iota(shape.size()));
      rowFlags.output(
          RankedTensorType::get(shape.front(), scalar.getElementType()), {0},
          0.0);
      rows = rowFlags.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        return {body.s.maximize(body.out[0], isNotFinite(body.s, body.in[0]))};
      })[0];
    }
    SmallVector<bool> all(shapeOf(rows).size(), true);
    NestBuilder total(b, getLoc(), shapeOf(rows), all);
    total.input(rows, iota(all.size()));
    total.output(scalar, ArrayRef<int64_t>{}, 0.0);
    bool rowsAreFlags = shape.size() > 1;
    Value countOfX =
        total.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
          ScalarBuilder &s = body.s;
          return {s.accumulate(body.out[0], rowsAreFlags
                                                ? body.in[0]
                                                : isNotFinite(s, body.in[0]))};
        })[0];
    sum = buildScalars(b, getLoc(), ValueRange{sum, countOfX}, getCount(),
                       [](NestBuilder::Body &body) -> SmallVector<Value> {
                         return {body.s.add(body.in[0], body.in[1])};
                       })[0];
  }
  return {sum};
}

SmallVector<Value> SelectIfZeroOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  SmallVector<int64_t> allDims = iota(type.getRank());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getCount(), ArrayRef<int64_t>{});
  nest.input(getX(), allDims);
  nest.input(getOtherwise(), allDims);
  nest.output(type, allDims);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value isZero = s.equal(body.in[0], s.constant(body.in[0].getType(), 0));
    return {s.select(isZero, body.in[1], body.in[2])};
  });
}

SmallVector<Value> UpdateLossScaleOp::buildNests(OpBuilder &b) {
  constexpr double kMaxScale = 16777216, kMinScale = 1; // 2^24 and 2^0
  return buildScalars(
      b, getLoc(), getOperands(), getResults(),
      [&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value scale = body.in[0], goodIterations = body.in[1],
              count = body.in[2];
        Type type = scale.getType();
        auto constant = [&](double value) { return s.constant(type, value); };
        if (getWindow() == 0)
          return {scale, goodIterations, constant(0)};
        Value half = s.mul(scale, constant(0.5));
        half = s.select(s.greater(half, constant(kMinScale)), half,
                        constant(kMinScale));
        Value twice = s.mul(scale, constant(2));
        twice = s.select(s.greater(twice, constant(kMaxScale)),
                         constant(kMaxScale), twice);
        Value nextGoodIterations = s.add(goodIterations, constant(1));
        Value reachesWindow =
            s.greaterEqual(nextGoodIterations, constant(getWindow()));
        Value finite = s.equal(count, constant(0));
        Value next = s.select(reachesWindow, twice, scale);
        Value remainingGoodIterations =
            s.select(reachesWindow, constant(0), nextGoodIterations);
        return {s.select(finite, next, half),
                s.select(finite, remainingGoodIterations, constant(0)),
                constant(0)};
      });
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/precision/Precision.cpp.inc"

void brew::dialects::registerPrecisionLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/precision/Precision.cpp.inc"
      >();
}
