//===- ConvolutionShapes.h - Extents of convolutions ------------*- C++ -*-===//
//
// Shape inference of the layers with Caffe's convolution settings, and the
// extents that their nests use.
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

  llvm::SmallVector<int64_t> inputs() const { return collect(&WindowAxis::in); }
  llvm::SmallVector<int64_t> outputs() const {
    return collect(&WindowAxis::out);
  }
  llvm::SmallVector<int64_t> kernels() const {
    return collect(&WindowAxis::kernel);
  }
  int64_t flops() const {
    return 2 * countOf(lead) * k * countOf(outputs()) * (c / group) *
           countOf(kernels());
  }

private:
  llvm::SmallVector<int64_t> collect(int64_t WindowAxis::*member) const {
    return llvm::map_to_vector(
        axes, [&](const WindowAxis &axis) { return axis.*member; });
  }
};

/// Returns the dimension of the channels, in [0, rank), for a setting `axis`
/// that may be negative.
mlir::FailureOr<int64_t> channelAxis(mlir::Operation *layer, int64_t axis,
                                     int64_t rank);
/// Return the spatial extents of the top of a convolution and of a
/// deconvolution for the padding at both ends. Emit an error if an extent is
/// less than 1.
mlir::FailureOr<llvm::SmallVector<int64_t>>
convolvedExtents(mlir::Operation *layer, const WindowAxes &axes,
                 llvm::ArrayRef<int64_t> padEnd);
mlir::FailureOr<llvm::SmallVector<int64_t>>
deconvolvedExtents(mlir::Operation *layer, const WindowAxes &axes,
                   llvm::ArrayRef<int64_t> padEnd);
/// Emits an error if `group` does not divide `channels` and `outputs`.
mlir::LogicalResult checkGroups(mlir::Operation *layer, int64_t channels,
                                int64_t outputs, int64_t group);

/// Expands the settings of a layer to one value per spatial dimension of its
/// bottom, and makes its axis non-negative.
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

/// Returns the windows over a layer's bottom, with unknown `out`.
template <typename Op> WindowAxes windowsOf(Op op) {
  WindowAxes axes;
  llvm::ArrayRef<int64_t> x = shapeOf(op.getX());
  for (size_t i = 0; i < op.getKernel().size(); ++i)
    axes.push_back({x[op.getAxis() + 1 + i], 0, op.getKernel()[i],
                    op.getStride()[i], op.getPad()[i], op.getDilation()[i]});
  return axes;
}

/// Sets the padding of TensorFlow's SAME, `total(axis)` elements per axis. If
/// the number is odd, the end gets the larger half.
template <typename Op, typename Total>
void setSamePadding(Op op, WindowAxes &axes, Total total) {
  llvm::SmallVector<int64_t> pad, end;
  for (WindowAxis &axis : axes) {
    int64_t padding = total(axis);
    axis.pad = std::max<int64_t>(padding, 0) / 2;
    pad.push_back(axis.pad);
    end.push_back(padding - axis.pad);
  }
  op.setPad(pad);
  op.setPadEnd(end);
}

/// Returns the padding at the end of each spatial dimension.
template <typename Op> llvm::SmallVector<int64_t> padEndOf(Op op) {
  return llvm::SmallVector<int64_t>(op.getPadEnd() ? *op.getPadEnd()
                                                   : op.getPad());
}

/// Returns the shape of a top with these channels and spatial extents.
template <typename Op>
llvm::SmallVector<int64_t> topShape(Op op, int64_t channels,
                                    llvm::ArrayRef<int64_t> extents) {
  llvm::SmallVector<int64_t> shape(shapeOf(op.getX()).take_front(op.getAxis()));
  shape.push_back(channels);
  shape.append(extents.begin(), extents.end());
  return shape;
}

/// Returns the shape of the top of a convolution with `channels` outputs. Sets
/// the padding of SAME.
template <typename Op>
mlir::FailureOr<llvm::SmallVector<int64_t>> convolvedShape(Op op,
                                                           int64_t channels) {
  WindowAxes axes = windowsOf(op);
  if (op.getSame())
    setSamePadding(op, axes, [](const WindowAxis &axis) {
      int64_t out = (axis.in + axis.stride - 1) / axis.stride;
      return std::max<int64_t>(
          (out - 1) * axis.stride + axis.dilatedKernel() - axis.in, 0);
    });
  auto extents = convolvedExtents(op, axes, padEndOf(op));
  if (failed(extents))
    return mlir::failure();
  return topShape(op, channels, *extents);
}

/// Does the same for a deconvolution.
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
