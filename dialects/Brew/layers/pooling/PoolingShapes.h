//===- PoolingShapes.h - Extents of poolings --------------------*- C++ -*-===//
//
// Output sizes follow Caffe: they round up unless `floor`, and a last window
// that would start in the padding after the input is dropped.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/layers/convolution/Window.h"

namespace brew::dialects {

/// Reduction flags of the loops n c p q | window rows and columns.
constexpr bool kWindowReduction[] = {false, false, false, false, true, true};

/// Returns the type of a position in a window of that many elements.
inline mlir::Type positionType(mlir::MLIRContext *context, int64_t elements) {
  return mlir::IntegerType::get(context, elements <= 127 ? 8 : 32);
}

/// Returns the windows of a pooling along the rows (`i` = 0) or columns.
template <typename Op>
WindowAxis axisOf(Op op, int i, llvm::ArrayRef<int64_t> in,
                  llvm::ArrayRef<int64_t> out) {
  return {in[2 + i], out[2 + i], op.getKernel()[i], op.getStride()[i],
          op.getPad()[i]};
}

/// Returns the windows of a pooling along all spatial dimensions.
template <typename Op>
WindowAxes axesOf(Op op, llvm::ArrayRef<int64_t> in,
                  llvm::ArrayRef<int64_t> out) {
  WindowAxes axes;
  for (size_t i = 0; i < op.getKernel().size(); ++i)
    axes.push_back(axisOf(op, static_cast<int>(i), in, out));
  return axes;
}

/// Replaces `global` and `bins` by a window.
template <typename Op> void setWindow(Op op, llvm::ArrayRef<int64_t> x) {
  if (op.getGlobal())
    op.setKernel({x[2], x[3]});
  if (!op.getBins())
    return;
  int64_t bins = *op.getBins(), kernel[2], pad[2];
  for (int i = 0; i < 2; ++i) {
    kernel[i] = llvm::divideCeil(x[2 + i], bins);
    pad[i] = (kernel[i] * bins - x[2 + i] + 1) / 2;
  }
  op.setKernel(kernel);
  op.setStride(kernel);
  op.setPad(pad);
}

/// Infers the shape of a pooling's top and sets its window.
template <typename Op>
mlir::LogicalResult poolShape(Op op, llvm::SmallVector<int64_t> &y) {
  llvm::ArrayRef<int64_t> x = shapeOf(op.getX());
  const int64_t spatial = op.getKernel().size();
  if (static_cast<int64_t>(x.size()) != 2 + spatial)
    return layerError(op) << "pooling needs a bottom of " << 2 + spatial
                          << " dimensions (N, C, "
                          << (spatial == 3 ? "D, H, W" : "H, W") << "), not "
                          << x.size();
  setWindow(op, x);
  bool hasPadding =
      llvm::any_of(op.getPad(), [](int64_t pad) { return pad != 0; });
  y = {x[0], x[1]};
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t kernel = op.getKernel()[i], stride = op.getStride()[i],
            pad = op.getPad()[i];
    if (pad >= kernel) {
      if (op.getBins())
        return layerError(op)
               << "the bottom is too small for a level of " << *op.getBins()
               << " bins: its " << sideName(spatial, i) << "is " << x[2 + i];
      return layerError(op)
             << "pad " << pad << " must be smaller than kernel " << kernel;
    }
    // A window may be larger than the input by less than its stride.
    int64_t room = x[2 + i] + 2 * pad - kernel;
    int64_t out = (op.getFloor() ? llvm::divideFloorSigned(room, stride)
                                 : llvm::divideCeilSigned(room, stride)) +
                  1;
    if (hasPadding && (out - 1) * stride >= x[2 + i] + pad)
      --out;
    if (out <= 0)
      return layerError(op) << "kernel " << sideName(spatial, i) << kernel
                            << " is larger than the padded input "
                            << sideName(spatial, i) << x[2 + i] + 2 * pad;
    y.push_back(out);
  }
  return mlir::success();
}

} // namespace brew::dialects
