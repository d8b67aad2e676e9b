//===- Window.h - Windows that slide over a blob ----------------*- C++ -*-===//
//
// Shared by convolutions, poolings and im2col: the expansion of Caffe's
// settings to all spatial dimensions, and the index arithmetic of their nests.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/NestBuilder.h"

namespace brew::dialects {

/// One spatial dimension: output position p covers input positions
/// p * stride - pad + t * dilation for the taps t in [0, kernel).
struct WindowAxis {
  int64_t in, out, kernel, stride, pad, dilation = 1;

  /// Returns the extent of the dilated kernel.
  int64_t dilatedKernel() const { return dilation * (kernel - 1) + 1; }
  /// Returns whether some window reaches beyond the input.
  bool clipped() const {
    return pad > 0 || (out - 1) * stride + dilatedKernel() > in;
  }
  /// Returns the padding after the last element that yields `out` positions:
  /// `pad` if possible, otherwise the smallest such padding.
  int64_t padEnd() const {
    const int64_t room = in + 2 * pad - dilatedKernel();
    if (room >= 0 && room / stride + 1 == out)
      return pad;
    return (out - 1) * stride + dilatedKernel() - in - pad;
  }
};
using WindowAxes = llvm::SmallVector<WindowAxis>;

/// Returns the input position of tap `tap` of the window at `out`. If the
/// position can be outside of the input, clamps it and adds the condition that
/// it is inside to `valid`.
mlir::Value tapPosition(ScalarBuilder &s, const WindowAxis &axis,
                        mlir::Value out, mlir::Value tap, mlir::Value &valid);

/// Returns how many windows can cover one input position.
int64_t coveringWindows(const WindowAxis &axis);
/// Returns whether coveringWindow() can return a tap beyond the kernel: true if
/// some positions are between two windows.
bool tapMayExceedKernel(const WindowAxis &axis);
/// Finds window number `shift` of the windows that can cover input position
/// `in`. Returns its output position (clamped), sets `tap` (not clamped), and
/// adds the condition that the window exists to `valid`.
mlir::Value coveringWindow(ScalarBuilder &s, const WindowAxis &axis,
                           mlir::Value in, mlir::Value shift, mlir::Value &tap,
                           mlir::Value &valid);

/// Builds the conjunction of `valid` and `condition`. Null stands for true.
mlir::Value andIfAny(ScalarBuilder &s, mlir::Value valid,
                     mlir::Value condition);
/// Builds x where `valid` is true, and 0 elsewhere. Null stands for true.
mlir::Value orZero(ScalarBuilder &s, mlir::Value valid, mlir::Value x);

/// Expands a setting of a layer to one value per spatial dimension. `values`
/// has one value for all dimensions, one for each, or none for `fallback`.
/// Emits an error for any other number of values.
mlir::FailureOr<llvm::SmallVector<int64_t>>
expandSetting(mlir::Operation *layer, llvm::StringRef name,
              llvm::ArrayRef<int64_t> values, int64_t spatial,
              std::optional<int64_t> fallback);

/// Returns "height " or "width " for spatial dimension `axis` of two, or "" if
/// there are not two.
llvm::StringRef sideName(int64_t spatial, int64_t axis);

} // namespace brew::dialects
