//===- Reverse.cpp - Elements in reverse order ----------------------------===//
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/shape/Shape.h"

using namespace mlir;
using namespace brew::dialects;

bool ReverseOp::copiesElements(unsigned, unsigned) { return true; }

LogicalResult ReverseOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX());
  SmallVector<int64_t> axes;
  for (int64_t axis : getAxes()) {
    FailureOr<int64_t> canonical = canonicalAxis(*this, axis, x.size());
    if (failed(canonical))
      return failure();
    if (llvm::is_contained(axes, *canonical))
      return layerError(*this)
             << "axis names dimension " << *canonical << " twice";
    axes.push_back(*canonical);
  }
  setAxes(axes);
  tops.emplace_back(x);
  return success();
}

LogicalResult ReverseOp::propagateItemCounts(ItemCounts &counts) {
  if (counts.of(getX()) && llvm::is_contained(getAxes(), 0))
    return counts.reject(*this, getX(),
                         "reverses the item dimension 0 of its bottom, whose "
                         "items are not all valid");
  return counts.propagate(*this);
}

static Value buildReverse(OpBuilder &b, Location loc, Value x,
                          ArrayRef<int64_t> axes) {
  auto type = tensorTypeOf(x);
  NestBuilder nest(b, loc, type.getShape());
  nest.output(type, iota(type.getRank()));
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    SmallVector<Value> indices;
    for (int64_t dim : iota(type.getRank())) {
      Value last = s.index(type.getDimSize(dim) - 1);
      indices.push_back(llvm::is_contained(axes, dim)
                            ? s.subi(last, body.loop(dim))
                            : body.loop(dim));
    }
    return {body.read(x, indices)};
  })[0];
}

LogicalResult
ReverseOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                          ArrayRef<bool>,
                          MutableArrayRef<Value> operandGradients) {
  operandGradients[0] =
      buildReverse(b, getLoc(), resultGradients[0], getAxes());
  return success();
}

SmallVector<Value> ReverseOp::buildNests(OpBuilder &b) {
  return {buildReverse(b, getLoc(), getX(), getAxes())};
}
