//===- InnerProduct.cpp - brew.inner_product and its gradients ------------===//
//
// y[m, n] = b[n] + sum_k x[m, k] w[n, k], where m are the dimensions of x
// before `axis` and k the remaining ones. w has either one dimension for
// k (the dimensions of x, flattened in row-major order) or all of them.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/convolution/Epilogue.h"
#include "dialects/Plan/PlanDialect.h"

using namespace mlir;
using namespace brew::dialects;
using brew::dialects::plan::Direction;

namespace {
/// Loop numbering shared by the three nests: m dimensions, n, then k
/// dimensions.
struct ProductLoops {
  SmallVector<int64_t> extents; // m..., n, k...
  SmallVector<int64_t> m, k;
  int64_t n;
  AffineMap w; // access map of the weights

  ProductLoops(MLIRContext *context, ArrayRef<int64_t> x, ArrayRef<int64_t> w,
               int64_t axis, bool transpose, int64_t outputs) {
    for (int64_t i = 0; i < axis; ++i) {
      m.push_back(extents.size());
      extents.push_back(x[i]);
    }
    n = extents.size();
    extents.push_back(outputs);
    for (size_t i = axis; i < x.size(); ++i) {
      k.push_back(extents.size());
      extents.push_back(x[i]);
    }
    SmallVector<AffineExpr> kExprs;
    if (w.size() == 2) {
      // The only k dimension of w is the row-major index over the k dimensions
      // of x.
      AffineExpr flat = getAffineConstantExpr(0, context);
      for (int64_t dim : k)
        flat = flat * extents[dim] + getAffineDimExpr(dim, context);
      kExprs.push_back(flat);
    } else {
      for (int64_t dim : k)
        kExprs.push_back(getAffineDimExpr(dim, context));
    }
    AffineExpr nExpr = getAffineDimExpr(n, context);
    if (transpose)
      kExprs.push_back(nExpr);
    else
      kExprs.insert(kExprs.begin(), nExpr);
    this->w = AffineMap::get(extents.size(), 0, kExprs, context);
  }

  SmallVector<int64_t> xDims() const {
    SmallVector<int64_t> dims(m);
    dims.append(k.begin(), k.end());
    return dims;
  }
  SmallVector<int64_t> yDims() const {
    SmallVector<int64_t> dims(m);
    dims.push_back(n);
    return dims;
  }
  SmallVector<bool> reductionFlags(ArrayRef<int64_t> dims) const {
    SmallVector<bool> flags(extents.size(), false);
    for (int64_t dim : dims)
      flags[dim] = true;
    return flags;
  }
  int64_t flops() const { return 2 * countOf(extents); }
};
} // namespace

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

LogicalResult InnerProductOp::inferShapes(Shapes &tops, Shapes &params) {
  ArrayRef<int64_t> x = shapeOf(getX());
  FailureOr<int64_t> axis = canonicalAxis(*this, getAxis(), x.size());
  if (failed(axis))
    return failure();
  setAxis(*axis);
  int64_t k = countOf(x.drop_front(*axis)), outputs = getNumOutput();
  SmallVector<int64_t> y(x.take_front(*axis));
  y.push_back(outputs);
  tops.push_back(y);
  if (getTranspose())
    params.push_back({k, outputs});
  else
    params.push_back({outputs, k});
  if (getB())
    params.push_back({outputs});
  return success();
}

LogicalResult
InnerProductOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                               ArrayRef<bool> needed,
                               MutableArrayRef<Value> operandGradients) {
  Value dy = resultGradients[0];
  if (!dy)
    return success();
  bool needsBias = getB() && needed[2];
  if (needed[1] || needsBias) {
    auto op = InnerProductBackwardWeightsOp::create(
        b, getLoc(), getW().getType(), needsBias ? getB().getType() : Type(),
        getX(), dy, getLayerAttr(), getAxisAttr(), getTransposeAttr());
    operandGradients[1] = op.getDw();
    if (needsBias)
      operandGradients[2] = op.getDb();
  }
  if (needed[0])
    operandGradients[0] = InnerProductBackwardDataOp::create(
        b, getLoc(), getX().getType(), dy, getW(), getLayerAttr(),
        getAxisAttr(), getTransposeAttr());
  return success();
}

SmallVector<Value> InnerProductOp::buildNests(OpBuilder &b) {
  ProductLoops loops(getContext(), shapeOf(getX()), shapeOf(getW()), getAxis(),
                     getTranspose(), getNumOutput());
  NestBuilder nest(b, getLoc(), loops.extents, loops.reductionFlags(loops.k));
  nest.input(getX(), loops.xDims());
  nest.input(getW(), loops.w);
  nest.output(tensorTypeOf(getY()), loops.yDims(), 0.0);
  Value sum = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.accumulate(body.out[0], body.s.mul(body.in[0], body.in[1]))};
  })[0];
  return {buildEpilogue(b, getLoc(), sum, getB(), loops.n, getRelu(),
                        tensorTypeOf(getY()))};
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

SmallVector<Value> InnerProductBackwardDataOp::buildNests(OpBuilder &b) {
  ProductLoops loops(getContext(), shapeOf(getDx()), shapeOf(getW()), getAxis(),
                     getTranspose(), shapeOf(getDy()).back());
  NestBuilder nest(b, getLoc(), loops.extents, loops.reductionFlags({loops.n}));
  nest.input(getDy(), loops.yDims());
  nest.input(getW(), loops.w);
  nest.output(tensorTypeOf(getDx()), loops.xDims(), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.accumulate(body.out[0], body.s.mul(body.in[0], body.in[1]))};
  });
}

SmallVector<Value> InnerProductBackwardWeightsOp::buildNests(OpBuilder &b) {
  // The nest writes dw once per (n, k), so dw needs one dimension per loop. A
  // flattened dw is computed with the dimensions of x and reinterpreted.
  ArrayRef<int64_t> x = shapeOf(getX());
  auto type = tensorTypeOf(getDw());
  SmallVector<int64_t> split(x.drop_front(getAxis()));
  split.insert(getTranspose() ? split.end() : split.begin(),
               shapeOf(getDy()).back());
  bool isFlattened = type.getRank() == 2 && split.size() != 2;
  auto splitType =
      isFlattened ? RankedTensorType::get(split, type.getElementType()) : type;

  ProductLoops loops(getContext(), x, split, getAxis(), getTranspose(),
                     shapeOf(getDy()).back());
  SmallVector<int64_t> wDims(loops.k);
  wDims.insert(getTranspose() ? wDims.end() : wDims.begin(), loops.n);
  NestBuilder nest(b, getLoc(), loops.extents, loops.reductionFlags(loops.m));
  nest.input(getX(), loops.xDims());
  nest.input(getDy(), loops.yDims());
  nest.output(splitType, wDims, 0.0);
  SmallVector<Value> results =
      nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        return {
            body.s.accumulate(body.out[0], body.s.mul(body.in[0], body.in[1]))};
      });
  if (isFlattened)
    results[0] = ReinterpretOp::create(b, getLoc(), type, results[0]);
  if (!getDb())
    return results;

  results.push_back(buildBiasGradient(b, getLoc(), getDy(),
                                      shapeOf(getDy()).size() - 1,
                                      tensorTypeOf(getDb())));
  return results;
}

//===----------------------------------------------------------------------===//
// Library calls
//===----------------------------------------------------------------------===//

/// Returns the buffer of an operand or a result.
using BufferOf = llvm::function_ref<Value(Value)>;

/// Returns whether a tensor is a matrix in memory: all dimensions before `axis`
/// are outer to the remaining ones.
static bool isMatrix(RankedTensorType type, int64_t axis) {
  SmallVector<int64_t> order = memoryOrder(type);
  for (int64_t i = 0; i < axis; ++i)
    if (order[i] != i && type.getDimSize(order[i]) != 1)
      return false;
  return true;
}

/// Returns whether a library call supports the operands. w must have one
/// dimension for each k dimension of x. x and y must be matrices, since other
/// operands would need a copy element by element.
static bool isCallSupported(Value x, Value w, Value y, int64_t axis) {
  return axis > 0 && isMatrix(tensorTypeOf(x), axis) &&
         isMatrix(tensorTypeOf(y), axis) &&
         tensorTypeOf(w).getRank() == tensorTypeOf(x).getRank() - axis + 1;
}

template <typename Op>
static Operation *
buildInnerProductCall(Op op, OpBuilder &b, Direction direction, Value x,
                      Value w, Value bias, Value y, FloatAttr relu = {}) {
  return brew::dialects::plan::InnerProductOp::create(
      b, op.getLoc(),
      brew::dialects::plan::DirectionAttr::get(b.getContext(), direction), x, w,
      bias, y, op.getAxisAttr(), op.getTransposeAttr(), relu, nullptr, nullptr,
      nullptr);
}

StringRef InnerProductOp::libraryGroup() { return "ip"; }
int64_t InnerProductOp::countFlops() {
  return 2 * countOf(shapeOf(getX())) * getNumOutput();
}
bool InnerProductOp::hasLibraryCall() {
  return isCallSupported(getX(), getW(), getY(), getAxis());
}
Operation *InnerProductOp::buildPlanStep(OpBuilder &b, BufferOf buffer) {
  Value x = buffer(getX()), w = buffer(getW()),
        bias = getB() ? buffer(getB()) : Value(), y = buffer(getY());
  return buildInnerProductCall(*this, b, Direction::Forward, x, w, bias, y,
                               getReluAttr());
}

StringRef InnerProductBackwardDataOp::libraryGroup() { return "ip"; }
int64_t InnerProductBackwardDataOp::countFlops() {
  return 2 * countOf(shapeOf(getDx())) * shapeOf(getDy()).back();
}
bool InnerProductBackwardDataOp::hasLibraryCall() {
  return isCallSupported(getDx(), getW(), getDy(), getAxis());
}
Operation *InnerProductBackwardDataOp::buildPlanStep(OpBuilder &b,
                                                     BufferOf buffer) {
  Value dx = buffer(getDx()), w = buffer(getW()), dy = buffer(getDy());
  return buildInnerProductCall(*this, b, Direction::BackwardData, dx, w, {},
                               dy);
}

StringRef InnerProductBackwardWeightsOp::libraryGroup() { return "ip"; }
int64_t InnerProductBackwardWeightsOp::countFlops() {
  return 2 * countOf(shapeOf(getX())) * shapeOf(getDy()).back();
}
bool InnerProductBackwardWeightsOp::hasLibraryCall() {
  return isCallSupported(getX(), getDw(), getDy(), getAxis());
}
Operation *InnerProductBackwardWeightsOp::buildPlanStep(OpBuilder &b,
                                                        BufferOf buffer) {
  Value x = buffer(getX()), dw = buffer(getDw()),
        db = getDb() ? buffer(getDb()) : Value(), dy = buffer(getDy());
  return buildInnerProductCall(*this, b, Direction::BackwardWeights, x, dw, db,
                               dy);
}
