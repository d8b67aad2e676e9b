//===- WindowAxes.h - Windows of convolutions by dimension ------*- C++ -*-===//
#pragma once

#include "plan/plan.pb.h"

#include <cstdint>
#include <vector>

namespace brew::plan {

/// The window along one spatial dimension, in elements.
struct WindowAxis {
  std::int64_t kernel, stride, pad, padEnd, dilation;
  bool hasKernel;
};

/// Returns the axes of the `spatial` (1 to 3) innermost dimensions of a window,
/// in the order depth, height, width.
inline std::vector<WindowAxis> axesOf(const Window &window, int spatial) {
  auto endOr = [](bool hasEnd, std::int64_t end, std::int64_t pad) {
    return hasEnd ? end : pad;
  };
  const WindowAxis axes[] = {
      {window.kernel_d(), window.stride_d(), window.pad_d(),
       endOr(window.has_pad_end_d(), window.pad_end_d(), window.pad_d()),
       window.dilation_d(), window.has_kernel_d()},
      {window.kernel_h(), window.stride_h(), window.pad_h(),
       endOr(window.has_pad_end_h(), window.pad_end_h(), window.pad_h()),
       window.dilation_h(), window.has_kernel_h()},
      {window.kernel_w(), window.stride_w(), window.pad_w(),
       endOr(window.has_pad_end_w(), window.pad_end_w(), window.pad_w()),
       window.dilation_w(), window.has_kernel_w()}};
  return {axes + 3 - spatial, axes + 3};
}

} // namespace brew::plan
