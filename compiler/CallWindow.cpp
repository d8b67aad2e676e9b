//===- CallWindow.cpp - Windows of vendor calls ---------------------------===//
#include "compiler/CallWindow.h"

#include "passes/LibraryCalls.h"

using namespace mlir;
using namespace brew::planir;
namespace plan = brew::plan;

void brew::compiler::setWindow(ConvolutionOp conv, plan::Window &window) {
  using Set = void (plan::Window::*)(int64_t);
  struct Setters {
    Set kernel, stride, pad, dilation, padEnd;
  };
  static const Setters setters[] = {
      {&plan::Window::set_kernel_d, &plan::Window::set_stride_d,
       &plan::Window::set_pad_d, &plan::Window::set_dilation_d,
       &plan::Window::set_pad_end_d},
      {&plan::Window::set_kernel_h, &plan::Window::set_stride_h,
       &plan::Window::set_pad_h, &plan::Window::set_dilation_h,
       &plan::Window::set_pad_end_h},
      {&plan::Window::set_kernel_w, &plan::Window::set_stride_w,
       &plan::Window::set_pad_w, &plan::Window::set_dilation_w,
       &plan::Window::set_pad_end_w}};
  ArrayRef<int64_t> x = cast<MemRefType>(conv.getX().getType()).getShape();
  ArrayRef<int64_t> y = cast<MemRefType>(conv.getY().getType()).getShape();
  const size_t spatial = conv.getKernel().size();
  for (size_t i = 0; i < spatial; ++i) {
    const Setters &set = setters[3 - spatial + i];
    const brew::CallWindow axis = {conv.getKernel()[i], conv.getStride()[i],
                                   conv.getPad()[i], conv.getDilation()[i]};
    (window.*set.kernel)(axis.kernel);
    (window.*set.stride)(axis.stride);
    (window.*set.pad)(axis.pad);
    (window.*set.dilation)(axis.dilation);
    const int64_t end = brew::endPadding(x[2 + i], y[2 + i], axis);
    if (end != axis.pad)
      (window.*set.padEnd)(end);
  }
}
