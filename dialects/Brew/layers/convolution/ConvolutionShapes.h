//===- ConvolutionShapes.h - Extents of convolutions ------------*- C++ -*-===//
//
// Shape inference of the layers that read Caffe's convolution settings, and
// what their nests need to know of their operands.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/layers/convolution/Window.h"

namespace brew::dialects {

/// A convolution from x [lead..., c, inputs...] to y [lead..., k, outputs...].
struct ConvolutionShapes {
  llvm::SmallVector<int64_t> lead;
  int64_t c, k, group;
  WindowAxes axes;

  template <typename Op>
  ConvolutionShapes(Op op, llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> y,
                    int64_t group)
      : group(group) {
    size_t spatial = op.getKernel().size(), first = x.size() - spatial;
    lead.assign(x.begin(), x.begin() + first - 1);
    c = x[first - 1];
    k = y[first - 1];
    for (size_t i = 0; i < spatial; ++i)
      axes.push_back({x[first + i], y[first + i], op.getKernel()[i],
                      op.getStride()[i], op.getPad()[i], op.getDilation()[i]});
  }

  llvm::SmallVector<int64_t> inputs() const { return each(&WindowAxis::in); }
  llvm::SmallVector<int64_t> outputs() const { return each(&WindowAxis::out); }
  llvm::SmallVector<int64_t> kernels() const {
    return each(&WindowAxis::kernel);
  }
  int64_t flops() const {
    return 2 * countOf(lead) * k * countOf(outputs()) * (c / group) *
           countOf(kernels());
  }

private:
  llvm::SmallVector<int64_t> each(int64_t WindowAxis::*number) const {
    return llvm::map_to_vector(
        axes, [&](const WindowAxis &axis) { return axis.*number; });
  }
};

/// The channels' dimension in [0, rank), of a setting that may be negative.
mlir::FailureOr<int64_t> channelAxis(mlir::Operation *layer, int64_t axis,
                                     int64_t rank);
/// Spatial extents of a convolution's top, or of a deconvolution's, given the
/// padding at both ends; reports one that is empty.
mlir::FailureOr<llvm::SmallVector<int64_t>>
convolvedExtents(mlir::Operation *layer, const WindowAxes &axes,
                 llvm::ArrayRef<int64_t> padEnd);
mlir::FailureOr<llvm::SmallVector<int64_t>>
deconvolvedExtents(mlir::Operation *layer, const WindowAxes &axes,
                   llvm::ArrayRef<int64_t> padEnd);
/// Reports channels that `group` does not divide.
mlir::LogicalResult checkGroups(mlir::Operation *layer, int64_t channels,
                                int64_t outputs, int64_t group);

/// Replaces the settings of a layer by one for each spatial dimension of its
/// bottom, and its axis by one that is not negative.
template <typename Op> mlir::LogicalResult resolveWindow(Op op) {
  mlir::FailureOr<int64_t> axis =
      channelAxis(op, op.getAxis(), shapeOf(op.getX()).size());
  if (failed(axis))
    return mlir::failure();
  op.setAxis(*axis);
  int64_t spatial = shapeOf(op.getX()).size() - 1 - *axis;
  auto kernel = expandSetting(op, "kernel_size", op.getKernel(), spatial, {});
  auto stride = expandSetting(op, "stride", op.getStride(), spatial, 1);
  auto pad = expandSetting(op, "pad", op.getPad(), spatial, 0);
  auto dilation = expandSetting(op, "dilation", op.getDilation(), spatial, 1);
  if (failed(kernel) || failed(stride) || failed(pad) || failed(dilation))
    return mlir::failure();
  op.setKernel(*kernel);
  op.setStride(*stride);
  op.setPad(*pad);
  op.setDilation(*dilation);
  if (op.getPadEnd()) {
    auto end = expandSetting(op, "pad", *op.getPadEnd(), spatial, {});
    if (failed(end))
      return mlir::failure();
    op.setPadEnd(*end);
  }
  return mlir::success();
}

/// The windows over a layer's bottom, `out` unknown.
template <typename Op> WindowAxes windowsOf(Op op) {
  WindowAxes axes;
  llvm::ArrayRef<int64_t> x = shapeOf(op.getX());
  for (size_t i = 0; i < op.getKernel().size(); ++i)
    axes.push_back({x[op.getAxis() + 1 + i], 0, op.getKernel()[i],
                    op.getStride()[i], op.getPad()[i], op.getDilation()[i]});
  return axes;
}

/// Sets the padding that TensorFlow's SAME means, of `total(axis)` elements: of
/// an odd number the end gets the larger half.
template <typename Op, typename Total>
void setSamePadding(Op op, WindowAxes &axes, Total total) {
  llvm::SmallVector<int64_t> pad, end;
  for (WindowAxis &axis : axes) {
    int64_t sum = total(axis);
    axis.pad = std::max<int64_t>(sum, 0) / 2;
    pad.push_back(axis.pad);
    end.push_back(sum - axis.pad);
  }
  op.setPad(pad);
  op.setPadEnd(end);
}

template <typename Op> llvm::SmallVector<int64_t> padEndOf(Op op) {
  return llvm::SmallVector<int64_t>(op.getPadEnd() ? *op.getPadEnd()
                                                   : op.getPad());
}

/// Shape of a top with `channels` channels.
template <typename Op>
llvm::SmallVector<int64_t> topShape(Op op, int64_t channels,
                                       llvm::ArrayRef<int64_t> extents) {
  llvm::SmallVector<int64_t> shape(shapeOf(op.getX()).take_front(op.getAxis()));
  shape.push_back(channels);
  shape.append(extents.begin(), extents.end());
  return shape;
}

template <typename Op>
mlir::FailureOr<llvm::SmallVector<int64_t>> convolvedShape(Op op,
                                                           int64_t channels) {
  WindowAxes axes = windowsOf(op);
  if (op.getSame())
    setSamePadding(op, axes, [](const WindowAxis &axis) {
      int64_t out = (axis.in + axis.stride - 1) / axis.stride;
      return std::max<int64_t>((out - 1) * axis.stride + axis.dilatedKernel() - axis.in,
                               0);
    });
  auto extents = convolvedExtents(op, axes, padEndOf(op));
  if (failed(extents))
    return mlir::failure();
  return topShape(op, channels, *extents);
}

template <typename Op>
mlir::FailureOr<llvm::SmallVector<int64_t>> deconvolvedShape(Op op,
                                                             int64_t channels) {
  WindowAxes axes = windowsOf(op);
  if (op.getSame())
    setSamePadding(op, axes, [](const WindowAxis &axis) {
      return axis.dilatedKernel() - axis.stride;
    });
  auto extents = deconvolvedExtents(op, axes, padEndOf(op));
  if (failed(extents))
    return mlir::failure();
  return topShape(op, channels, *extents);
}

} // namespace brew::dialects
