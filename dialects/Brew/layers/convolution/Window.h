//===- Window.h - Windows that slide over a blob ----------------*- C++ -*-===//
//
// What convolutions, poolings and im2col share: reading Caffe's settings per
// spatial dimension, and the index arithmetic of their nests.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/NestBuilder.h"

namespace brew::dialects {

/// One spatial dimension: output position p covers input positions
/// p * stride - pad + t * dilation for the taps t in [0, kernel).
struct WindowAxis {
  int64_t in, out, kernel, stride, pad, dilation = 1;

  /// Distance from the first tap to behind the last.
  int64_t dilatedKernel() const { return dilation * (kernel - 1) + 1; }
  /// Whether some window reaches beyond the input.
  bool clipped() const { return pad > 0 || (out - 1) * stride + dilatedKernel() > in; }
  /// The padding behind the last element with which there are `out` positions:
  /// `pad` if that is one, else the least that is.
  int64_t padEnd() const {
    const int64_t room = in + 2 * pad - dilatedKernel();
    if (room >= 0 && room / stride + 1 == out)
      return pad;
    return (out - 1) * stride + dilatedKernel() - in - pad;
  }
};
using WindowAxes = llvm::SmallVector<WindowAxis>;

/// Input position of tap `tap` of the window at `out`; adds to `valid` the
/// condition that it is inside, and clamps it, where that can fail.
mlir::Value tapPosition(ScalarBuilder &s, const WindowAxis &axis, mlir::Value out,
                        mlir::Value tap, mlir::Value &valid);

/// How many windows can cover one input position.
int64_t coveringWindows(const WindowAxis &axis);
/// Whether coveringWindow() can return a tap at or beyond the kernel's extent:
/// where there is no window for some positions between two windows.
bool tapMayExceedKernel(const WindowAxis &axis);
/// The `shift`-th of the windows that can cover input position `in`: returns
/// its output position (clamped) and its tap (not clamped), and adds to `valid`
/// the condition that there is one.
mlir::Value coveringWindow(ScalarBuilder &s, const WindowAxis &axis, mlir::Value in,
                           mlir::Value shift, mlir::Value &tap,
                           mlir::Value &valid);

/// `valid` and `condition`; null stands for true.
mlir::Value andIfAny(ScalarBuilder &s, mlir::Value valid, mlir::Value condition);
/// x where `valid` holds, else 0.
mlir::Value orZero(ScalarBuilder &s, mlir::Value valid, mlir::Value x);

/// Settings per spatial dimension as a layer's attribute has them: one value
/// for all dimensions, one for each, or none for `fallback`. Returns one for
/// each; reports a number that is none of these.
mlir::FailureOr<llvm::SmallVector<int64_t>>
expandSetting(mlir::Operation *layer, llvm::StringRef name,
              llvm::ArrayRef<int64_t> values, int64_t spatial,
              std::optional<int64_t> fallback);

/// "height " or "width " of two spatial dimensions, else nothing.
llvm::StringRef sideName(int64_t spatial, int64_t number);

} // namespace brew::dialects
