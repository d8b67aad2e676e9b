//===- Elementwise.cpp - Power, Bias, Scale, Eltwise ----------------------===//
#include "dialects/Brew/layers/elementwise/Elementwise.h"
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/LayerGroup.h"
#include "dialects/Brew/layers/shape/Shape.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew::dialects;

/// Infers the top of a layer with the shape of its first bottom.
static LogicalResult inferSameShape(Operation *op, Shapes &tops) {
  tops.emplace_back(shapeOf(op->getOperand(0)));
  return success();
}

//===----------------------------------------------------------------------===//
// Power
//===----------------------------------------------------------------------===//

LogicalResult PowerOp::inferShapes(Shapes &tops, Shapes &) {
  return inferSameShape(*this, tops);
}

Value PowerOp::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  ScalarBuilder s(b, loc);
  Type type = x[0].getType();
  double power = getPower().convertToFloat(),
         scale = getScale().convertToFloat(),
         shift = getShift().convertToFloat();
  // Caffe: a power or scale of 0 makes the result a constant.
  if (power == 0)
    return s.constant(type, 1);
  Value base = x[0];
  if (scale != 1)
    base = s.mul(base, s.constant(type, scale));
  if (shift != 0)
    base = s.add(base, s.constant(type, shift));
  if (power == 1)
    return base;
  if (power == 2)
    return s.mul(base, base);
  return math::PowFOp::create(b, loc, base, s.constant(type, power));
}

//===----------------------------------------------------------------------===//
// Bias, Scale
//===----------------------------------------------------------------------===//

/// Returns the shape of the operand that is broadcast to the first bottom from
/// `op`'s axis on: that of the second bottom or, if `operand` is a parameter,
/// the shape that the parameter must have. Makes the axis non-negative.
template <typename Op>
static FailureOr<SmallVector<int64_t>> broadcastShape(Op op, Value operand) {
  ArrayRef<int64_t> x = shapeOf(op.getX());
  int64_t rank = x.size(), axis = op.getAxis(), axes = op.getNumAxes();
  bool isParameter = operand.getDefiningOp<ParamValueOp>();
  // A scalar second bottom fits any axis.
  if (!isParameter && shapeOf(operand).empty()) {
    op.setAxis(0);
    return SmallVector<int64_t>();
  }
  if (axis < -rank || axis >= std::max<int64_t>(rank, 1))
    return layerError(op) << "axis " << axis << " is outside the bottom's "
                          << rank << " dimensions";
  if (axis < 0)
    axis += rank;
  op.setAxis(axis);
  if (isParameter) {
    if (axes < -1 || (axes >= 0 && axis + axes > rank))
      return layerError(op)
             << "num_axes " << axes << " from axis " << axis
             << " reaches beyond the bottom's " << rank << " dimensions";
    ArrayRef<int64_t> covered = x.drop_front(axis);
    return SmallVector<int64_t>(axes >= 0 ? covered.take_front(axes) : covered);
  }
  ArrayRef<int64_t> shape = shapeOf(operand);
  if (axis + static_cast<int64_t>(shape.size()) > rank ||
      x.slice(axis, shape.size()) != shape)
    return layerError(op) << "the second bottom's shape does not match "
                             "the first's from axis "
                          << axis << " on";
  return SmallVector<int64_t>(shape);
}

LogicalResult BiasOp::inferShapes(Shapes &tops, Shapes &params) {
  auto shape = broadcastShape(*this, getB());
  if (failed(shape))
    return failure();
  if (getB().getDefiningOp<ParamValueOp>())
    params.push_back(*shape);
  return inferSameShape(*this, tops);
}

Value BiasOp::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  return ScalarBuilder(b, loc).add(x[0], x[1]);
}

int64_t BiasOp::operandAxis(unsigned operandNumber) {
  return operandNumber ? getAxis() : 0;
}

LogicalResult ScaleOp::inferShapes(Shapes &tops, Shapes &params) {
  auto shape = broadcastShape(*this, getS());
  if (failed(shape))
    return failure();
  if (getS().getDefiningOp<ParamValueOp>())
    params.push_back(*shape);
  if (getB())
    params.push_back(*shape);
  return inferSameShape(*this, tops);
}

Value ScaleOp::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  ScalarBuilder s(b, loc);
  Value scaled = s.mul(x[0], x[1]);
  return getB() ? s.add(scaled, x[2]) : scaled;
}

int64_t ScaleOp::operandAxis(unsigned operandNumber) {
  return operandNumber ? getAxis() : 0;
}

//===----------------------------------------------------------------------===//
// Eltwise
//===----------------------------------------------------------------------===//

/// Repeats the only item of the second blob for all items of the first one.
static void repeatSingleItem(EltwiseOp op) {
  ArrayRef<int64_t> x = shapeOf(op.getXs()[0]), single = shapeOf(op.getXs()[1]);
  if (x.empty() || single.empty() || single[0] != 1 || x[0] == 1 ||
      x.drop_front() != single.drop_front())
    return;
  OpBuilder b(op);
  auto type = RankedTensorType::get(x, elementTypeOf(op.getXs()[1]));
  auto tile = TileOp::create(b, op.getLoc(), type, op.getXs()[1]);
  tile.setLayerAttr(op.getLayerAttr());
  tile.setTopsAttr(b.getArrayAttr({}));
  tile.setAxis(0);
  tile.setTiles(x[0]);
  if (auto flags = op.getPropagateDown())
    tile.setPropagateDown(ArrayRef<bool>((*flags)[1]));
  op.setOperand(1, tile.getY());
}

LogicalResult EltwiseOp::inferShapes(Shapes &tops, Shapes &) {
  if (getSingleItem())
    repeatSingleItem(*this);
  for (Value x : getXs().drop_front())
    if (shapeOf(x) != shapeOf(getXs().front())) {
      auto diagnostic = layerError(*this) << "bottoms differ in shape: ";
      llvm::interleaveComma(getXs(), diagnostic, [&](Value bottom) {
        diagnostic << "(";
        llvm::interleaveComma(shapeOf(bottom), diagnostic);
        diagnostic << ")";
      });
      return diagnostic;
    }
  return inferSameShape(*this, tops);
}

Value EltwiseOp::buildScalar(OpBuilder &b, Location loc, ValueRange xs) {
  ScalarBuilder s(b, loc);
  Type type = xs[0].getType();
  auto term = [&](unsigned i) -> Value {
    if (getKind() != EltwiseKind::Sum || getCoeff().empty() ||
        getCoeff()[i] == 1)
      return xs[i];
    return s.mul(xs[i], s.constant(type, getCoeff()[i]));
  };
  Value result = term(0);
  for (unsigned i = 1; i < xs.size(); ++i) {
    switch (getKind()) {
    case EltwiseKind::Prod:
      result = s.mul(result, xs[i]);
      break;
    case EltwiseKind::Sum:
      result = s.add(result, term(i));
      break;
    case EltwiseKind::Max:
      // If the first two bottoms are equal, Caffe selects the second; a later
      // bottom must be larger.
      if (i == 1)
        result = s.select(s.greater(result, xs[1]), result, xs[1]);
      else
        result = s.select(s.greater(xs[i], result), xs[i], result);
      break;
    }
  }
  return result;
}

/// The derivatives of a sum are constants. With many bottoms, reading all of
/// them in the gradient of each bottom would take quadratic time to compile.
Value EltwiseOp::buildDerivativeFromResult(OpBuilder &b, Location loc,
                                           unsigned operandNumber, Value y) {
  if (getKind() != EltwiseKind::Sum)
    return {};
  const double coefficient = getCoeff().empty() ? 1 : getCoeff()[operandNumber];
  return ScalarBuilder(b, loc).constant(y.getType(), coefficient);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/elementwise/Elementwise.cpp.inc"

void brew::dialects::registerElementwiseLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/elementwise/Elementwise.cpp.inc"
      >();
}
