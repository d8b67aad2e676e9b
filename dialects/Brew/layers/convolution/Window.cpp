//===- Window.cpp - Windows that slide over a blob ------------------------===//
#include "dialects/Brew/layers/convolution/Window.h"

using namespace mlir;
using namespace brew::dialects;

Value brew::dialects::andIfAny(ScalarBuilder &s, Value valid, Value condition) {
  return valid ? s.both(valid, condition) : condition;
}

Value brew::dialects::orZero(ScalarBuilder &s, Value valid, Value x) {
  return valid ? s.select(valid, x, s.constant(x.getType(), 0)) : x;
}

Value brew::dialects::tapPosition(ScalarBuilder &s, const WindowAxis &axis,
                                  Value out, Value tap, Value &valid) {
  Value position = s.addi(s.muli(out, axis.stride), s.muli(tap, axis.dilation));
  if (!axis.clipped())
    return position;
  if (axis.pad)
    position = s.subi(position, s.index(axis.pad));
  Value inside = s.less(position, s.index(axis.in));
  if (axis.pad)
    inside = s.both(inside, s.atLeast(position, s.index(0)));
  valid = andIfAny(s, valid, inside);
  return s.clamp(position, axis.in);
}

/// Returns whether coveringWindow() iterates over taps: with dilation, the taps
/// of different windows interleave.
static bool iteratesOverTaps(const WindowAxis &axis) {
  return axis.dilation > 1;
}

int64_t brew::dialects::coveringWindows(const WindowAxis &axis) {
  if (iteratesOverTaps(axis))
    return axis.kernel;
  return axis.out == 1 ? 1 : llvm::divideCeil(axis.kernel, axis.stride);
}

bool brew::dialects::tapMayExceedKernel(const WindowAxis &axis) {
  if (iteratesOverTaps(axis))
    return false;
  return axis.out == 1 ? axis.in + axis.pad > axis.kernel
                       : axis.kernel % axis.stride != 0;
}

Value brew::dialects::coveringWindow(ScalarBuilder &s, const WindowAxis &axis,
                                     Value in, Value shift, Value &tap,
                                     Value &valid) {
  Value padded = axis.pad ? s.addi(in, s.index(axis.pad)) : in;
  if (!iteratesOverTaps(axis) && axis.out == 1) {
    tap = padded;
    if (tapMayExceedKernel(axis))
      valid = andIfAny(s, valid, s.less(tap, s.index(axis.kernel)));
    return s.index(0);
  }
  bool mayExceedOut = (axis.in - 1 + axis.pad) / axis.stride >= axis.out;
  if (iteratesOverTaps(axis) || axis.stride == 1) {
    tap = shift;
    Value start =
        axis.kernel > 1 ? s.subi(padded, s.muli(shift, axis.dilation)) : padded;
    Value out = start;
    const bool mayPrecedeOut = axis.pad < axis.dilatedKernel() - 1;
    if (mayPrecedeOut)
      valid = andIfAny(s, valid, s.atLeast(start, s.index(0)));
    if (axis.stride > 1) {
      // The division requires a non-negative index.
      start = s.clamp(start, axis.in + axis.pad);
      valid =
          andIfAny(s, valid, s.equali(s.remi(start, axis.stride), s.index(0)));
      out = s.divi(start, axis.stride);
    }
    if (mayExceedOut)
      valid = andIfAny(s, valid, s.less(out, s.index(axis.out)));
    return mayPrecedeOut || mayExceedOut ? s.clamp(out, axis.out) : out;
  }
  // Iterates over the last window that starts at or before the position and its
  // predecessors.
  Value last = s.divi(padded, axis.stride);
  int64_t shifts = coveringWindows(axis);
  Value out = shifts > 1 ? s.subi(last, shift) : last;
  tap = s.subi(padded, s.muli(out, axis.stride));
  if (shifts > 1)
    valid = andIfAny(s, valid, s.atLeast(out, s.index(0)));
  if (mayExceedOut)
    valid = andIfAny(s, valid, s.less(out, s.index(axis.out)));
  if (tapMayExceedKernel(axis))
    valid = andIfAny(s, valid, s.less(tap, s.index(axis.kernel)));
  return shifts > 1 || mayExceedOut ? s.clamp(out, axis.out) : out;
}

FailureOr<SmallVector<int64_t>>
brew::dialects::expandSetting(Operation *layer, StringRef name,
                              ArrayRef<int64_t> values, int64_t spatial,
                              std::optional<int64_t> fallback) {
  if (values.empty() && fallback)
    return SmallVector<int64_t>(spatial, *fallback);
  if (values.size() == 1)
    return SmallVector<int64_t>(spatial, values[0]);
  if (static_cast<int64_t>(values.size()) == spatial)
    return SmallVector<int64_t>(values);
  return layerError(layer) << name << " has " << values.size()
                           << " values; the bottom has " << spatial
                           << " spatial dimensions";
}

StringRef brew::dialects::sideName(int64_t spatial, int64_t axis) {
  if (spatial != 2)
    return "";
  return axis ? "width " : "height ";
}
