//===- ConvolutionCalls.cpp - Convolutions as library calls ---------------===//
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/convolution/ConvolutionShapes.h"
#include "dialects/Plan/PlanDialect.h"

using namespace mlir;
using namespace brew::dialects;
using brew::dialects::plan::Direction;

/// Returns the buffer of an operand or a result.
using BufferOf = llvm::function_ref<Value(Value)>;

static ConvolutionShapes shapesOf(ConvolutionOp op) {
  return {op, shapeOf(op.getX()), shapeOf(op.getY()), int64_t(op.getGroup())};
}
static ConvolutionShapes shapesOf(ConvolutionSumOp op) {
  return {op, shapeOf(op.getX()), shapeOf(op.getY()), int64_t(op.getGroup())};
}
static ConvolutionShapes shapesOf(ConvolutionBackwardDataOp op) {
  return {op, shapeOf(op.getDx()), shapeOf(op.getDy()), int64_t(op.getGroup())};
}
static ConvolutionShapes shapesOf(ConvolutionBackwardWeightsOp op) {
  return {op, shapeOf(op.getX()), shapeOf(op.getDy()), int64_t(op.getGroup())};
}
/// Returns the shapes of the convolution that the operation transposes.
static ConvolutionShapes shapesOf(DeconvolutionOp op) {
  return {op, shapeOf(op.getY()), shapeOf(op.getX()), int64_t(op.getGroup())};
}

/// Returns whether library calls support the shapes: one to three spatial
/// dimensions, one dimension before the channels, no negative padding.
static bool supportsLibraryCall(const ConvolutionShapes &shapes) {
  return shapes.lead.size() == 1 && !shapes.axes.empty() &&
         shapes.axes.size() <= 3 &&
         llvm::all_of(shapes.axes, [](const WindowAxis &axis) {
           return axis.pad >= 0 && axis.padEnd() >= 0;
         });
}

/// Returns the floating-point operations of the call, without those on padding
/// channels.
template <typename Op> static int64_t flopsOf(Op op) {
  ConvolutionShapes shapes = shapesOf(op);
  if (auto channels =
          op->template getAttrOfType<IntegerAttr>(kUnpaddedChannelsAttr))
    shapes.c = channels.getInt();
  return shapes.flops();
}

/// Returns the padding at the ends, or null if it equals the padding at the
/// starts.
static DenseI64ArrayAttr padEndOf(OpBuilder &b,
                                  const ConvolutionShapes &shapes) {
  if (llvm::all_of(shapes.axes, [](const WindowAxis &axis) {
        return axis.padEnd() == axis.pad;
      }))
    return {};
  return b.getDenseI64ArrayAttr(llvm::map_to_vector(
      shapes.axes, [](const WindowAxis &axis) { return axis.padEnd(); }));
}

/// Builds the library call that computes `op`.
template <typename Op>
static Operation *buildConvolutionCall(Op op, OpBuilder &b, Direction direction,
                                       Value x, Value w, Value bias, Value y,
                                       FloatAttr relu = {}, Value sum = {}) {
  return brew::dialects::plan::ConvolutionOp::create(
      b, op.getLoc(),
      brew::dialects::plan::DirectionAttr::get(b.getContext(), direction), x, w,
      bias, sum, y, op.getKernelAttr(), op.getStrideAttr(), op.getPadAttr(),
      op.getDilationAttr(), padEndOf(b, shapesOf(op)), op.getGroupAttr(), relu,
      nullptr, nullptr, nullptr, nullptr);
}

/// Copies `sum` to the result `y` unless both share their bytes. Returns the
/// buffer to which the call adds.
template <typename Op>
static Value prepareSumBuffer(Op op, OpBuilder &b, Value sum, Value y,
                              bool isBackward) {
  auto from = sum.getDefiningOp<brew::dialects::plan::BufferOp>(),
       to = y.getDefiningOp<brew::dialects::plan::BufferOp>();
  if (from.getArena() == to.getArena() && from.getOffset() == to.getOffset())
    return sum;
  brew::dialects::plan::CopyOp::create(b, op.getLoc(), sum, y,
                                       b.getStrArrayAttr({op.getLayer()}),
                                       isBackward, nullptr);
  return y;
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

StringRef ConvolutionOp::libraryGroup() { return "conv"; }
int64_t ConvolutionOp::countFlops() { return flopsOf(*this); }
bool ConvolutionOp::hasLibraryCall() {
  return supportsLibraryCall(shapesOf(*this));
}
Operation *ConvolutionOp::buildPlanStep(OpBuilder &b, BufferOf buffer) {
  Value x = buffer(getX()), w = buffer(getW()),
        bias = getB() ? buffer(getB()) : Value(), y = buffer(getY());
  return buildConvolutionCall(*this, b, Direction::Forward, x, w, bias, y,
                              getReluAttr());
}

StringRef ConvolutionSumOp::libraryGroup() { return "conv"; }
int64_t ConvolutionSumOp::countFlops() { return flopsOf(*this); }
bool ConvolutionSumOp::hasLibraryCall() {
  return supportsLibraryCall(shapesOf(*this));
}
Operation *ConvolutionSumOp::buildPlanStep(OpBuilder &b, BufferOf buffer) {
  Value x = buffer(getX()), w = buffer(getW()),
        bias = getB() ? buffer(getB()) : Value(), y = buffer(getY());
  Value sum =
      prepareSumBuffer(*this, b, buffer(getSum()), y, /*isBackward=*/false);
  return buildConvolutionCall(*this, b, Direction::Forward, x, w, bias, y,
                              getReluAttr(), sum);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

StringRef ConvolutionBackwardDataOp::libraryGroup() { return "conv"; }
int64_t ConvolutionBackwardDataOp::countFlops() { return flopsOf(*this); }
bool ConvolutionBackwardDataOp::hasLibraryCall() {
  return supportsLibraryCall(shapesOf(*this));
}
Operation *ConvolutionBackwardDataOp::buildPlanStep(OpBuilder &b,
                                                    BufferOf buffer) {
  Value dx = buffer(getDx()), w = buffer(getW()), dy = buffer(getDy());
  Value sum;
  if (getSum())
    sum = prepareSumBuffer(*this, b, buffer(getSum()), dx, /*isBackward=*/true);
  return buildConvolutionCall(*this, b, Direction::BackwardData, dx, w, {}, dy,
                              {}, sum);
}

StringRef ConvolutionBackwardWeightsOp::libraryGroup() { return "conv"; }
int64_t ConvolutionBackwardWeightsOp::countFlops() { return flopsOf(*this); }
bool ConvolutionBackwardWeightsOp::hasLibraryCall() {
  return supportsLibraryCall(shapesOf(*this));
}
Operation *ConvolutionBackwardWeightsOp::buildPlanStep(OpBuilder &b,
                                                       BufferOf buffer) {
  Value x = buffer(getX()), dw = buffer(getDw()),
        db = getDb() ? buffer(getDb()) : Value(), dy = buffer(getDy());
  return buildConvolutionCall(*this, b, Direction::BackwardWeights, x, dw, db,
                              dy);
}

//===----------------------------------------------------------------------===//
// Deconvolution
//===----------------------------------------------------------------------===//

StringRef DeconvolutionOp::libraryGroup() { return "conv"; }
int64_t DeconvolutionOp::countFlops() { return flopsOf(*this); }
bool DeconvolutionOp::hasLibraryCall() {
  return supportsLibraryCall(shapesOf(*this));
}
Operation *DeconvolutionOp::buildPlanStep(OpBuilder &b, BufferOf buffer) {
  Value y = buffer(getY()), w = buffer(getW()), x = buffer(getX());
  return buildConvolutionCall(*this, b, Direction::BackwardData, y, w, {}, x);
}
