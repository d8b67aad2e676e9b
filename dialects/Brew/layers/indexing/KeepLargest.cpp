//===- KeepLargest.cpp - The largest elements of groups -------------------===//
#include "dialects/Brew/Sort.h"
#include "dialects/Brew/layers/indexing/Gather.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

using namespace mlir;
using namespace brew::dialects;

namespace {

/// The dimensions along which elements are compared, and the others.
struct Groups {
  explicit Groups(KeepLargestOp op) : type(tensorTypeOf(op.getX())) {
    for (int64_t dim : iota(type.getRank())) {
      const bool isCompared = op.getDims().empty()
                                  ? dim > 0
                                  : llvm::is_contained(op.getDims(), dim);
      (isCompared ? compared : others).push_back(dim);
    }
    for (int64_t dim : compared)
      count *= type.getDimSize(dim);
  }

  /// Returns the position of the element at the loop indices of `body`, whose
  /// loops are the dimensions, in its group.
  Value position(NestBuilder::Body &body) const {
    Value result = body.s.index(0);
    for (int64_t dim : compared)
      result = body.s.addi(body.s.muli(result, type.getDimSize(dim)),
                           body.loop(dim));
    return result;
  }

  RankedTensorType type;
  SmallVector<int64_t> compared, others;
  int64_t count = 1; ///< of elements of a group
};

} // namespace

/// Returns the number of elements that are kept of a group, in the fork's
/// floats.
static int64_t keptCount(KeepLargestOp op, int64_t groupSize) {
  float count = op.getK() ? static_cast<float>(*op.getK())
                          : op.getFraction()->convertToFloat() *
                                static_cast<float>(groupSize);
  count = std::max(count * op.getFactor().convertToFloat(), 1.0F);
  return count < static_cast<float>(groupSize) ? static_cast<int64_t>(count)
                                               : groupSize;
}

LogicalResult KeepLargestOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX());
  const bool comparesPositions = llvm::is_contained(getDims(), 2);
  if (x.size() < 2 || (comparesPositions && x.size() != 4))
    return layerError(*this) << "needs a bottom of "
                             << (comparesPositions ? "4 dimensions (N, C, H, W)"
                                                   : "at least 2 dimensions")
                             << ", not " << x.size();
  tops.assign(2, SmallVector<int64_t>(x));
  return success();
}

/// Copies each group to a row.
static Value buildRows(OpBuilder &b, Location loc, Value x,
                       const Groups &groups) {
  SmallVector<int64_t> shape;
  for (int64_t dim : groups.others)
    shape.push_back(groups.type.getDimSize(dim));
  shape.push_back(groups.count);
  const int64_t last = shape.size() - 1;
  NestBuilder nest(b, loc, shape);
  nest.output(RankedTensorType::get(shape, groups.type.getElementType()),
              iota(shape.size()));
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    SmallVector<Value> indices(groups.type.getRank());
    for (auto [loop, dim] : llvm::enumerate(groups.others))
      indices[dim] = body.loop(loop);
    Value remaining = body.loop(last);
    for (int64_t dim : llvm::reverse(groups.compared)) {
      indices[dim] = body.s.remi(remaining, groups.type.getDimSize(dim));
      remaining = body.s.divi(remaining, groups.type.getDimSize(dim));
    }
    return {body.read(x, indices)};
  })[0];
}

SmallVector<Value> KeepLargestOp::buildNests(OpBuilder &b) {
  Location loc = getLoc();
  const Groups groups(*this);
  const int64_t rank = groups.type.getRank();
  const int64_t count = keptCount(*this, groups.count);
  auto [values, positions] =
      buildSortDescending(b, loc, buildRows(b, loc, getX(), groups), count);
  NestBuilder nest(b, loc, groups.type.getShape());
  nest.input(getX(), iota(rank));
  for (Value top : {getY(), getMask()})
    nest.output(tensorTypeOf(top), iota(rank));
  Value sortedValues = values, sortedPositions = positions;
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    SmallVector<Value> lastKept;
    for (int64_t dim : groups.others)
      lastKept.push_back(body.loop(dim));
    lastKept.push_back(s.index(count - 1));
    Value x = body.in[0], limit = body.read(sortedValues, lastKept);
    Value limitPosition = arith::IndexCastOp::create(
        s.b, s.loc, s.b.getIndexType(), body.read(sortedPositions, lastKept));
    Value isLaterEqual =
        s.both(s.equal(x, limit), s.less(limitPosition, groups.position(body)));
    Value isDropped =
        arith::OrIOp::create(s.b, s.loc, s.greater(limit, x), isLaterEqual);
    Type maskElement = elementTypeOf(getMask());
    return {s.select(isDropped, s.constant(x.getType(), 0), x),
            s.select(isDropped, s.constant(maskElement, 0),
                     s.constant(maskElement, 1))};
  });
}

LogicalResult KeepLargestOp::buildGradients(OpBuilder &b,
                                            ArrayRef<Value> resultGradients,
                                            ArrayRef<bool> needed,
                                            MutableArrayRef<Value> gradients) {
  if (!needed[0])
    return success();
  auto type = RankedTensorType::get(shapeOf(getX()), elementTypeOf(getX()));
  NestBuilder nest(b, getLoc(), type.getShape());
  for (Value operand : {resultGradients[0], Value(getMask())})
    nest.input(operand, iota(type.getRank()));
  nest.output(type, iota(type.getRank()));
  gradients[0] = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.mul(body.in[0], body.in[1])};
  })[0];
  return success();
}
