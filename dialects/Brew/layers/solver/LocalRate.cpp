//===- LocalRate.cpp - Learning rates of single parameters ----------------===//
#include "dialects/Brew/layers/solver/LocalRate.h"

#include "dialects/Brew/NestBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Adds `values`, or their squares, over all loops but the first `kept` ones.
/// The values have equal shapes.
SmallVector<Value> buildSums(OpBuilder &b, Location loc, ValueRange values,
                             bool ofSquares, int64_t kept) {
  auto type = tensorTypeOf(values[0]);
  SmallVector<bool> isReduced(type.getRank(), true);
  std::fill_n(isReduced.begin(), kept, false);
  auto sumType = RankedTensorType::get(type.getShape().take_front(kept),
                                       type.getElementType());
  NestBuilder nest(b, loc, type.getShape(), isReduced);
  for (Value value : values) {
    nest.input(value, iota(type.getRank()));
    nest.output(sumType, iota(kept), 0.0);
  }
  return nest.build([&](NestBuilder::Body &body) {
    SmallVector<Value> sums;
    for (auto [sum, x] : llvm::zip_equal(body.out, body.in))
      sums.push_back(body.s.accumulate(sum, ofSquares ? body.s.mul(x, x) : x));
    return sums;
  });
}

} // namespace

Value brew::dialects::buildLocalRate(SGDUpdateOp update, OpBuilder &b) {
  Location loc = update.getLoc();
  SmallVector<Value> squares = {update.getW(), update.getGradient()};
  // The rows are added in parallel, then their sums.
  const bool hasRows = tensorTypeOf(update.getW()).getRank() > 1;
  if (hasRows)
    squares = buildSums(b, loc, squares, /*ofSquares=*/true, /*kept=*/1);
  squares = buildSums(b, loc, squares, /*ofSquares=*/!hasRows, /*kept=*/0);

  NestBuilder nest(b, loc, ArrayRef<int64_t>{});
  for (Value scalar : std::initializer_list<Value>{
           squares[0], squares[1], update.getLearningRate(),
           update.getWeightDecay(), update.getGradientScale(),
           update.getMomentum()})
    nest.input(scalar, ArrayRef<int64_t>{});
  nest.output(tensorTypeOf(squares[0]), ArrayRef<int64_t>{});
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    auto sqrt = [&](Value x) -> Value {
      return math::SqrtOp::create(s.b, loc, x);
    };
    auto constant = [&](double value) {
      return s.constant(body.in[0].getType(), value);
    };
    Value rate = body.in[2], decay = body.in[3], momentum = body.in[5];
    Value w = sqrt(body.in[0]), d = s.mul(sqrt(body.in[1]), body.in[4]);
    Value scaledW =
        s.mul(constant(update.getLocalFactor()->convertToFloat()), w);
    const LocalRate kind = *update.getLocalRate();
    Value ratio = kind == LocalRate::Lars
                      ? s.div(scaledW, s.add(d, s.mul(decay, w)))
                      : s.div(s.mul(s.sub(constant(1), momentum), scaledW), d);
    Value isDefined =
        s.both(s.greater(w, constant(0)), s.greater(d, constant(0)));
    ratio = s.select(isDefined, ratio, constant(1));
    return {kind == LocalRate::LarcClip
                ? s.select(s.greater(rate, ratio), ratio, rate)
                : s.mul(rate, ratio)};
  })[0];
}
