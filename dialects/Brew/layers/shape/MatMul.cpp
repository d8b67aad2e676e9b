//===- MatMul.cpp - brew.matmul and its gradients -------------------------===//
//
// y[b, m, n] = sum_k a[b, m, k] b[b, k, n]. The gradients are products of the
// same loops: each sums over the loops that do not index its result.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/shape/Arrays.h"

using namespace mlir;
using namespace brew::dialects;

LogicalResult MatMulOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> a = shapeOf(getA()), b = shapeOf(getB());
  for (ArrayRef<int64_t> shape : {a, b})
    if (shape.size() < 2)
      return layerError(*this) << "takes matrices, of at least 2 dimensions, "
                                  "not a bottom of shape "
                               << dimsText(shape);
  ArrayRef<int64_t> batchOfA = a.drop_back(2), batchOfB = b.drop_back(2);
  if (!batchOfA.empty() && !batchOfB.empty() && batchOfA != batchOfB)
    return layerError(*this)
           << "bottoms of shapes " << dimsText(a) << " and " << dimsText(b)
           << " differ in the dimensions before the matrices";
  const int64_t inner = a.take_back(2)[getTransposeA() ? 0 : 1];
  if (inner != b.take_back(2)[getTransposeB() ? 1 : 0])
    return layerError(*this)
           << "cannot multiply matrices of shapes " << dimsText(a)
           << (getTransposeA() ? " (transposed)" : "") << " and " << dimsText(b)
           << (getTransposeB() ? " (transposed)" : "");
  SmallVector<int64_t> y(batchOfA.empty() ? batchOfB : batchOfA);
  y.push_back(a.take_back(2)[getTransposeA() ? 1 : 0]);
  y.push_back(b.take_back(2)[getTransposeB() ? 0 : 1]);
  tops.push_back(y);
  return success();
}

namespace {

/// The loops of all nests of the layer, in the order b..., m, n, k, and those
/// that index each tensor.
struct MatMulLoops {
  SmallVector<int64_t> extents, a, b, y;

  explicit MatMulLoops(MatMulOp op) : extents(shapeOf(op.getY())) {
    const int64_t rank = extents.size(), m = rank - 2, n = rank - 1, k = rank;
    y = iota(rank);
    extents.push_back(
        shapeOf(op.getA()).take_back(2)[op.getTransposeA() ? 0 : 1]);
    a = loopsOf(op.getA(), m, k, op.getTransposeA());
    b = loopsOf(op.getB(), k, n, op.getTransposeB());
  }

  /// Builds the sums of the products of x and z that index the result.
  Value build(OpBuilder &builder, Location loc, Value x,
              ArrayRef<int64_t> loopsOfX, Value z, ArrayRef<int64_t> loopsOfZ,
              RankedTensorType type, ArrayRef<int64_t> loopsOfResult) const {
    SmallVector<bool> isSummed(extents.size(), true);
    for (int64_t loop : loopsOfResult)
      isSummed[loop] = false;
    NestBuilder nest(builder, loc, extents, isSummed);
    nest.input(x, loopsOfX);
    nest.input(z, loopsOfZ);
    nest.output(type, loopsOfResult, 0.0);
    return nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
      return {
          body.s.accumulate(body.out[0], body.s.mul(body.in[0], body.in[1]))};
    })[0];
  }

private:
  static SmallVector<int64_t> loopsOf(Value matrices, int64_t rows,
                                      int64_t columns, bool isTransposed) {
    SmallVector<int64_t> loops = iota(shapeOf(matrices).size() - 2);
    loops.push_back(isTransposed ? columns : rows);
    loops.push_back(isTransposed ? rows : columns);
    return loops;
  }
};

} // namespace

LogicalResult
MatMulOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                         ArrayRef<bool> needed,
                         MutableArrayRef<Value> operandGradients) {
  const MatMulLoops loops(*this);
  Value dy = resultGradients[0];
  if (needed[0])
    operandGradients[0] = loops.build(b, getLoc(), dy, loops.y, getB(), loops.b,
                                      tensorTypeOf(getA()), loops.a);
  if (needed[1])
    operandGradients[1] = loops.build(b, getLoc(), getA(), loops.a, dy, loops.y,
                                      tensorTypeOf(getB()), loops.b);
  return success();
}

SmallVector<Value> MatMulOp::buildNests(OpBuilder &b) {
  const MatMulLoops loops(*this);
  return {loops.build(b, getLoc(), getA(), loops.a, getB(), loops.b,
                      tensorTypeOf(getY()), loops.y)};
}
