//===- Arrays.cpp - Broadcasts and sums along a dimension -----------------===//
#include "dialects/Brew/layers/shape/Arrays.h"
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/LayerGroup.h"

using namespace mlir;
using namespace brew::dialects;

//===----------------------------------------------------------------------===//
// Repeated elements
//===----------------------------------------------------------------------===//

/// Returns the map from the loops over `full` to the elements of a tensor of
/// shape `x`, which is broadcast to `full`.
static AffineMap broadcastMap(MLIRContext *context, ArrayRef<int64_t> x,
                              ArrayRef<int64_t> full) {
  const size_t missing = full.size() - x.size();
  SmallVector<AffineExpr> indices;
  for (auto [dim, extent] : llvm::enumerate(x))
    indices.push_back(extent == full[missing + dim]
                          ? getAffineDimExpr(missing + dim, context)
                          : getAffineConstantExpr(0, context));
  return AffineMap::get(full.size(), 0, indices, context);
}

/// Builds x, repeated along the dimensions in which its extent is 1 or missing.
static Value buildRepeated(OpBuilder &b, Location loc, Value x,
                           RankedTensorType type) {
  NestBuilder nest(b, loc, type.getShape());
  nest.input(x, broadcastMap(b.getContext(), shapeOf(x), type.getShape()));
  nest.output(type, iota(type.getRank()));
  return nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.in[0]};
  })[0];
}

/// Builds the sums over the elements of x that buildRepeated() reads from one
/// element of a tensor of `type`.
static Value buildSums(OpBuilder &b, Location loc, Value x,
                       RankedTensorType type) {
  ArrayRef<int64_t> full = shapeOf(x);
  const size_t missing = full.size() - type.getRank();
  SmallVector<bool> isSummed(full.size(), true);
  SmallVector<int64_t> kept, keptShape;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    if (extent == full[missing + dim]) {
      isSummed[missing + dim] = false;
      kept.push_back(missing + dim);
      keptShape.push_back(extent);
    }
  NestBuilder nest(b, loc, full, isSummed);
  nest.input(x, iota(full.size()));
  nest.output(RankedTensorType::get(keptShape, type.getElementType()), kept,
              0.0);
  Value sums = nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.accumulate(body.out[0], body.in[0])};
  })[0];
  return sums.getType() == type ? sums
                                : ReinterpretOp::create(b, loc, type, sums);
}

//===----------------------------------------------------------------------===//
// Broadcast
//===----------------------------------------------------------------------===//

bool BroadcastOp::copiesElements(unsigned operand, unsigned) {
  return operand == getXMutable().getOperandNumber();
}

LogicalResult BroadcastOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX()), reference = shapeOf(getReference());
  SmallVector<int64_t> y(std::max(x.size(), reference.size()));
  for (size_t i = 1; i <= y.size(); ++i) {
    const int64_t first = i <= x.size() ? x[x.size() - i] : 1;
    const int64_t second =
        i <= reference.size() ? reference[reference.size() - i] : 1;
    if (first != second && first != 1 && second != 1)
      return layerError(*this)
             << "bottoms of shapes " << dimsText(x) << " and "
             << dimsText(reference)
             << " do not match: from the last dimension on, extents must be "
                "equal or 1";
    y[y.size() - i] = first == 1 ? second : first;
  }
  tops.push_back(y);
  return success();
}

LogicalResult
BroadcastOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                            ArrayRef<bool> needed,
                            MutableArrayRef<Value> operandGradients) {
  // Only the shape of the reference is read.
  if (needed[0])
    operandGradients[0] =
        buildSums(b, getLoc(), resultGradients[0], tensorTypeOf(getX()));
  return success();
}

SmallVector<Value> BroadcastOp::buildNests(OpBuilder &b) {
  return {buildRepeated(b, getLoc(), getX(), tensorTypeOf(getY()))};
}

LogicalResult BroadcastOp::canonicalize(BroadcastOp op,
                                        PatternRewriter &rewriter) {
  if (!op.getTops().empty() || op.getX().getType() != op.getY().getType() ||
      !isa<RankedTensorType>(op.getY().getType()))
    return failure();
  rewriter.replaceOp(op, op.getX());
  return success();
}

//===----------------------------------------------------------------------===//
// AxisSum
//===----------------------------------------------------------------------===//

bool AxisSumOp::staysF32(unsigned) { return true; }

LogicalResult AxisSumOp::inferShapes(Shapes &tops, Shapes &) {
  SmallVector<int64_t> y(shapeOf(getX()));
  FailureOr<int64_t> axis = canonicalAxis(*this, getAxis(), y.size());
  if (failed(axis))
    return failure();
  setAxis(*axis);
  y[*axis] = 1;
  tops.push_back(y);
  return success();
}

LogicalResult
AxisSumOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                          ArrayRef<bool>,
                          MutableArrayRef<Value> operandGradients) {
  operandGradients[0] =
      buildRepeated(b, getLoc(), resultGradients[0], tensorTypeOf(getX()));
  return success();
}

SmallVector<Value> AxisSumOp::buildNests(OpBuilder &b) {
  return {buildSums(b, getLoc(), getX(), tensorTypeOf(getY()))};
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/shape/Arrays.cpp.inc"

void brew::dialects::registerArraysLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/shape/Arrays.cpp.inc"
      >();
}
