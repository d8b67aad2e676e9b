//===- Reshape.cpp - Layers that rename or reorder dimensions -------------===//
//
// Reshape, Flatten, Squeeze and Parameter become views (brew.reinterpret) after
// differentiation.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/shape/Shape.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace brew::dialects;

/// Builds the gradient of a view: the same elements in x's shape.
static LogicalResult
buildViewGradient(OpBuilder &b, Location loc, Value x,
                  ArrayRef<Value> resultGradients,
                  MutableArrayRef<Value> operandGradients) {
  Value dy = resultGradients[0];
  // A constant has no memory to view.
  if (auto fill = dy.getDefiningOp<FillOp>())
    operandGradients[0] =
        FillOp::create(b, loc, x.getType(), fill.getValueAttr());
  else
    operandGradients[0] = ReinterpretOp::create(b, loc, x.getType(), dy);
  return success();
}

/// Replaces a layer whose result is a view of its operand. Requires inferred
/// shapes.
static LogicalResult replaceByView(Operation *op, PatternRewriter &rewriter) {
  if (!isa<RankedTensorType>(op->getResult(0).getType()))
    return failure();
  rewriter.replaceOpWithNewOp<ReinterpretOp>(op, op->getResult(0).getType(),
                                             op->getOperand(0));
  return success();
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// Returns the shape of the top for a bottom of shape `x`. Emits an error if
/// there is none, unless `isQuiet`.
static FailureOr<SmallVector<int64_t>>
reshape(ReshapeOp op, ArrayRef<int64_t> x, bool isQuiet = false) {
  auto fail = [&](const Twine &why) {
    if (!isQuiet)
      layerError(op) << why;
    return failure();
  };
  int64_t rank = x.size(), axis = op.getAxis(), axes = op.getNumAxes();
  // Unlike other axes, this one may be after the last dimension.
  int64_t start = axis < 0 ? axis + rank + 1 : axis;
  if (start < 0 || start > rank)
    return fail("axis " + Twine(axis) + " is outside the bottom's " +
                Twine(rank) + " dimensions");
  int64_t end = axes < 0 ? rank : start + axes;
  if (end > rank)
    return fail("num_axes " + Twine(axes) + " from axis " + Twine(start) +
                " reaches beyond the bottom's " + Twine(rank) + " dimensions");

  SmallVector<int64_t> y(x.take_front(start));
  std::optional<int64_t> inferred;
  for (auto [i, dim] : llvm::enumerate(op.getDims())) {
    int64_t source = start + i;
    if (dim == 0 && source >= rank)
      return fail("dim " + Twine(i) + " is 0, which keeps dimension " +
                  Twine(source) + " of the bottom, but that has only " +
                  Twine(rank));
    if (dim == -1)
      inferred = y.size();
    y.push_back(dim == 0 ? x[source] : dim == -1 ? 1 : dim);
  }
  y.append(x.begin() + end, x.end());
  int64_t count = countOf(x), explicitCount = countOf(y);
  if (inferred) {
    if (explicitCount == 0 || count % explicitCount)
      return fail("the bottom has shape " + dimsText(x) + ", and its " +
                  Twine(count) + " elements cannot be divided by the " +
                  Twine(explicitCount) + " that the given dimensions make");
    y[*inferred] = count / explicitCount;
  } else if (explicitCount != count) {
    return fail("shape " + dimsText(y) + " has " + Twine(explicitCount) +
                " elements, but the bottom, " + dimsText(x) + ", has " +
                Twine(count));
  }
  return y;
}

LogicalResult ReshapeOp::inferShapes(Shapes &tops, Shapes &) {
  FailureOr<SmallVector<int64_t>> y = reshape(*this, shapeOf(getX()));
  if (failed(y))
    return failure();
  tops.push_back(*y);
  return success();
}

LogicalResult ReshapeOp::propagateItemCounts(ItemCounts &counts) {
  return counts.propagateView(*this, [&](ArrayRef<int64_t> x) {
    return reshape(*this, x, /*isQuiet=*/true);
  });
}

LogicalResult
ReshapeOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                          ArrayRef<bool>,
                          MutableArrayRef<Value> operandGradients) {
  return buildViewGradient(b, getLoc(), getX(), resultGradients,
                           operandGradients);
}

LogicalResult ReshapeOp::canonicalize(ReshapeOp op, PatternRewriter &rewriter) {
  return replaceByView(op, rewriter);
}

//===----------------------------------------------------------------------===//
// Flatten
//===----------------------------------------------------------------------===//

/// Returns x with the dimensions from `start` to `end` as one.
static SmallVector<int64_t> flatten(ArrayRef<int64_t> x, int64_t start,
                                    int64_t end) {
  SmallVector<int64_t> y(x.take_front(start));
  y.push_back(countOf(x.slice(start, end + 1 - start)));
  y.append(x.begin() + end + 1, x.end());
  return y;
}

LogicalResult FlattenOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX());
  FailureOr<int64_t> start = canonicalAxis(*this, getAxis(), x.size());
  if (failed(start))
    return failure();
  FailureOr<int64_t> end =
      canonicalAxis(*this, getEndAxis(), x.size(), "end_axis");
  if (failed(end))
    return failure();
  // As in Caffe, an end directly before the start creates a dimension of
  // size 1.
  if (*end + 1 < *start)
    return layerError(*this)
           << "end_axis " << *end << " lies before axis " << *start;
  tops.push_back(flatten(x, *start, *end));
  return success();
}

LogicalResult FlattenOp::propagateItemCounts(ItemCounts &counts) {
  const int64_t rank = tensorTypeOf(getX()).getRank();
  auto fromStart = [&](int64_t axis) { return axis < 0 ? axis + rank : axis; };
  return counts.propagateView(
      *this, [&](ArrayRef<int64_t> x) -> FailureOr<SmallVector<int64_t>> {
        return flatten(x, fromStart(getAxis()), fromStart(getEndAxis()));
      });
}

LogicalResult
FlattenOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                          ArrayRef<bool>,
                          MutableArrayRef<Value> operandGradients) {
  return buildViewGradient(b, getLoc(), getX(), resultGradients,
                           operandGradients);
}

LogicalResult FlattenOp::canonicalize(FlattenOp op, PatternRewriter &rewriter) {
  return replaceByView(op, rewriter);
}

//===----------------------------------------------------------------------===//
// Squeeze
//===----------------------------------------------------------------------===//

/// Returns `x` without the dimensions `axes`, or without all of size 1 if there
/// are none. Emits an error if a dimension is not of size 1, unless `isQuiet`.
static FailureOr<SmallVector<int64_t>>
squeeze(SqueezeOp op, ArrayRef<int64_t> x, bool isQuiet = false) {
  SmallVector<bool> isRemoved(x.size(), false);
  for (int64_t axisSetting : op.getAxes()) {
    FailureOr<int64_t> axis = canonicalAxis(op, axisSetting, x.size());
    if (failed(axis))
      return failure();
    if (x[*axis] != 1) {
      if (!isQuiet)
        layerError(op) << "axis " << axisSetting << " of the bottom's "
                       << dimsText(x) << " is not of size 1";
      return failure();
    }
    isRemoved[*axis] = true;
  }
  SmallVector<int64_t> y;
  for (auto [dim, removed] : llvm::zip(x, isRemoved))
    if (!removed && (dim != 1 || !op.getAxes().empty()))
      y.push_back(dim);
  return y;
}

LogicalResult SqueezeOp::inferShapes(Shapes &tops, Shapes &) {
  FailureOr<SmallVector<int64_t>> y = squeeze(*this, shapeOf(getX()));
  if (failed(y))
    return failure();
  tops.push_back(*y);
  return success();
}

LogicalResult SqueezeOp::propagateItemCounts(ItemCounts &counts) {
  if (counts.of(getX()) && getAxes().empty())
    return counts.reject(*this, getX(),
                         "removes every dimension of size 1, which may include "
                         "the item dimension; `axis` says which to remove");
  return counts.propagateView(*this, [&](ArrayRef<int64_t> x) {
    return squeeze(*this, x, /*isQuiet=*/true);
  });
}

LogicalResult
SqueezeOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                          ArrayRef<bool>,
                          MutableArrayRef<Value> operandGradients) {
  return buildViewGradient(b, getLoc(), getX(), resultGradients,
                           operandGradients);
}

LogicalResult SqueezeOp::canonicalize(SqueezeOp op, PatternRewriter &rewriter) {
  return replaceByView(op, rewriter);
}

//===----------------------------------------------------------------------===//
// Parameter
//===----------------------------------------------------------------------===//

LogicalResult ParameterOp::inferShapes(Shapes &tops, Shapes &params) {
  tops.emplace_back(getDims());
  params.emplace_back(getDims());
  return success();
}

LogicalResult
ParameterOp::buildGradients(OpBuilder &, ArrayRef<Value> resultGradients,
                            ArrayRef<bool>,
                            MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = resultGradients[0];
  return success();
}

LogicalResult ParameterOp::canonicalize(ParameterOp op,
                                        PatternRewriter &rewriter) {
  if (op.getW().getType() != op.getY().getType())
    return failure();
  rewriter.replaceOp(op, op.getW());
  return success();
}

//===----------------------------------------------------------------------===//
// Permute
//===----------------------------------------------------------------------===//

bool PermuteOp::copiesElements(unsigned, unsigned) { return true; }

LogicalResult PermuteOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX());
  SmallVector<int64_t> order;
  for (int64_t dim : getOrder()) {
    if (dim >= static_cast<int64_t>(x.size()))
      return layerError(*this) << "order " << dim << " is outside the bottom's "
                               << x.size() << " dimensions";
    order.push_back(dim);
  }
  for (int64_t dim : iota(x.size()))
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  SmallVector<int64_t> &y = tops.emplace_back();
  for (int64_t dim : order)
    y.push_back(x[dim]);
  setOrder(order);
  return success();
}

LogicalResult PermuteOp::propagateItemCounts(ItemCounts &counts) {
  if (counts.of(getX()) && getOrder()[0] != 0)
    return counts.reject(
        *this, getX(),
        "moves the item dimension 0 of its bottom, whose items "
        "are not all valid");
  return counts.propagate(*this);
}

/// Builds the nest whose loop i writes dimension i of the result and reads
/// dimension `order[i]` of x.
static Value buildPermute(OpBuilder &b, Location loc, Value x,
                          ArrayRef<int64_t> order, RankedTensorType type) {
  SmallVector<int64_t> loops(order.size());
  for (auto [loop, dim] : llvm::enumerate(order))
    loops[dim] = loop;
  NestBuilder nest(b, loc, type.getShape());
  nest.input(x, loops);
  nest.output(type, iota(type.getRank()));
  return nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.in[0]};
  })[0];
}

LogicalResult
PermuteOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                          ArrayRef<bool>,
                          MutableArrayRef<Value> operandGradients) {
  SmallVector<int64_t> inverse(getOrder().size());
  for (auto [i, dim] : llvm::enumerate(getOrder()))
    inverse[dim] = i;
  operandGradients[0] = buildPermute(b, getLoc(), resultGradients[0], inverse,
                                     tensorTypeOf(getX()));
  return success();
}

SmallVector<Value> PermuteOp::buildNests(OpBuilder &b) {
  return {buildPermute(b, getLoc(), getX(), getOrder(), tensorTypeOf(getY()))};
}

//===----------------------------------------------------------------------===//
// Tile
//===----------------------------------------------------------------------===//

bool TileOp::copiesElements(unsigned, unsigned) { return true; }

LogicalResult TileOp::inferShapes(Shapes &tops, Shapes &) {
  SmallVector<int64_t> y(shapeOf(getX()));
  FailureOr<int64_t> axis = canonicalAxis(*this, getAxis(), y.size());
  if (failed(axis))
    return failure();
  setAxis(*axis);
  y[*axis] *= getTiles();
  tops.push_back(y);
  return success();
}

LogicalResult TileOp::buildGradients(OpBuilder &b,
                                     ArrayRef<Value> resultGradients,
                                     ArrayRef<bool>,
                                     MutableArrayRef<Value> operandGradients) {
  // Sums over the tiles, in the last loop.
  auto type = tensorTypeOf(getX());
  int64_t rank = type.getRank(), axis = getAxis();
  SmallVector<int64_t> extents(type.getShape());
  SmallVector<bool> reduction(rank, false);
  extents.push_back(getTiles());
  reduction.push_back(true);
  SmallVector<AffineExpr> indices;
  for (int64_t dim : iota(rank))
    indices.push_back(b.getAffineDimExpr(dim));
  indices[axis] =
      indices[axis] + b.getAffineDimExpr(rank) * type.getDimSize(axis);
  NestBuilder nest(b, getLoc(), extents, reduction);
  nest.input(resultGradients[0],
             AffineMap::get(rank + 1, 0, indices, b.getContext()));
  nest.output(type, iota(rank), 0.0);
  operandGradients[0] =
      nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
        return {body.s.accumulate(body.out[0], body.in[0])};
      })[0];
  return success();
}

SmallVector<Value> TileOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.output(type, iota(type.getRank()));
  Value x = getX();
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    SmallVector<Value> indices;
    for (int64_t dim : iota(type.getRank()))
      indices.push_back(body.loop(dim));
    int64_t axis = getAxis();
    indices[axis] = body.s.remi(indices[axis], shapeOf(x)[axis]);
    return {body.read(x, indices)};
  });
}
