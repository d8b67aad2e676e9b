//===- Pairs.cpp - Losses over pairs of elements --------------------------===//
#include "dialects/Brew/layers/loss/Pairs.h"

using namespace mlir;
using namespace brew::dialects;

LogicalResult brew::dialects::checkPair(Operation *op, Value x, Value t,
                                        const char *property) {
  ArrayRef<int64_t> a = shapeOf(x), b = shapeOf(t);
  if (a.empty() || b.empty() || a[0] != b[0] || countOf(a) != countOf(b)) {
    auto diagnostic = layerError(op)
                      << "the bottoms must have the same " << property << ": (";
    llvm::interleaveComma(a, diagnostic);
    diagnostic << ") and (";
    llvm::interleaveComma(b, diagnostic);
    diagnostic << ")";
    return diagnostic;
  }
  return success();
}

Value brew::dialects::reshapeLike(OpBuilder &b, Location loc, Value value,
                                  Value like) {
  if (shapeOf(value) == shapeOf(like))
    return value;
  return ReinterpretOp::create(
      b, loc, RankedTensorType::get(shapeOf(like), elementTypeOf(value)),
      value);
}

Value brew::dialects::buildSumOver(
    OpBuilder &b, Location loc, ValueRange inputs, RankedTensorType type,
    llvm::function_ref<Value(ScalarBuilder &, ValueRange)> term) {
  ArrayRef<int64_t> shape = shapeOf(inputs[0]);
  SmallVector<bool> reduction(shape.size(), true);
  NestBuilder nest(b, loc, shape, reduction);
  for (Value input : inputs)
    nest.input(input, iota(shape.size()));
  nest.output(type, {}, 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.accumulate(body.out[0], term(body.s, body.in))};
  })[0];
}

Value brew::dialects::buildPairGradient(
    OpBuilder &b, Location loc, ValueRange inputs, ValueRange scalars,
    llvm::function_ref<Value(ScalarBuilder &, ValueRange, ValueRange)> term) {
  auto type =
      RankedTensorType::get(shapeOf(inputs[0]), elementTypeOf(inputs[0]));
  SmallVector<int64_t> allDims = iota(type.getRank());
  NestBuilder nest(b, loc, type.getShape());
  for (Value input : inputs)
    nest.input(input, allDims);
  for (Value scalar : scalars)
    nest.input(scalar, ArrayRef<int64_t>{});
  nest.output(type, allDims);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {term(body.s, body.in.take_front(inputs.size()),
                 body.in.drop_front(inputs.size()))};
  })[0];
}

Value brew::dialects::buildNegated(OpBuilder &b, Location loc, Value x) {
  return buildPairGradient(b, loc, x, {},
                           [](ScalarBuilder &s, ValueRange in,
                              ValueRange) -> Value { return s.neg(in[0]); });
}

LogicalResult brew::dialects::maskPaddingPairs(Operation *op,
                                               ItemCounts &counts,
                                               ArrayRef<double> fills) {
  FailureOr<Value> count = counts.commonCount(op);
  if (failed(count))
    return failure();
  if (!*count)
    return success();
  for (auto [i, fill] : llvm::enumerate(fills))
    counts.maskPadding(op->getOpOperand(i), *count, fill);
  counts.rescaleMean(op, *count);
  return success();
}
