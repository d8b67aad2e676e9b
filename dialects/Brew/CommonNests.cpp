//===- CommonNests.cpp - Loop nests that several operations build ---------===//
#include "dialects/Brew/CommonNests.h"

#include <cfloat>

using namespace mlir;
using namespace brew::dialects;

AxisRows::AxisRows(RankedTensorType tensor, int64_t axis) {
  SmallVector<int64_t> shape;
  // The logical order, unlike the tensor's memory order, makes the rows
  // independent of the layout.
  for (int64_t i = 0; i < tensor.getRank(); ++i) {
    reduction.push_back(i == axis);
    if (i == axis)
      continue;
    others.push_back(i);
    shape.push_back(tensor.getDimSize(i));
  }
  type = RankedTensorType::get(shape, tensor.getElementType());
}

/// Builds the maximum of each row along `axis`.
static Value buildMaximum(OpBuilder &b, Location loc, Value x,
                          const AxisRows &rows, RankedTensorType type) {
  NestBuilder maximum(b, loc, type.getShape(), rows.reduction);
  maximum.input(x, iota(type.getRank()));
  maximum.output(rows.type, rows.others, -FLT_MAX);
  return maximum.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.maximize(body.out[0], body.in[0])};
  })[0];
}

Value brew::dialects::buildSoftmax(OpBuilder &b, Location loc, Value x,
                                   int64_t axis, RankedTensorType type) {
  AxisRows rows(type, axis);
  SmallVector<int64_t> allDims = iota(type.getRank());
  Value max = buildMaximum(b, loc, x, rows, type);

  NestBuilder exponential(b, loc, type.getShape());
  exponential.input(x, allDims);
  exponential.input(max, rows.others);
  exponential.output(type, allDims);
  Value e =
      exponential.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        return {body.s.exp(body.s.sub(body.in[0], body.in[1]))};
      })[0];

  NestBuilder total(b, loc, type.getShape(), rows.reduction);
  total.input(e, allDims);
  total.output(rows.type, rows.others, 0.0);
  Value sum = total.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.accumulate(body.out[0], body.in[0])};
  })[0];

  NestBuilder divide(b, loc, type.getShape());
  divide.input(e, allDims);
  divide.input(sum, rows.others);
  divide.output(type, allDims);
  return divide.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.div(body.in[0], body.in[1])};
  })[0];
}

Value brew::dialects::buildLogSoftmax(OpBuilder &b, Location loc, Value x,
                                      int64_t axis, RankedTensorType type) {
  AxisRows rows(type, axis);
  SmallVector<int64_t> allDims = iota(type.getRank());
  Value max = buildMaximum(b, loc, x, rows, type);

  NestBuilder total(b, loc, type.getShape(), rows.reduction);
  total.input(x, allDims);
  total.input(max, rows.others);
  total.output(rows.type, rows.others, 0.0);
  Value sum = total.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    return {s.accumulate(body.out[0], s.exp(s.sub(body.in[0], body.in[1])))};
  })[0];

  NestBuilder subtract(b, loc, type.getShape());
  subtract.input(x, allDims);
  subtract.input(max, rows.others);
  subtract.input(sum, rows.others);
  subtract.output(type, allDims);
  return subtract.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    return {s.sub(s.sub(body.in[0], body.in[1]), s.log(body.in[2]))};
  })[0];
}

Value brew::dialects::buildSum(OpBuilder &b, Location loc, Value x, Value y) {
  auto type = tensorTypeOf(x);
  NestBuilder nest(b, loc, type.getShape());
  nest.input(x, iota(type.getRank()));
  nest.input(y, iota(type.getRank()));
  nest.output(type, iota(type.getRank()));
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.add(body.in[0], body.in[1])};
  })[0];
}

Value brew::dialects::buildElementwise(OpBuilder &b, ScalarBodyInterface op) {
  auto type = tensorTypeOf(op->getResult(0));
  NestBuilder nest(b, op->getLoc(), type.getShape());
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    SmallVector<int64_t> dims;
    for (int64_t dim : iota(tensorTypeOf(operand).getRank()))
      dims.push_back(dim + op.operandAxis(i));
    nest.input(operand, dims);
  }
  nest.output(type, iota(type.getRank()));
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {op.buildScalar(body.s.b, body.s.loc, body.in)};
  })[0];
}
