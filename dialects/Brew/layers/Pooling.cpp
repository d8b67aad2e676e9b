//===- Pooling.cpp - Max and average pooling
//-------------------------------===//
//
// Output sizes and window clipping follow Caffe: sizes round up unless `floor`,
// a last window that would start in the padding beyond the input is dropped.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/Nest.h"
#include "dialects/Brew/layers/LayerGroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cfloat>

#define GET_OP_CLASSES
#include "dialects/Brew/layers/Pooling.h.inc"

using namespace mlir;
using namespace brew::ir;

namespace {
/// One spatial dimension of a pooling.
struct Axis {
  int64_t in, out, kernel, stride, pad;

  /// Whether some window reaches beyond the input.
  bool clipped() const { return pad > 0 || (out - 1) * stride + kernel > in; }
};

template <typename Op>
Axis axisOf(Op op, int i, ArrayRef<int64_t> in, ArrayRef<int64_t> out) {
  return {in[2 + i], out[2 + i], op.getKernel()[i], op.getStride()[i],
          op.getPad()[i]};
}

/// Shapes of both poolings; sets the kernel of a global one.
template <typename Op> LogicalResult poolShape(Op op, SmallVector<int64_t> &y) {
  ArrayRef<int64_t> x = shapeOf(op.getX());
  if (x.size() != 4)
    return layerError(op) << "pooling needs a bottom of 4 dimensions (N, C, H, "
                             "W), not "
                          << x.size();
  if (op.getGlobal())
    op.setKernel({x[2], x[3]});
  y = {x[0], x[1]};
  for (int i = 0; i < 2; ++i) {
    int64_t kernel = op.getKernel()[i], stride = op.getStride()[i],
            pad = op.getPad()[i];
    if (pad >= kernel)
      return layerError(op)
             << "pad " << pad << " must be smaller than kernel " << kernel;
    int64_t room = x[2 + i] + 2 * pad - kernel;
    if (room < 0)
      return layerError(op) << "kernel " << (i ? "width " : "height ") << kernel
                            << " is larger than the padded input "
                            << (i ? "width " : "height ") << x[2 + i] + 2 * pad;
    int64_t out = (op.getFloor() ? room : room + stride - 1) / stride + 1;
    if (pad && (out - 1) * stride >= x[2 + i] + pad)
      --out;
    y.push_back(out);
  }
  return success();
}

/// Input position of window tap `tap` at output `out`; adds to `valid` the
/// condition that it is inside, and clamps it, where that can fail.
Value tapPosition(Scalars &s, const Axis &axis, Value out, Value tap,
                  Value &valid) {
  Value position = s.addi(s.muli(out, axis.stride), tap);
  if (!axis.clipped())
    return position;
  if (axis.pad)
    position = s.subi(position, s.index(axis.pad));
  Value inside = s.less(position, s.index(axis.in));
  if (axis.pad)
    inside = s.both(inside, s.atLeast(position, s.index(0)));
  valid = valid ? s.both(valid, inside) : inside;
  return s.clamp(position, axis.in);
}

/// The `shift`-th window, counted back from the last one, that covers input
/// position `in`: returns its output position (clamped) and its tap, and adds
/// to `valid` the condition that there is one.
Value coveringWindow(Scalars &s, const Axis &axis, Value in, Value shift,
                     Value &tap, Value &valid) {
  Value padded = axis.pad ? s.addi(in, s.index(axis.pad)) : in;
  Value last = s.divi(padded, axis.stride);
  int64_t shifts = llvm::divideCeil(axis.kernel, axis.stride);
  Value out = shifts > 1 ? s.subi(last, shift) : last;
  tap = s.subi(padded, s.muli(out, axis.stride));
  auto require = [&](Value condition) {
    valid = valid ? s.both(valid, condition) : condition;
  };
  bool mayPass = (axis.in - 1 + axis.pad) / axis.stride >= axis.out;
  if (shifts > 1)
    require(s.atLeast(out, s.index(0)));
  if (mayPass)
    require(s.less(out, s.index(axis.out)));
  if (axis.kernel % axis.stride)
    require(s.less(tap, s.index(axis.kernel)));
  return shifts > 1 || mayPass ? s.clamp(out, axis.out) : out;
}

/// Loops and reductions of a gathering backward pass: n c h w | shifts.
SmallVector<int64_t> gatherExtents(ArrayRef<int64_t> x, const Axis &rows,
                                   const Axis &columns) {
  SmallVector<int64_t> extents(x);
  extents.push_back(llvm::divideCeil(rows.kernel, rows.stride));
  extents.push_back(llvm::divideCeil(columns.kernel, columns.stride));
  return extents;
}

constexpr bool kWindowReduction[] = {false, false, false, false, true, true};
} // namespace

//===----------------------------------------------------------------------===//
// Max
//===----------------------------------------------------------------------===//

LogicalResult MaxPoolingOp::inferShapes(Shapes &tops, Shapes &) {
  SmallVector<int64_t> y;
  if (failed(poolShape(*this, y)))
    return failure();
  tops.assign({y, y});
  // The window decides how wide the saved positions must be.
  Type position = IntegerType::get(
      getContext(), getKernel()[0] * getKernel()[1] <= 127 ? 8 : 32);
  getArgmax().setType(UnrankedTensorType::get(position));
  return success();
}

LogicalResult
MaxPoolingOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                             ArrayRef<bool>,
                             MutableArrayRef<Value> operandGradients) {
  if (Value dy = resultGradients[0])
    operandGradients[0] = MaxPoolingBackwardOp::create(
        b, getLoc(), getX().getType(), dy, getArgmax(), getLayerAttr(),
        getKernelAttr(), getStrideAttr(), getPadAttr());
  return success();
}

SmallVector<Value> MaxPoolingOp::buildGeneric(OpBuilder &b) {
  ArrayRef<int64_t> in = shapeOf(getX()), out = shapeOf(getY());
  Axis rows = axisOf(*this, 0, in, out), columns = axisOf(*this, 1, in, out);
  bool saves = !getArgmax().use_empty();
  Nest nest(b, getLoc(),
            {out[0], out[1], out[2], out[3], rows.kernel, columns.kernel},
            kWindowReduction);
  // Caffe starts at -FLT_MAX in every precision.
  nest.output(tensorOf(getY()), {0, 1, 2, 3}, -FLT_MAX);
  if (saves)
    nest.output(tensorOf(getArgmax()), {0, 1, 2, 3}, 0);
  Value x = getX();
  SmallVector<Value> results = nest.build([&](Nest::Body &body)
                                              -> SmallVector<Value> {
    Scalars &s = body.s;
    Value valid;
    Value row = tapPosition(s, rows, body.loop(2), body.loop(4), valid);
    Value column = tapPosition(s, columns, body.loop(3), body.loop(5), valid);
    Value element = body.read(x, {body.loop(0), body.loop(1), row, column});
    Value larger = s.greater(element, body.out[0]);
    if (valid)
      larger = s.both(larger, valid);
    SmallVector<Value> next = {s.select(larger, element, body.out[0])};
    if (saves) {
      Value tap = s.addi(s.muli(body.loop(4), columns.kernel), body.loop(5));
      tap = arith::IndexCastOp::create(s.b, s.loc, body.out[1].getType(), tap);
      next.push_back(s.select(larger, tap, body.out[1]));
    }
    return next;
  });
  if (!saves)
    results.push_back(Value());
  return results;
}

SmallVector<Value> MaxPoolingBackwardOp::buildGeneric(OpBuilder &b) {
  ArrayRef<int64_t> in = shapeOf(getDx()), out = shapeOf(getDy());
  Axis rows = axisOf(*this, 0, in, out), columns = axisOf(*this, 1, in, out);
  Nest nest(b, getLoc(), gatherExtents(in, rows, columns), kWindowReduction);
  nest.output(tensorOf(getDx()), {0, 1, 2, 3}, 0.0);
  Value dy = getDy(), argmax = getArgmax();
  return nest.build([&](Nest::Body &body) -> SmallVector<Value> {
    Scalars &s = body.s;
    Value valid, tapRow, tapColumn;
    Value p =
        coveringWindow(s, rows, body.loop(2), body.loop(4), tapRow, valid);
    Value q = coveringWindow(s, columns, body.loop(3), body.loop(5), tapColumn,
                             valid);
    SmallVector<Value> at = {body.loop(0), body.loop(1), p, q};
    Value tap = s.addi(s.muli(tapRow, columns.kernel), tapColumn);
    Value chosen = s.equali(
        body.read(argmax, at),
        arith::IndexCastOp::create(s.b, s.loc, elementOf(argmax), tap));
    if (valid)
      chosen = s.both(chosen, valid);
    Value gradient = body.read(dy, at);
    return {
        s.accumulate(body.out[0], s.select(chosen, gradient,
                                           s.constant(gradient.getType(), 0)))};
  });
}

//===----------------------------------------------------------------------===//
// Average
//===----------------------------------------------------------------------===//

LogicalResult AveragePoolingOp::inferShapes(Shapes &tops, Shapes &) {
  return poolShape(*this, tops.emplace_back());
}

LogicalResult
AveragePoolingOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                                 ArrayRef<bool>,
                                 MutableArrayRef<Value> operandGradients) {
  if (Value dy = resultGradients[0])
    operandGradients[0] = AveragePoolingBackwardOp::create(
        b, getLoc(), getX().getType(), dy, getLayerAttr(), getKernelAttr(),
        getStrideAttr(), getPadAttr());
  return success();
}

/// Elements of the window at `out` inside the padded input, along one axis.
static Value windowExtent(Scalars &s, const Axis &axis, Value out) {
  Value start = s.muli(out, axis.stride);
  Value end = s.addi(start, s.index(axis.kernel));
  Value limit = s.index(axis.in + 2 * axis.pad);
  return s.subi(arith::MinSIOp::create(s.b, s.loc, end, limit), start);
}

/// The divisor of the window at (p, q), as a number of the element type.
static Value divisor(Scalars &s, const Axis &rows, const Axis &columns, Value p,
                     Value q, Type type) {
  auto complete = [](const Axis &axis) {
    return (axis.out - 1) * axis.stride + axis.kernel <= axis.in + 2 * axis.pad;
  };
  if (complete(rows) && complete(columns))
    return s.constant(type, rows.kernel * columns.kernel);
  Value size = arith::MulIOp::create(s.b, s.loc, windowExtent(s, rows, p),
                                     windowExtent(s, columns, q));
  Value integer =
      arith::IndexCastOp::create(s.b, s.loc, s.b.getI32Type(), size);
  return arith::SIToFPOp::create(s.b, s.loc, type, integer);
}

SmallVector<Value> AveragePoolingOp::buildGeneric(OpBuilder &b) {
  ArrayRef<int64_t> in = shapeOf(getX()), out = shapeOf(getY());
  Axis rows = axisOf(*this, 0, in, out), columns = axisOf(*this, 1, in, out);
  Nest nest(b, getLoc(),
            {out[0], out[1], out[2], out[3], rows.kernel, columns.kernel},
            kWindowReduction);
  nest.output(tensorOf(getY()), {0, 1, 2, 3}, 0.0);
  Value x = getX();
  Value sum = nest.build([&](Nest::Body &body) -> SmallVector<Value> {
    Scalars &s = body.s;
    Value valid;
    Value row = tapPosition(s, rows, body.loop(2), body.loop(4), valid);
    Value column = tapPosition(s, columns, body.loop(3), body.loop(5), valid);
    Value element = body.read(x, {body.loop(0), body.loop(1), row, column});
    if (valid)
      element = s.select(valid, element, s.constant(element.getType(), 0));
    return {s.accumulate(body.out[0], element)};
  })[0];
  Nest mean(b, getLoc(), out);
  mean.input(sum, {0, 1, 2, 3});
  mean.output(tensorOf(getY()), {0, 1, 2, 3});
  return mean.build([&](Nest::Body &body) -> SmallVector<Value> {
    Value size = divisor(body.s, rows, columns, body.loop(2), body.loop(3),
                         body.in[0].getType());
    return {body.s.div(body.in[0], size)};
  });
}

SmallVector<Value> AveragePoolingBackwardOp::buildGeneric(OpBuilder &b) {
  ArrayRef<int64_t> in = shapeOf(getDx()), out = shapeOf(getDy());
  Axis rows = axisOf(*this, 0, in, out), columns = axisOf(*this, 1, in, out);
  Nest nest(b, getLoc(), gatherExtents(in, rows, columns), kWindowReduction);
  nest.output(tensorOf(getDx()), {0, 1, 2, 3}, 0.0);
  Value dy = getDy();
  return nest.build([&](Nest::Body &body) -> SmallVector<Value> {
    Scalars &s = body.s;
    Value valid, tapRow, tapColumn;
    Value p =
        coveringWindow(s, rows, body.loop(2), body.loop(4), tapRow, valid);
    Value q = coveringWindow(s, columns, body.loop(3), body.loop(5), tapColumn,
                             valid);
    Value gradient = body.read(dy, {body.loop(0), body.loop(1), p, q});
    gradient =
        s.div(gradient, divisor(s, rows, columns, p, q, gradient.getType()));
    if (valid)
      gradient = s.select(valid, gradient, s.constant(gradient.getType(), 0));
    return {s.accumulate(body.out[0], gradient)};
  });
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/Pooling.cpp.inc"

void brew::ir::registerPoolingLayers(BrewDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "dialects/Brew/layers/Pooling.cpp.inc"
      >();
}
